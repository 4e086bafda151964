package arcadia

import "github.com/verbatim-rdma/verbatim/host"

// repair gives all copies within reach what they lack of the log (4.2): first that of this host, from the copy
// that has all, and from here the others. An error says that the copy to read from has failed.
//
// A copy of the same epoch has the same records at the same places, so what it lacks does not overwrite what it
// has: unless it lacks that the log begins later, which it is told first.
func (l *Log) repair(r *Replicas, c *choice, copies []copyState) error {
	behind := func(x *copyState) bool {
		return x.kind != absent && x.kind != blank && x.super.epoch == c.super.epoch && x.super.start < c.super.start
	}
	r.announce(&c.super, copies, behind)
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

// missing is the first record that a copy lacks. One that does not count lacks all.
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

// announce gives a superline to those of the copies within reach that satisfy to, each in the order of its own: the one
// that does not count there, then the other.
func (r *Replicas) announce(s *superline, copies []copyState, to func(*copyState) bool) {
	if n := len(r.backups); !r.cfg.RemoteOnly && to(&copies[n]) {
		_ = putSuperlines(Local{r.mem.Region}, s, copies[n].at) // which does not fail
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
