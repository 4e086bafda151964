package sim

import "github.com/verbatim-rdma/verbatim/faults"

// The footprint of a step is the set of objects that it uses; it lets the search know which
// steps commute. Two steps commute if no use by one conflicts with a use by the other. The rules
// are coarse on purpose: a missing use can make a verdict wrong, an extra one only costs time.
//
// - A step of a task uses its host: objHost stands for the tasks and for everything that only
//     they can reach. So steps of one host never commute.
// - A step that deals with a life of another host uses that life (objLife), and the end of the life writes
//     it. Which life of a host is current, and whether it is up, is an object too: callers use it, and crashes
//     and restarts write it.
// - A step that deals with a queue pair uses the link between its two hosts (objLink). Only posts of
//     requests commute there.
// - A request on its way to memory uses the memory (objMem). So does every step that changes which requests
//     can still arrive there (touchElems).
// - Heals, failures of queue pairs, and all faults except a plain crash of a host commute with nothing
//     (touchAll). They are rare.
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

// touchAll records that the current step commutes with no other.
func (w *World) touchAll() { w.touch(object(objEnd, 0, 0), Write) }

// current returns the object that says which life of a host is current, and whether it
// is up: crashes and restarts write it.
func (n *node) current() Object { return object(objLife, n.idx, 0) }

// lifeOf returns the object that says whether one life of host n has ended.
func lifeOf(n, life int) Object { return object(objLife, n, life+1) }

// touchLife records that the step deals with one life of a host, whether it has ended or not.
func (h *Host) touchLife() { h.w.touch(lifeOf(h.node.idx, h.life), Read) }

// touchRestart records that the next life of a host begins. The start needs only what the host has
// left behind; the host's own code runs in later steps. Others notice if they call the host, which
// now reaches this life, if they look at its lives, or if an endpoint that they use names this life
// before it begins. Connections of earlier lives, calls to them, and all clocks stay as they are.
func (w *World) touchRestart(n *node) {
	w.touch(object(objHost, n.idx, 0), Write)
	w.touch(n.current(), Write)
	w.touch(lifeOf(n.idx, n.life), Write)
}

// touch records that the step uses the connection of q: Add to post a request, Write for anything else.
func (q *qp) touch(m Mode) {
	if q.linked {
		q.w.touch(lifeOf(q.remoteNode(), q.remoteLife()), Read)
		q.w.touch(link(q.h.node.idx, q.remoteNode()), m)
	}
}

// touchElems records that the step may change which requests of q, and of its peer, can still reach memory.
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

// touchElem records that e, on its way to memory, changes without landing.
func (w *World) touchElem(e *elem) {
	if e.reg != nil {
		w.touch(e.reg.object(), Write)
	}
}

// touchMedia records that completions of q depend on persistent memory that may be unreadable.
func (q *qp) touchMedia() {
	for _, e := range q.elems {
		if e.responds() && e.reg.pm != nil {
			q.w.touch(e.reg.object(), Read)
		}
	}
}

// touchDeath records that the step depends on whether the budget still has a crash or a power failure for n.
func (w *World) touchDeath(n *node) {
	for i := range w.cands {
		if c := &w.cands[i]; c.a == n.idx && (c.kind == faults.Crash || c.kind == faults.Power) {
			for _, r := range c.rules {
				w.touch(object(objBudget, 0, r), Read)
			}
		}
	}
}

// acks returns the object on which two things conflict: an acknowledgement of a change
// to r, and the post of a request that must see that change (ReadsSeeAcked).
func (r *region) acks() Object {
	o := r.object()
	return object(objAcks, o.a(), o.b())
}

// Footprint lists the objects that the last step used. The slice belongs to the world.
func (w *World) Footprint() []Access { return w.foot }
