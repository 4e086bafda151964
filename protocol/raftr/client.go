package raftr

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
)

// Client reads and writes from any host. It finds the leader, and retries an operation that may not have been
// executed: its session ensures that a write is executed once. Only one task may use it at a time.
type Client struct {
	h       host.Host
	cfg     ClientConfig
	at      int    // the node to ask next
	session uint64 // 0: not opened yet
	number  uint64 // of the last write
}

// ClientConfig configures a [Client].
type ClientConfig struct {
	// Nodes names the nodes of the group.
	Nodes []string
	// Timeout bounds each request; negative: no limit.
	Timeout time.Duration
	// Rounds is how often the client asks each node, one after the other, before it gives up.
	Rounds int
	// Pause is how long it waits between two rounds.
	Pause time.Duration
}

// Dial returns a client of a group. The error wraps [ErrConfig].
func Dial(h host.Host, cfg ClientConfig) (*Client, error) {
	if len(cfg.Nodes) == 0 || cfg.Rounds < 1 || cfg.Timeout == 0 || cfg.Pause < 0 {
		return nil, fmt.Errorf("%w: %d nodes, %d rounds, timeout %v, pause %v: nodes and rounds must be positive, the timeout not 0, the pause not negative",
			ErrConfig, len(cfg.Nodes), cfg.Rounds, cfg.Timeout, cfg.Pause)
	}
	cfg.Nodes = slices.Clone(cfg.Nodes)
	return &Client{h: h, cfg: cfg}, nil
}

// Get returns the value of a key, and whether there is one. The error wraps [ErrUnavailable], [ErrRefused] or [ErrTooLong].
func (c *Client) Get(key string) (string, bool, error) {
	x, err := c.ask(&command{op: opGet, key: key})
	if err != nil {
		return "", false, err
	}
	return x.text, x.found, nil
}

// Put writes a value. If the error wraps [ErrUnknown], the write may have been carried out, or be
// carried out later; otherwise it will not be. Call it again only after success, or with
// the same key and value: [Client.Again].
func (c *Client) Put(key, value string) error {
	if c.session == 0 {
		x, err := c.ask(&command{op: opOpen})
		if err != nil {
			return fmt.Errorf("%w: open a session: %v", ErrUnavailable, err) // not ErrUnknown: no write was begun
		}
		c.session = x.number
	}
	c.number++
	return c.Again(key, value)
}

// Again repeats the last Put, as the same write.
func (c *Client) Again(key, value string) error {
	if c.number == 0 {
		return fmt.Errorf("%w: nothing was written", ErrSession)
	}
	_, err := c.ask(&command{op: opPut, session: c.session, seq: c.number, key: key, value: value})
	return err
}

// ask asks the nodes until one has carried out x.
func (c *Client) ask(x *command) (*reply, error) {
	if len(x.key) > MaxKey { // no message can hold it
		return nil, fmt.Errorf("%w: a key of %d bytes: up to %d", ErrTooLong, len(x.key), MaxKey)
	}
	begun := false // a node may have begun a write
	var last error
	for i := range c.cfg.Rounds * len(c.cfg.Nodes) {
		if i > 0 && i%len(c.cfg.Nodes) == 0 {
			c.h.Sleep(c.cfg.Pause)
		}
		node := c.cfg.Nodes[c.at]
		r, err := c.try(node, x)
		switch {
		case err != nil:
			begun, last = begun || x.op != opGet && !host.Undelivered(err), err
		case r.status == done:
			return r, nil
		case r.status == refused && begun: // the write that an earlier node has begun may still be executed
			return nil, fmt.Errorf("%w: %s refuses the retry: %s", ErrUnknown, node, r.text)
		case r.status == refused:
			return nil, fmt.Errorf("%w: %s: %s", ErrRefused, node, r.text)
		case r.status == unknown:
			begun, last = begun || x.op != opGet, errors.New(r.text)
		case r.status == notLeader:
			last = fmt.Errorf("%w: %s believes that %q leads", ErrNotLeader, node, r.text)
			if leader := slices.Index(c.cfg.Nodes, r.text); leader >= 0 && leader != c.at {
				c.at = leader
				continue
			}
		}
		c.at = (c.at + 1) % len(c.cfg.Nodes)
	}
	if begun {
		return nil, fmt.Errorf("%w: %w", ErrUnknown, last)
	}
	return nil, fmt.Errorf("%w: %w", ErrUnavailable, last)
}

// try asks one node.
func (c *Client) try(node string, x *command) (*reply, error) {
	b, err := c.h.Call(node, clients, x.encode(), c.cfg.Timeout)
	if err != nil {
		return nil, err
	}
	return decodeReply(b)
}
