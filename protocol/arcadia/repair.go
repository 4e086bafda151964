package arcadia

import "github.com/verbatim-rdma/verbatim/host"

// repair writes to each copy within reach what it lacks of the log (4.2): first to that of this host, from the copy that
// has everything, and from here to the others. An error says that the copy to read from has failed.
//
// It can be cut off anywhere, and then the copy under repair must still count: otherwise the loss of one more would
// make the log unavailable, although N-W may be lost. The paper has no rule for that. Ours compares a copy with the
// log. The log has every record that was forced. Records are forced in their order, so from the first one on in which
// the two differ the copy has none that was, and may be overwritten. Its superline says so before that: see trimmed.
// What a media error has damaged never counts, so it loses its superlines before it is repaired.
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
	for i, x := range r.backups { // one after the other: their links are not what limits it
		_ = c.spans(c.missing(&copies[i]), func(off, n int) error {
			r.write(x, r.mem, off, off, n)
			return nil
		})
		r.everybody()
	}
	return nil
}

// missing is the first record that a copy lacks. A copy that is not whole lacks all.
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

// announce gives a superline to all copies within reach.
func (r *Replicas) announce(s *superline, copies []copyState) {
	for i := range copies {
		r.putSuper(i, copies[i].at, s)
	}
	if r.cfg.RemoteOnly {
		_ = putSuperlines(Local{r.mem.Region}, s, 0) // which does not fail
	}
}

// putSuper replaces both superlines of copy i: the one that does not count, and then that at the place newest. Nil erases
// them. Copy len(r.backups) is that of this host.
func (r *Replicas) putSuper(i, newest int, s *superline) {
	var b [superSize]byte
	if s != nil {
		s.put(b[:])
	}
	for _, slot := range [2]int{1 - newest, newest} {
		if i == len(r.backups) {
			local := Local{r.mem.Region}
			local.Store(slot*superSize, b[:])
			_ = local.Force(slot*superSize, superSize) // which does not fail
			continue
		}
		r.scratch.Region.Store(0, b[:])
		r.write(r.backups[i], r.scratch, 0, slot*superSize, superSize)
		r.everybody()
	}
}
