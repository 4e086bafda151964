package rpc

import (
	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Any waits until a call of one of the clients has finished: [Client.Wait] then returns at once. All
// clients must be in group g: see [DialIn]. Any returns the index of the client and the number of the
// call: a call that was answered, or the oldest call of a failed connection. ok is false if no call
// is in progress.
func Any(g *lend.Group, clients []*Client) (i int, call uint64, ok bool) {
	for {
		var waiting []*Client
		for i, c := range clients {
			call, under := c.finished()
			if call != 0 {
				return i, call, true
			}
			if under {
				waiting = append(waiting, c)
			}
		}
		if len(waiting) == 0 {
			return 0, 0, false
		}
		if _, err := g.Next(conns(clients)); err != nil {
			for _, c := range waiting {
				_ = g.Do(c.s.conn, verbs.SendWR{Op: verbs.OpWrite}) // it fails the connection if the peer is dead
			}
		}
	}
}

// conns returns the connections of all clients. A client without calls is included: a completion of
// its connection that no task polls would be reported again and again.
func conns(clients []*Client) []*lend.Conn {
	out := make([]*lend.Conn, len(clients))
	for i, c := range clients {
		out[i] = c.s.conn
	}
	return out
}

// finished returns the number of a finished call, or 0, and whether another call is in progress.
func (c *Client) finished() (call uint64, under bool) {
	for wc, ok := c.s.conn.Received(); ok && c.s.conn.Err == nil; wc, ok = c.s.conn.Received() {
		_ = c.answered(wc) // an error fails the connection
	}
	for i := range c.calls {
		switch x := &c.calls[i]; {
		case x.number == 0:
		case x.done, c.s.conn.Err != nil:
			if call == 0 || x.number < call {
				call = x.number
			}
		default:
			under = true
		}
	}
	return call, under
}
