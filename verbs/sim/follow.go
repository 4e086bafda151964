package sim

// follows reports whether e must land after by, directly or through others. It goes
// forward from by and keeps whom it reaches, since there can be very many ways.
func (w *World) follows(e, by *elem) bool {
	if !by.precedes(e) {
		return false // nothing between them, and no way round
	}
	if w.before(by, e) {
		return true
	}
	var buf [32]*elem
	reached := append(buf[:0], by)
	for _, x := range e.q.elems {
		if !x.landed && by.precedes(x) && x.precedes(e) && w.afterAny(x, reached) {
			reached = append(reached, x)
		}
	}
	return w.afterAny(e, reached)
}

// afterAny reports whether e must land after one of some elements, directly.
func (w *World) afterAny(e *elem, of []*elem) bool {
	for i := len(of) - 1; i >= 0; i-- { // the nearest is the likeliest
		if w.before(of[i], e) {
			return true
		}
	}
	return false
}
