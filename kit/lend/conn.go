package lend

import (
	"errors"
	"fmt"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Conn is a connection to a peer. Only one task may use it at a time. Different tasks
// may use different connections of one [Group], but not wait for them together.
type Conn struct {
	Peer    string
	Windows []Window // the memory that the peer lends
	Err     error    // why the connection failed: it is not used again
	Asked   uint64   // ID of the last posted request
	Done    uint64   // ID of the last request known to be complete

	CQ    verbs.CQ
	QP    verbs.QP // nil before it is connected, and after it has failed unless PostBeside says otherwise
	Depth int      // slots of the send queue

	prepared verbs.PreparedQP // until it is connected
	all      bool             // every request is signaled
	places   places
	wrs      [1]verbs.SendWR
	wc       [1]verbs.WC // the last completion
	inbox    []verbs.WC  // receives that completed during other waits
}

// Endpoint is the information that the peer needs to connect. Call it before Connect.
func (c *Conn) Endpoint() verbs.Endpoint { return c.prepared.Endpoint() }

// PostRecv posts receives, before or after Connect.
func (c *Conn) PostRecv(wrs []verbs.RecvWR) error {
	if c.prepared != nil {
		return c.prepared.PostRecv(wrs)
	}
	if c.QP == nil {
		return c.Err
	}
	return c.QP.PostRecv(wrs)
}

// Connect connects to the peer's queue pair.
func (c *Conn) Connect(to verbs.Endpoint) (err error) {
	if c.QP, err = c.prepared.Connect(to); err == nil {
		c.prepared = nil
	}
	return err
}

// Answered connects to the memory that the peer lends by its answer to [Group.Ask]: one window of size bytes.
// The error wraps [ErrMalformed] if the answer is something else, [host.ErrTimeout] if there is none,
// and otherwise it is the reason why the peer refuses or cannot be reached.
func (c *Conn) Answered(a *host.Answer, size int) error {
	switch {
	case a.Pending():
		return host.ErrTimeout
	case a.Err != nil:
		return a.Err
	}
	g, err := DecodeGreeting(a.Body, 1)
	if err != nil {
		return err
	}
	if g.Windows[0].Len != size {
		return fmt.Errorf("%w: a window of %d bytes, not %d", ErrMalformed, g.Windows[0].Len, size)
	}
	c.Windows = g.Windows
	return c.Connect(g.Endpoint)
}

// Free returns the number of free slots of the send queue: how many requests can be posted now.
func (c *Conn) Free() int { return c.Depth - c.places.taken }

// disconnect destroys the queue pair.
func (c *Conn) disconnect() error {
	var errs []error
	if c.prepared != nil {
		errs = append(errs, c.prepared.Destroy())
	}
	if c.QP != nil {
		errs = append(errs, c.QP.Destroy())
	}
	c.prepared, c.QP = nil, nil
	return errors.Join(errs...)
}

// Alive returns the connections that have not failed.
func Alive(conns []*Conn) []*Conn {
	var out []*Conn
	for _, c := range conns {
		if c.Err == nil {
			out = append(out, c)
		}
	}
	return out
}

// Received returns the completion of a receive that an earlier wait has polled, if there is one.
func (c *Conn) Received() (verbs.WC, bool) {
	if len(c.inbox) == 0 {
		return verbs.WC{}, false
	}
	wc := c.inbox[0]
	c.inbox = c.inbox[:copy(c.inbox, c.inbox[1:])]
	return wc, true
}
