package raftr

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
)

// Client reads and writes from any host. It finds the leader, and repeats what may not have been carried out:
// its session makes sure that a write is carried out once. Only one task may use it at a time.
type Client struct {
	h       host.Host
	nodes   []string
	timeout time.Duration
	rounds  int
	at      int    // the node that it asks next
	session uint64 // 0: not opened yet
	number  uint64 // of the last write
}

// Dial returns a client of a group. It asks every node up to rounds times, each for at most timeout
// (negative: no limit), before it gives up.
func Dial(h host.Host, nodes []string, timeout time.Duration, rounds int) *Client {
	return &Client{h: h, nodes: slices.Clone(nodes), timeout: timeout, rounds: rounds}
}

// Get returns the value of a key, and whether there is one.
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
			return errors.Join(ErrUnavailable, err)
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

// ask asks one node after the other.
func (c *Client) ask(x *command) (*reply, error) {
	begun := false
	var last error
	for range c.rounds * len(c.nodes) {
		b, err := c.h.Call(c.nodes[c.at], clients, x.encode(), c.timeout)
		var r *reply
		if err == nil {
			r, err = decodeReply(b)
		}
		switch {
		case err != nil:
			begun, last = begun || !errors.Is(err, host.ErrNoService), err
		case r.status == done:
			return r, nil
		case r.status == refused:
			return nil, fmt.Errorf("raftr: %s refuses: %s", c.nodes[c.at], r.text)
		case r.status == unknown:
			begun, last = true, errors.New(r.text)
		case r.status == notLeader:
			last = fmt.Errorf("%w: %q leads, as %s believes", ErrNotLeader, r.text, c.nodes[c.at])
			if i := slices.Index(c.nodes, r.text); i >= 0 && i != c.at {
				c.at = i
				continue
			}
		}
		c.at = (c.at + 1) % len(c.nodes)
	}
	if begun {
		return nil, fmt.Errorf("%w: %w", ErrUnknown, last)
	}
	return nil, fmt.Errorf("%w: %w", ErrUnavailable, last)
}
