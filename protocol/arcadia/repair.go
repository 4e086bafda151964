package arcadia

import "github.com/verbatim-rdma/verbatim/host"

// repair writes to each copy within reach the records that it lacks (4.2): first to the copy of this host, from the
// copy that has all, then from this host to the others. An error means that the copy to read from has failed.
//
// A copy of the same epoch has the same records at the same offsets, so repair overwrites none of its records. The
// exception is a copy whose log starts earlier: repair first writes the new superline to it.
func (l *Log) repair(r *Replicas, c *choice, copies []copyState) error {
	behind := func(x *copyState) bool {
		return x.kind != absent && x.kind != blank && x.super.epoch == c.super.epoch && x.super.start < c.super.start
	}
	r.announce(&c.super, copies, behind)
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

// missing returns the LSN of the first record that a copy lacks. A copy that does not count lacks all.
func (c *choice) missing(x *copyState) uint64 {
	if !x.counts(c.super.epoch) {
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

// announce writes a superline to the copies within reach that satisfy to. In each it first replaces the superline that
// does not count there, then the other.
func (r *Replicas) announce(s *superline, copies []copyState, to func(*copyState) bool) {
	if n := len(r.backups); !r.cfg.RemoteOnly && to(&copies[n]) {
		_ = putSuperlines(Local{r.mem.Region}, s, copies[n].at) // Local does not fail
	}
	if r.cfg.RemoteOnly {
		_ = putSuperlines(Local{r.mem.Region}, s, 0)
	}
	var b [superSize]byte
	s.put(b[:])
	r.scratch.Region.Store(0, b[:])
	for i, x := range r.backups {
		for second := range 2 {
			if slot := copies[i].at ^ 1 ^ second; to(&copies[i]) {
				r.write(x, r.scratch, 0, slot*superSize, superSize)
				r.everybody()
			}
		}
	}
}
