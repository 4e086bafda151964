package lend

import (
	"errors"
	"slices"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// Room waits until the send queue has room for n requests, or the connection has
// failed. It panics if n exceeds the length of the queue.
func (g *Group) Room(c *Conn, n int) {
	if n > c.Depth {
		panic("lend: more slots requested than the send queue has")
	}
	for c.lacks(n) {
		g.wait(c)
	}
}

// RoomAll is Room for several connections.
func (g *Group) RoomAll(conns []*Conn, n int) {
	var one *Conn
	full := 0
	for _, c := range conns {
		if c.lacks(n) {
			one, full = c, full+1
		}
	}
	switch full {
	case 0:
	case 1: // no order, and no allocation
		g.Room(one, n)
	default:
		g.makeRoom(conns, n)
	}
}

func (g *Group) makeRoom(conns []*Conn, n int) {
	full := slices.DeleteFunc(slices.Clone(conns), func(c *Conn) bool { return !c.lacks(n) })
	for c := range g.Each(full) {
		g.Room(c, n)
	}
}

// lacks reports whether the send queue has no room for n requests now.
func (c *Conn) lacks(n int) bool { return c.Err == nil && c.places.taken+n > c.Depth }

// Post posts requests. It reports whether the card accepted them; if not, the
// connection has failed. A full queue is such a failure: call [Group.Room] first.
func (g *Group) Post(c *Conn, wrs []verbs.SendWR) bool {
	if c.Err != nil {
		return false
	}
	if err := c.QP.PostSend(wrs); err != nil {
		g.Fail(c, err)
		return false
	}
	c.places.post(wrs, c.all)
	c.Asked = wrs[len(wrs)-1].ID
	return true
}

// PostBeside posts requests as [Group.Post] does, to a connection for which another task may be waiting
// in [Group.Ready] or [Group.ReadyAll]. If the card refuses one, the connection has failed, but its queue
// pair stays until [Group.Drop], so the completion for which the other task waits still arrives. The
// connection must stay among those that the group collects from.
func (g *Group) PostBeside(c *Conn, wrs []verbs.SendWR) bool {
	if c.Err != nil {
		return false
	}
	if err := c.QP.PostSend(wrs); err != nil {
		g.h.Logf("peer %s has failed: %v", c.Peer, err)
		c.Err = err
		return false
	}
	c.places.post(wrs, c.all)
	c.Asked = wrs[len(wrs)-1].ID
	return true
}

// Await waits until request id is complete, and reports whether it succeeded; if not,
// the connection has failed. The request must be signaled, and posted before. It may be
// complete already, since [Group.Room] and other waits poll too.
func (g *Group) Await(c *Conn, id uint64) bool {
	for c.Err == nil && c.places.open(id) {
		g.wait(c)
	}
	return c.Err == nil
}

// Do posts one request, signaled and with the next ID, and waits until it is complete.
// It returns c.Err.
func (g *Group) Do(c *Conn, wr verbs.SendWR) error {
	wr.ID = c.Asked + 1
	wr.Flags |= verbs.Signaled
	c.wrs[0] = wr
	if g.Room(c, 1); g.Post(c, c.wrs[:]) {
		g.Await(c, wr.ID)
	}
	return c.Err
}

// Next waits for a completion of any of conns and returns its connection. It returns
// nil if the completion belongs to another connection, or failed this one. The error
// means that no completion arrived in time.
func (g *Group) Next(conns []*Conn) (*Conn, error) {
	cq, err := g.ch.Wait(g.Timeout)
	if err != nil {
		return nil, err
	}
	for _, c := range conns {
		if c.CQ == cq {
			if n, err := cq.Poll(c.wc[:]); g.took(c, n, err) {
				return c, nil
			}
			return nil, nil
		}
	}
	return nil, nil
}

// Ready waits until a queue of the group has a completion, and returns that queue, for
// [Group.Collect]. The error means that no completion arrived in time.
//
// While a task is in Ready, other tasks may post to all connections. They may not wait for
// completions of the group: they could take the completion for which Ready waits.
func (g *Group) Ready() (verbs.CQ, error) { return g.ch.Wait(g.Timeout) }

// Collect polls a completion from a queue that [Group.Ready] has returned, without waiting, and
// returns its connection. It returns nil if the queue belongs to none of conns, if it is empty by
// now, or if its completion failed the connection.
func (g *Group) Collect(conns []*Conn, cq verbs.CQ) *Conn {
	for _, c := range conns {
		if c.CQ == cq {
			if n, err := cq.Poll(c.wc[:]); g.took(c, n, err) {
				return c
			}
			return nil
		}
	}
	return nil
}

// AwaitAll waits until the last request to each of conns, which is signaled, is complete,
// or its connection has failed. The order of completion does not matter.
func (g *Group) AwaitAll(conns []*Conn) {
	open := slices.Clone(conns)
	for {
		open = slices.DeleteFunc(open, func(c *Conn) bool { return c.Err != nil || c.Done == c.Asked && !c.places.open(c.Asked) })
		if len(open) == 0 {
			return
		}
		wcs, err := g.ReadyAll(open)
		g.CollectAll(open, wcs, err)
	}
}

// ReadyAll waits until each of conns has a completion, and takes one of each, in no order, for
// [Group.CollectAll]. As in [Group.Ready], other tasks may post meanwhile, but may not wait for
// completions.
func (g *Group) ReadyAll(conns []*Conn) ([]verbs.WC, error) {
	cqs := make([]verbs.CQ, len(conns))
	for i, c := range conns {
		cqs[i] = c.CQ
	}
	wcs := make([]verbs.WC, len(conns))
	err := g.ch.Gather(cqs, wcs, g.Timeout)
	return wcs, err
}

// CollectAll records the completions that [Group.ReadyAll] has taken: wcs[i] belongs to conns[i]. An
// error of the wait fails all of conns.
func (g *Group) CollectAll(conns []*Conn, wcs []verbs.WC, err error) {
	var failed []*Conn
	for i, c := range conns {
		if c.wc[0] = wcs[i]; err != nil || wcs[i].Err() != nil {
			failed = append(failed, c)
		} else {
			g.took(c, 1, nil)
		}
	}
	for c := range g.Each(failed) {
		g.took(c, 1, err)
	}
}

// Receive waits until a receive completes and returns its completion. If the connection
// fails first, the error is c.Err. After the group's timeout it wraps
// [verbs.ErrTimeout], and the connection stays usable.
func (g *Group) Receive(c *Conn) (verbs.WC, error) {
	for c.Err == nil {
		if wc, ok := c.Received(); ok {
			return wc, nil
		}
		n, err := c.CQ.Wait(c.wc[:], g.Timeout)
		if errors.Is(err, verbs.ErrTimeout) {
			return verbs.WC{}, err
		}
		g.took(c, n, err)
	}
	return verbs.WC{}, c.Err
}

// wait waits for one completion of c.
func (g *Group) wait(c *Conn) {
	n, err := c.CQ.Wait(c.wc[:], g.Timeout)
	g.took(c, n, err)
}

// took records the result of a wait: n completions, 0 or 1, in c.wc, or an error. It
// reports whether a request succeeded. An error fails the connection, since the card
// has already retried as often as configured.
func (g *Group) took(c *Conn, n int, err error) bool {
	switch {
	case c.Err != nil || err == nil && n == 0:
		return false
	case err == nil:
		err = c.wc[0].Err()
	}
	switch {
	case err != nil:
		g.Fail(c, err)
		return false
	case c.wc[0].Op == verbs.WCRecv || c.wc[0].Op == verbs.WCRecvWriteImm:
		c.inbox = append(c.inbox, c.wc[0])
		return false
	}
	c.places.completed()
	c.Done = c.wc[0].ID
	return true
}
