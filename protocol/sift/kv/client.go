package kv

import (
	"errors"
	"fmt"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/rpc"
)

// ClientConfig configures a [Client].
type ClientConfig struct {
	Store Config
	Nodes []string // the CPU nodes
	// Rounds is how often the client asks all nodes for the coordinator before it gives up.
	Rounds int
	// Pause is the time between two rounds.
	Pause time.Duration
	// Timeout bounds each attempt to connect, and is the time after which a node that has not
	// answered is probed; negative: no limit, and no probes.
	Timeout time.Duration
}

// Validate checks c. Its error wraps [ErrConfig].
func (c *ClientConfig) Validate() error {
	if err := c.Store.Validate(); err != nil {
		return err
	}
	if len(c.Nodes) == 0 || c.Rounds < 1 || c.Pause < 0 || c.Timeout == 0 {
		return fmt.Errorf("%w: %d nodes, %d rounds, a pause of %v, a timeout of %v", ErrConfig, len(c.Nodes), c.Rounds, c.Pause, c.Timeout)
	}
	return nil
}

// Client is a client of a store. Only one task may use it at a time.
//
// It finds the coordinator by asking all nodes. It repeats requests that were certainly not carried out,
// and gets, which change nothing. A put or delete that may have been carried out is not repeated:
// in between, another client may have put the key, and the repetition would undo that. A caller that
// repeats it nevertheless makes a second operation. The paper leaves retries open.
type Client struct {
	h    host.Host
	cfg  ClientConfig
	at   int // of Nodes: the next one to ask
	conn *rpc.Client
}

// NewClient returns a client, which connects when it needs to.
func NewClient(h host.Host, cfg ClientConfig) (*Client, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Client{h: h, cfg: cfg}, nil
}

// Put stores a value under a key. If the error wraps [ErrUnknown] the key may have the value now or
// later. Otherwise it wraps [ErrTooLong], [ErrFull] or [ErrUnavailable], and nothing happens.
func (c *Client) Put(key, value []byte) error {
	err := c.check(key, value)
	if err == nil {
		_, err = c.call(&request{putVerb, key, value})
	}
	return err
}

// Delete removes a key, if it exists. Errors are those of [Client.Put], without ErrFull.
func (c *Client) Delete(key []byte) error {
	err := c.check(key, nil)
	if err == nil {
		_, err = c.call(&request{verb: deleteVerb, key: key})
	}
	return err
}

// Get returns the value of a key, and whether it is there. The error wraps [ErrTooLong] or
// [ErrUnavailable].
func (c *Client) Get(key []byte) (value []byte, found bool, err error) {
	if err := c.check(key, nil); err != nil {
		return nil, false, err
	}
	a, err := c.call(&request{verb: getVerb, key: key})
	return a.value, a.status == done, err
}

// Close releases the client's resources.
func (c *Client) Close() error {
	if c.conn == nil {
		return nil
	}
	conn := c.conn
	c.conn = nil
	return conn.Close()
}

func (c *Client) check(key, value []byte) error {
	if err := c.cfg.Store.checkKey(key); err != nil {
		return err
	}
	return c.cfg.Store.checkValue(value)
}

// call asks the nodes in turn, starting with the one that answered last, until one carries the request out
// or may have done so.
func (c *Client) call(q *request) (answer, error) {
	b := q.encode()
	var last error
	for round := range c.cfg.Rounds {
		if round > 0 {
			c.h.Sleep(c.cfg.Pause)
		}
		for range c.cfg.Nodes {
			a, err := c.ask(b)
			switch {
			case err == nil:
				return a, nil
			case errors.Is(err, ErrFull) || errors.Is(err, ErrTooLong):
				return answer{}, err
			case q.verb != getVerb && errors.Is(err, ErrUnknown):
				return answer{}, err
			}
			last = err
			c.at = (c.at + 1) % len(c.cfg.Nodes)
		}
	}
	return answer{}, fmt.Errorf("%w: %v", ErrUnavailable, last)
}

// ask asks one node. An error that wraps [ErrUnknown] means that the request may have been carried
// out; with every other one it was not.
func (c *Client) ask(b []byte) (answer, error) {
	reply, err := c.exchange(b)
	if err != nil {
		return answer{}, errors.Join(err, c.Close())
	}
	a, err := decodeAnswer(reply)
	if err == nil && !c.fits(verb(b[0]), &a) {
		err = fmt.Errorf("%w: an answer to another request", ErrMalformed)
	}
	switch {
	case err != nil: // the node is broken
		return answer{}, errors.Join(fmt.Errorf("%w: %w", ErrUnknown, err), c.Close())
	case failures[a.status] != nil:
		return answer{}, errors.Join(fmt.Errorf("%s: %w", c.cfg.Nodes[c.at], failures[a.status]), c.leave(a.status))
	}
	return a, nil
}

// fits reports whether an answer is valid for a request: only a get finds a value, or none.
func (c *Client) fits(v verb, a *answer) bool {
	if v != getVerb {
		return a.status != absent && len(a.value) == 0
	}
	return len(a.value) <= c.cfg.Store.Value
}

// leave closes the connection to a node that does not lead.
func (c *Client) leave(s status) error {
	if s == notLeading || s == unknown {
		return c.Close()
	}
	return nil
}

// exchange sends a request to a node, and returns its answer.
func (c *Client) exchange(b []byte) ([]byte, error) {
	if c.conn == nil {
		cfg := c.cfg.Store.calls()
		cfg.KeepAlive = max(c.cfg.Timeout, 0)
		conn, err := rpc.Dial(c.h, c.cfg.Nodes[c.at], service, cfg, c.cfg.Timeout)
		if err != nil {
			return nil, err
		}
		c.conn = conn
	}
	reply, err := c.conn.Call(b)
	if errors.Is(err, rpc.ErrUnknown) {
		err = fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	return reply, err
}
