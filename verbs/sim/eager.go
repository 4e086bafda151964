package sim

import (
	"slices"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// eager is the machine of the semantics note, section 7: every arrival, placement and acknowledgement
// is a step of its own. It shares the ordering rules with late, but none of its shortcuts.
type eager struct{ w *World }

// steps lists the steps of wires and cards.
func (m *eager) steps(idle bool) bool {
	w := m.w
	for i, q := range w.qps {
		if q.state < verbs.StateRTR && q.buffer == nil && len(q.elems) == 0 {
			continue
		}
		if len(w.wireSteps(q, nil)) > 0 {
			w.events = append(w.events, Event{Actor: actor(actWire, 0, 0, i), a: i})
		}
		if len(w.ackSteps(q, nil)) > 0 {
			w.events = append(w.events, Event{Actor: actor(actAck, 0, 0, i), a: i})
		}
	}
	return idle && (w.onlyVain() || !w.awaited())
}

func (m *eager) stepwise() bool                                { return true }
func (m *eager) print(h *Host)                                 { m.w.cqPrints(h) }
func (m *eager) arrived(e *elem) bool                          { return e.came }
func (m *eager) accepted(e *elem) bool                         { return e.acked || e.came }
func (m *eager) mayHold(*region, int, int) bool                { return false }
func (m *eager) landBefore(*region, int, int)                  {}
func (m *eager) cameBefore(*region, int, int)                  {}
func (m *eager) beforeChange(*region, int, int, *elem)         {}
func (m *eager) forwards(*storeBuffer, *region, int, int) bool { return true }
func (m *eager) respondsUnseen() bool                          { return false }
func (m *eager) awaits(r *region) bool                         { return r.awaits }
func (m *eager) fetchesUnseen() bool                           { return false }
func (m *eager) has(c *cq) bool                                { return len(c.queue) > 0 }
func (m *eager) keeps(c *cq)                                   { c.front = front{m.w.qpByNum(c.h, c.queue[0].wc.QPNum), c.queue[0].recv} }
func (m *eager) more(*cq) bool                                 { return true }
func (m *eager) decidesKept() bool                             { return false }
func (m *eager) receives(q *qp, came bool) bool                { return came || q.state != verbs.StateErr }
func (m *eager) failsUnseen() bool                             { return false }
func (m *eager) responderDied(q *qp)                           { q.limit = min(q.limit, m.w.cameTo(q)) }
func (m *eager) mayHaveRun(*elem, int) bool                    { return false }
func (m *eager) settleRivals(*qp)                              {}

// next takes the oldest completion: an earlier step has put it there.
func (m *eager) next(c *cq) completion {
	x := c.queue[0]
	c.queue = append(c.queue[:0], c.queue[1:]...)
	return x
}

// received reports whether q has taken request i of its peer, as earlier steps decided, while its completion is
// not in the CQ yet. If q is in ERR, i is the request that caused the error, or one that was acknowledged before.
func (m *eager) received(q *qp, i int) bool {
	if q.state == verbs.StateErr {
		return q.peer.ent(i).recvErr != verbs.StatusSuccess || q.hasSeen(i)
	}
	return !slices.ContainsFunc(q.peer.elems, func(e *elem) bool { return e.wr <= i && !e.came })
}

func (m *eager) cutoff(q *qp, hit func(*sqEntry) bool, nak verbs.Status, _ bool) {
	m.w.cutoffKnown(q, hit, nak)
}

func (m *eager) denies(q *qp, hit func(*sqEntry) bool) (first int, overtakers []*elem) {
	return m.w.tookBefore(q, hit), nil
}

func (m *eager) passed(q *qp, n int) {
	for i := 0; i < len(q.elems); i++ {
		if e := q.elems[i]; e.responds() && e.wr >= n {
			m.w.dropAfter(e)
		}
	}
	m.w.neverMended(q, n)
}

// stops drops e: a request that the card had not accepted never arrives.
func (m *eager) stops(e *elem) bool {
	m.w.discard(e)
	return true
}

// staysOpen reports whether e can land later: only Writes that a card has accepted, and does not drain, do.
func (m *eager) staysOpen(e *elem) bool {
	return !m.w.cfg.Profile.DrainOnRevoke && !e.byCPU() && e.kind != elemAtomic
}

// losesPower decides at once what has persisted.
func (m *eager) losesPower(r *region) {
	w := m.w
	w.dropPending(r, func(*elem) bool { return true })
	w.losePower(r)
	for _, i := range r.pm.used {
		if r.pm.units[i].open {
			w.findUnit(r, i, w.unitBytes())
		}
	}
}
