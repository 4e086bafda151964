package arcadia

import "github.com/verbatim-rdma/verbatim/host"

// repair writes to each copy within reach the records that it lacks (4.2): first to the copy of this host, from the
// copy that has all, then from this host to the others. An error means that the copy to read from has failed.
//
// A recovery can be cut off anywhere. The copy under repair must still count then: otherwise the loss of one more copy
// makes the log unavailable, although N-W copies may be lost (finding 14). The log has every forced record, and records
// are forced in order. So once a record of a copy differs from the log, neither it nor a later record of that copy was
// forced, and repair may overwrite these records. Before that, repair adjusts the copy's superline: see trimmed. A
// damaged copy does not count. It loses its superlines first, so that a half-repaired copy does not count either.
func (l *Log) repair(r *Replicas, c *choice, copies []copyState) error {
	for i := range copies {
		switch x := &copies[i]; x.kind {
		case whole:
			if s := c.trimmed(x); s != x.super {
				r.putSuper(i, x.at, &s)
			}
		case corrupt:
			r.putSuper(i, x.at, nil)
		}
	}
	if err := l.fetch(r, c, copies); err != nil {
		return err
	}
	for i, x := range r.backups { // one after the other: the links are not the bottleneck
		_ = c.spans(c.missing(&copies[i]), func(off, n int) error {
			r.write(x, r.mem, off, off, n)
			return nil
		})
		r.everybody()
	}
	return nil
}

// missing returns the LSN of the first record that a copy lacks. A copy that is not whole lacks all records.
func (c *choice) missing(x *copyState) uint64 {
	if x.kind != whole {
		return c.super.start
	}
	return c.lacks(x)
}

// fetch repairs the copy of this host.
func (l *Log) fetch(r *Replicas, c *choice, copies []copyState) error {
	mine := copyState{}
	if !r.cfg.RemoteOnly {
		mine = copies[len(r.backups)]
	}
	from := c.missing(&mine)
	if c.from < len(r.backups) {
		if err := c.spans(from, func(off, n int) error { return r.read(r.backups[c.from], r.mem, off, off, n) }); err != nil {
			return err
		}
	}
	for _, f := range c.records {
		if f.lsn >= from && f.cleaned && !copies[c.from].record(f.lsn).cleaned {
			at := ringAt + f.at
			w, err := host.TryLoad64(l.region, at)
			if err != nil {
				return err
			}
			l.region.Store64(at, w^cleanMask)
		}
	}
	return c.spans(from, func(off, n int) error {
		r.flush(off, n)
		return nil
	})
}

// announce writes a superline to all copies within reach.
func (r *Replicas) announce(s *superline, copies []copyState) {
	for i := range copies {
		r.putSuper(i, copies[i].at, s)
	}
	if r.cfg.RemoteOnly {
		_ = putSuperlines(Local{r.mem.Region}, s, 0) // Local does not fail
	}
}

// putSuper replaces both superlines of copy i, the newest one last. Nil erases them. Copy len(r.backups) is the copy of
// this host.
func (r *Replicas) putSuper(i, newest int, s *superline) {
	var b [superSize]byte
	if s != nil {
		s.put(b[:])
	}
	for _, slot := range [2]int{1 - newest, newest} {
		if i == len(r.backups) {
			local := Local{r.mem.Region}
			local.Store(slot*superSize, b[:])
			_ = local.Force(slot*superSize, superSize) // Local does not fail
			continue
		}
		r.scratch.Region.Store(0, b[:])
		r.write(r.backups[i], r.scratch, 0, slot*superSize, superSize)
		r.everybody()
	}
}
