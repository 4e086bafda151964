package rpc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/verbatim-rdma/verbatim/codec/wire"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Client is the calling end of a connection. Only one task may use it at a time.
type Client struct {
	s     *slots
	own   bool   // the group is closed with it
	last  uint64 // number of the last call
	calls []call // by the slot that the request was sent from
}

// call is a call in flight, or one whose answer has not been fetched yet.
type call struct {
	number uint64 // 0: the slot is free
	done   bool
	answer []byte
}

// Dial connects to a host that runs [Serve] for service with the same configuration. A
// server with another one refuses; the error wraps [lend.ErrRefused].
func Dial(h host.Host, to, service string, cfg Config, timeout time.Duration) (*Client, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	g, err := lend.NewGroup(h)
	if err != nil {
		return nil, err
	}
	return dial(g, to, service, cfg, timeout, true)
}

// DialIn is Dial for a client in an existing group, for [Any]. One task uses the clients of the
// group; others may dial in it meanwhile. Close leaves the group open.
func DialIn(g *lend.Group, to, service string, cfg Config, timeout time.Duration) (*Client, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return dial(g, to, service, cfg, timeout, false)
}

// dial makes a client. own: closing it closes the group.
func dial(g *lend.Group, to, service string, cfg Config, timeout time.Duration, own bool) (*Client, error) {
	s, err := newSlots(g, cfg)
	c := &Client{s: s, own: own, calls: make([]call, cfg.Credits)}
	if err != nil {
		if own {
			err = errors.Join(err, g.Close())
		}
		return nil, err
	}
	conn, err := g.Dial(to, service, cfg.encode(), 0, cfg.queues(), timeout)
	if err == nil {
		err = s.open(conn)
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// encode returns the message that a client sends to a server when it connects.
func (c *Config) encode() []byte {
	b := binary.BigEndian.AppendUint64(nil, uint64(c.MaxMessage))
	return binary.BigEndian.AppendUint64(b, uint64(c.Credits))
}

func decodeConfig(b []byte) (Config, error) {
	r := wire.NewReader(b)
	c := Config{MaxMessage: r.Int(1, MaxMessage), Credits: r.Int(1, MaxCredits)}
	if err := r.End(); err != nil {
		return c, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	return c, nil
}

// Call sends a request and waits for its answer.
func (c *Client) Call(req []byte) ([]byte, error) {
	n, err := c.Start(req)
	if err != nil {
		return nil, err
	}
	return c.Wait(n)
}

// Start sends a request and returns the number of the call, for [Client.Wait]. A call
// uses a credit until Wait has returned its answer; if none is left the error wraps
// [ErrConfig].
func (c *Client) Start(req []byte) (uint64, error) {
	if len(req) > c.s.cfg.MaxMessage {
		return 0, fmt.Errorf("%w: a request of %d bytes; %d are allowed", ErrTooLong, len(req), c.s.cfg.MaxMessage)
	}
	if c.s.conn.Err != nil {
		return 0, fmt.Errorf("%w: %w", ErrClosed, c.s.conn.Err)
	}
	i := c.free()
	if i < 0 {
		return 0, fmt.Errorf("%w: no credit is left: wait for one of the %d calls in progress", ErrConfig, len(c.calls))
	}
	c.last++
	c.calls[i] = call{number: c.last}
	if !c.s.put(i, c.last, req) {
		c.calls[i] = call{}
		return 0, fmt.Errorf("%w: %w", ErrClosed, c.s.conn.Err)
	}
	return c.last, nil
}

// free returns a slot without a call, or -1.
func (c *Client) free() int { return c.slot(0) }

// slot returns the slot of a call, or -1.
func (c *Client) slot(number uint64) int {
	for i := range c.calls {
		if c.calls[i].number == number {
			return i
		}
	}
	return -1
}

// Wait waits for the answer to a started call. Wait once for each call.
func (c *Client) Wait(number uint64) ([]byte, error) {
	i := c.slot(number)
	if number == 0 || i < 0 {
		return nil, fmt.Errorf("%w: there is no call %d", ErrConfig, number)
	}
	for !c.calls[i].done {
		if err := c.receive(); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrUnknown, err)
		}
	}
	answer := c.calls[i].answer
	c.calls[i] = call{}
	return answer, nil
}

// receive receives one answer.
func (c *Client) receive() error {
	wc, err := c.s.receive()
	if err != nil {
		return err
	}
	return c.answered(wc)
}

// answered takes the answer that arrived with a completion.
func (c *Client) answered(wc verbs.WC) error {
	number, answer, from, err := c.s.content(wc)
	if err != nil {
		return err
	}
	i := c.slot(number)
	if number == 0 || i < 0 || c.calls[i].done {
		err = fmt.Errorf("%w: an answer to call %d", ErrMalformed, number)
	} else {
		c.calls[i].done, c.calls[i].answer = true, answer
		err = c.s.expect(from)
	}
	if err != nil {
		c.s.group.Fail(c.s.conn, err)
	}
	return err
}

// Close releases the client's resources.
func (c *Client) Close() error {
	err := c.s.close()
	if c.own {
		err = errors.Join(err, c.s.group.Close())
	}
	return err
}

// close releases the resources of one end, except for the group.
func (s *slots) close() error {
	var err error
	if s.conn != nil {
		err = s.group.Drop(s.conn)
		if s.conn.Err == nil {
			s.conn.Err = verbs.ErrState
		}
	}
	return errors.Join(err, s.mem.Free())
}

// Free returns how many more calls may be started now.
func (c *Client) Free() int {
	n := 0
	for i := range c.calls {
		if c.calls[i].number == 0 {
			n++
		}
	}
	return n
}
