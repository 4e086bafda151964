package sim

import "github.com/verbatim-rdma/verbatim/faults"

// The objects that a step uses, so that the search knows which steps commute. Two steps commute if
// no use of the one conflicts with a use of the other. The rules are coarse on purpose:
// a missing use can cost a verdict, and an extra one only time.
//
// - A step of a task uses its host: objHost stands for the tasks and for everything that only
//     they can reach. So steps of one host never commute.
// - A step that deals with a life of another host uses that life (objLife), and the end of the life
// writes it. Which life of a host is the current one, and whether it is up, is an object too:
// callers use it, and ends and restarts write it.
// - A step that deals with a queue pair uses the link of its two hosts (objLink). Only
//     posts of requests commute there.
// - A request on its way to memory uses the memory (objMem). So does every step that
// changes which requests can still arrive there: see touchElems.
// - Healing, failures of queue pairs, and all faults but the plain crash of a host
//     commute with nothing (touchAll). They are rare.
//
// The package explore/audit tests the claim that steps without a common object commute.

// touch records that the current step uses an object.
func (w *World) touch(o Object, m Mode) {
	if w.cur == nil || o != object(objHost, w.cur.h.node.idx, 0) {
		w.shown = true
	}
	if w.replaying {
		return
	}
	for i := range w.foot {
		if w.foot[i].Obj == o {
			if w.foot[i].Mode == m {
				return
			}
			if m == Write {
				w.foot[i].Mode = Write
				return
			}
			if w.foot[i].Mode == Write {
				return
			}
		}
	}
	w.foot = append(w.foot, Access{o, m})
}

// touchAll notes that the order of the current step and any other may matter.
func (w *World) touchAll() { w.touch(object(objEnd, 0, 0), Write) }

// current is the object for which life of a host is the current one, and whether it is up: crashes and
// restarts change that.
func (n *node) current() Object { return object(objLife, n.idx, 0) }

// lifeOf is the object for whether one life of host n has ended.
func lifeOf(n, life int) Object { return object(objLife, n, life+1) }

// touchLife notes that the step deals with one life of a host, whether it has ended or not.
func (h *Host) touchLife() { h.w.touch(lifeOf(h.node.idx, h.life), Read) }

// touchRestart notes that the next life of a host begins. It needs only what the host has left behind, and
// its own code runs in later steps. Others notice if they call the host, which now finds this life, or look at its
// lives, or if an endpoint that they use names this life before it begins. Connections of earlier lives, and
// calls to them, stay as they are, and so do all clocks.
func (w *World) touchRestart(n *node) {
	w.touch(object(objHost, n.idx, 0), Write)
	w.touch(n.current(), Write)
	w.touch(lifeOf(n.idx, n.life), Write)
}

// touch notes that the step uses the connection of q: Add to post a request, Write for
// all else.
func (q *qp) touch(m Mode) {
	if q.linked {
		q.w.touch(lifeOf(q.remoteNode(), q.remoteLife()), Read)
		q.w.touch(link(q.h.node.idx, q.remoteNode()), m)
	}
}

// touchElems notes that the step may change which requests of q, and of its peer, can
// still reach memory.
func (q *qp) touchElems() {
	q.touch(Write)
	for _, x := range [2]*qp{q, q.peer} {
		if x == nil {
			continue
		}
		for _, e := range x.elems {
			q.w.touchElem(e)
		}
	}
}

// touchElem notes that what is on its way to some memory changes without landing.
func (w *World) touchElem(e *elem) {
	if e.reg != nil {
		w.touch(e.reg.object(), Write)
	}
}

// touchMedia notes that completions of q depend on persistent memory that may be
// unreadable.
func (q *qp) touchMedia() {
	for _, e := range q.elems {
		if e.responds() && e.reg.pm != nil {
			q.w.touch(e.reg.object(), Read)
		}
	}
}

// touchDeath notes that the step depends on whether the budget still has a crash or a power failure for n.
func (w *World) touchDeath(n *node) {
	for i := range w.cands {
		if c := &w.cands[i]; c.a == n.idx && (c.kind == faults.Crash || c.kind == faults.Power) {
			for _, r := range c.rules {
				w.touch(object(objBudget, 0, r), Read)
			}
		}
	}
}

// acks is the object for which acknowledgements of what changes r, and the posting of
// what must find that there, do not commute (ReadsSeeAcked).
func (r *region) acks() Object {
	o := r.object()
	return object(objAcks, o.a(), o.b())
}

// Footprint lists what the last step used. The slice is the world's own.
func (w *World) Footprint() []Access { return w.foot }
