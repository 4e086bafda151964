package arcadia

// Free is how many bytes of the ring no record has, not even one that was cleaned up behind another that was not.
// A record has a header beside its payload, and lies in one piece: there may be no room for a record of Free bytes.
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

// Next is the LSN of the record that is reserved next. What had a larger one before the log was opened is lost.
func (l *Log) Next() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.next
}
