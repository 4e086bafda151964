package arcadia

// Free returns the number of free bytes in the ring. A cleaned-up record takes space until all records before it are
// cleaned up. A record of Free bytes may not fit: a record also has a header, and does not wrap around the ring's end.
func (l *Log) Free() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ring.free()
}

func (r *ring) free() int {
	if r.wrapped {
		return r.head - r.tail
	}
	return r.size - r.tail + r.head
}

// Next returns the LSN of the next record to be reserved. After Open, records that had this LSN or a larger one are
// lost.
func (l *Log) Next() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.next
}
