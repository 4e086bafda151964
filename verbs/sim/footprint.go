package sim

// What a step uses, so that the search knows which steps commute. Two steps commute if
// no use of the one conflicts with a use of the other. The rules are coarse on purpose,
// since a use that is forgotten can cost a verdict, and one too many only time:
//
//   - A step of a task uses its host: objHost stands for the tasks and for all that only
//     they can reach. So steps of one host never commute.
//   - Whoever deals with another host uses its life (objLife), and what ends a host
//     writes that.
//   - Whoever deals with a queue pair uses the link of its two hosts (objLink). Only
//     posts of requests commute there.
//   - A request on its way to memory uses the memory (objMem). So does whatever
//     changes which requests can still come there: see touchElems.
//   - Restarts, healing, failures of queue pairs, and all faults but the plain crash
//     of a host commute with nothing (touchAll). They are rare.
//
// The claim that steps commute which have nothing in common is tested by explore/audit.

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

// touchLife notes that the step deals with host n, whatever is alive there.
func (w *World) touchLife(n int) { w.touch(object(objLife, n, 0), Read) }

// touch notes that the step uses the connection of q: Add to post a request, Write for
// all else.
func (q *qp) touch(m Mode) {
	if q.linked {
		q.w.touchLife(q.remoteNode())
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

// acks is the object for which acknowledgements of what changes r, and the posting of
// what must find that there, do not commute (ReadsSeeAcked).
func (r *region) acks() Object {
	o := r.object()
	return object(objAcks, o.a(), o.b())
}

// Footprint lists what the last step used. The slice is the world's own.
func (w *World) Footprint() []Access { return w.foot }
