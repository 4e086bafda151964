package arcadia

// ring allocates its space in order, and releases it in order. It has offsets only, no data. When everything is
// released it restarts at 0: otherwise an empty ring might have no room for its largest piece.
type ring struct {
	size       int
	head, tail int  // of the allotted space
	wrapped    bool // the tail is before the head
}

// take allots n bytes in one piece, and returns its offset; -1 if there is no such piece.
func (r *ring) take(n int) int {
	at := r.tail
	switch {
	case r.wrapped && n > r.head-r.tail:
		return -1
	case !r.wrapped && n > r.size-r.tail:
		if n > r.head {
			return -1
		}
		at, r.wrapped = 0, true
	}
	r.tail = at + n
	return at
}

// release frees the space before head, where the first remaining record begins.
func (r *ring) release(head int) {
	if head < r.head {
		r.wrapped = false
	}
	r.head = head
}
