package sim

import "slices"

// A card reads the data of a request from the requester's memory when the request
// leaves, not when it is posted. Until then an element has a source.

// fetch makes the card read e's source memory, and before it the sources of elements that leave before e.
func (w *World) fetch(e *elem) {
	for p := w.unfetched(e); p != nil; p = w.unfetched(e) {
		w.fetchPacket(p)
	}
}

// fetchPacket makes the card read the sources of e and of all that leave in one packet with it. The card reads them at
// one moment, so what has arrived in all of them by then is decided first.
func (w *World) fetchPacket(e *elem) {
	packet := append(w.leaving[:0], e)
	w.leaving = nil // deciding what has arrived may fetch other packets
	for _, x := range e.q.elems {
		if x != e && x.src != nil && w.inOnePacket(x, e) {
			packet = append(packet, x)
		}
	}
	for _, x := range packet {
		w.beforeFetch(x)
	}
	for _, x := range packet {
		if x.src != nil {
			w.takeSource(x)
		}
	}
	w.leaving = packet
}

func (w *World) inOnePacket(x, e *elem) bool {
	return w.cfg.Profile.WholePackets && x.kind == elemWrite && e.kind == elemWrite && w.mates(x, e)
}

// unfetched returns the first element that leaves before e, or with it, and has yet to be fetched, or nil.
func (w *World) unfetched(e *elem) *elem {
	for _, p := range e.q.elems {
		if p.src != nil && (p == e || w.leavesBefore(p, e)) {
			return p
		}
	}
	return nil
}

// leavesBefore reports whether p has left whenever e has.
func (w *World) leavesBefore(p, e *elem) bool {
	return p.q == e.q && (p.precedes(e) && !w.overtakes(e, p) || w.inOnePacket(p, e))
}

// mayLeave reports whether e can be in flight by now. Unlike an arrival, this needs neither a receive
// nor a live responder, since a packet may be slow. If the card has to send it again, it fetches again.
func (w *World) mayLeave(e *elem) bool {
	if w.mayCome(e) {
		return true
	}
	return e.wr < e.q.finds(unlimited) && !e.leftDenied() &&
		!slices.ContainsFunc(e.q.elems, func(p *elem) bool { return w.holdsBack(p, e) && !w.mayCome(p) })
}

// fetchOne makes the card read e's source memory, but not the sources of elements that leave before e.
func (w *World) fetchOne(e *elem) {
	w.beforeFetch(e)
	if e.src != nil {
		w.takeSource(e)
	}
}

// beforeFetch decides what has arrived in e's source memory: responses, and messages of other hosts.
func (w *World) beforeFetch(e *elem) {
	if e.src != nil {
		w.responses(e.src, e.srcOff, e.n)
	}
	if e.src != nil && w.machine.mayHold(e.src, e.srcOff, e.n) {
		w.landBefore(e.src, e.srcOff, e.n, nil)
	}
}

// takeSource gives e the current content of its source memory.
func (w *World) takeSource(e *elem) {
	e.data = w.bytes(e.n)
	copy(e.data, e.src.data[e.srcOff:])
	w.dropSource(e)
}

func (w *World) dropSource(e *elem) {
	w.touch(e.src.object(), Write) // a store there must decide which elements were fetched
	e.src.srcs = without(e.src.srcs, e)
	e.src = nil
}

// content returns the bytes that e would write if it landed now.
func (e *elem) content() []byte {
	if e.src != nil {
		e.q.w.touch(e.src.object(), Read)
		return e.src.data[e.srcOff : e.srcOff+e.n]
	}
	return e.data
}

// gather copies the current content of the memory in the scatter/gather list of s.
func (q *qp) gather(s *sqEntry) []byte {
	out := q.w.bytes(s.length)[:0]
	for _, d := range s.dst {
		q.w.touch(d.r.object(), Read)
		out = append(out, d.r.data[d.off:d.off+d.n]...)
	}
	return out
}
