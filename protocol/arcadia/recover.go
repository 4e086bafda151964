package arcadia

import (
	"errors"
	"fmt"

	"github.com/verbatim-rdma/verbatim/host"
)

// openReplicated is Open with backups: the recovery protocol of 4.2.
//
//  1. The cluster's service promises an epoch that nobody has had.
//  2. Each backup within reach closes the connection of the earlier primary. From R of them on, that one
//     gets no write quorum any more.
//  3. All copies within reach are read, R at least, and those with the largest epoch make the log.
//  4. Copies that lack some of it are repaired.
//  5. All copies get the new epoch, W at least (all at least, if the log is new), and the service confirms that nobody has begun a later one.
//
// It can be cut off anywhere and begun again. Of a copy that counts only what it lacks is written, and one that does not
// count gets the epoch, with which it does, when it has all.
func openReplicated(h host.Host, cfg Config) (*Log, error) {
	fail := func(err error) error { return fmt.Errorf("arcadia: open the log %s: %w", cfg.Name, err) }
	now, err := begin(h, &cfg)
	if err != nil {
		return nil, fail(err)
	}
	r, err := Connect(h, cfg, now.epoch)
	if err != nil {
		return nil, fail(err)
	}
	l := &Log{id: identity(cfg.Name), size: cfg.Size - ringAt, region: r.Region(), mem: r, mu: h.NewMutex(), replicas: r}
	l.wake = h.NewCond(l.mu)
	if l.waiting, err = h.Alloc(8); err != nil {
		return nil, fail(errors.Join(err, r.Close()))
	}
	if err := l.recoverFrom(r, now); err != nil {
		return nil, fail(errors.Join(err, l.Close()))
	}
	return l, nil
}

// recoverFrom makes the log of its copies, and begins the epoch.
func (l *Log) recoverFrom(r *Replicas, now *reign) error {
	copies, err := l.survey(r, now.created)
	if err != nil {
		return err
	}
	for i := range copies {
		if c := &copies[i]; c.kind == whole && c.super.epoch >= now.epoch {
			return fmt.Errorf("%w: a copy has the epoch %d, and %d is promised", ErrFenced, c.super.epoch, now.epoch)
		}
	}
	c, err := choose(copies, r.cfg.readQuorum(), now.created)
	if err != nil {
		return fmt.Errorf("%w: %w", err, r.why())
	}
	if c == nil {
		c = &choice{super: first(l.id, l.size)}
	} else if err := l.repair(r, c, copies); err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	l.settle(c, now.epoch)
	r.announce(&l.super, copies)
	need := r.cfg.Quorum
	if !now.created { // from then on a copy without superline has lost what it had, and does not count
		need = r.cfg.copies()
	}
	if n := r.count(all); n < need {
		return fmt.Errorf("%w: %d of %d copies have the new epoch, and %d are needed: %w", ErrUnavailable, n, r.cfg.copies(), need, r.why())
	}
	return now.confirm()
}

// settle makes the log what was chosen, in a new epoch.
func (l *Log) settle(c *choice, epoch uint64) {
	s := c.super
	l.next = c.end() + 1
	l.forced = l.next - 1
	l.ring = ring{size: l.size, head: s.head, tail: s.head}
	for _, f := range c.records {
		l.ring.tail, l.ring.wrapped = f.at+footprint(f.size), l.ring.wrapped || f.at < s.head
		l.records = append(l.records, &Record{log: l, lsn: f.lsn, epoch: f.epoch, at: f.at, size: f.size, closed: true, cleaning: f.cleaned, cleaned: f.cleaned})
	}
	for len(l.records) > 0 && l.records[0].cleaned { // two cleanups were cut off
		l.records, s.start = l.records[1:], s.start+1
	}
	if s.head = 0; len(l.records) > 0 {
		s.head = l.records[0].at
		l.ring.release(s.head)
	} else {
		l.ring = ring{size: l.size}
	}
	s.epoch, s.since = epoch, l.next
	l.super, l.at = s, 0
}
