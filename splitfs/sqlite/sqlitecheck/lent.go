package sqlitecheck

import (
	"errors"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// lent is memory of a peer.
type lent struct {
	on     *sim.Host
	region host.Region
}

// lender is a peer's host that keeps a list of the memory it has lent.
type lender struct {
	host.Host
	to *[]lent
}

func (l lender) Alloc(size int) (host.Region, error) {
	r, err := l.Host.Alloc(size)
	if err == nil {
		*l.to = append(*l.to, lent{l.Host.(*sim.Host), r})
	}
	return r, err
}

// land lets the writes to some peers land, now and then, as draw decides. The simulator
// keeps a write in flight until it is observed, and nothing observes it before a recovery.
// Any suffix of thousands of writes could then still be in flight, and each write costs
// time. With land, a peer is behind by a few transactions, or some tens of them, at the
// crash.
func (w *world) land(draw func(n int) int) {
	if draw(2) > 0 {
		return
	}
	kept := w.lent[:0]
	for _, l := range w.lent {
		if !l.on.Alive() || draw(4) == 0 || l.land() {
			kept = append(kept, l)
		}
	}
	w.lent = kept
}

// land reports whether the memory is still lent. A region begins with the stamp. On a
// connection whose writes land in order, all earlier writes land before the stamp.
func (l lent) land() (ok bool) {
	defer func() {
		if err, closed := recover().(error); closed {
			if !errors.Is(err, host.ErrClosed) {
				panic(err)
			}
			ok = false
		}
	}()
	const stamp = 8
	l.on.Settle(l.region, 0, stamp)
	return true
}
