package arcadia

import (
	"errors"
	"fmt"

	"github.com/verbatim-rdma/verbatim/host"
)

// openReplicated is Open with backups: the recovery protocol of 4.2.
//
//  1. The cluster's service promises a new epoch.
//  2. Each backup within reach closes the connection of the earlier primary. Once R of them have closed it,
//     that primary can no longer get a write quorum.
//  3. The recovery reads all copies within reach, at least R. The copies with the largest epoch make the log.
//  4. It repairs the copies that lack records.
//  5. It writes the new epoch to all copies, at least W (to all, if the log is new), and the service confirms
//     that no later epoch has been promised.
//
// The recovery can be interrupted anywhere and started again. In a copy that counts it writes only the records
// that the copy lacks. A copy that does not count gets all records first, and then the new epoch, with which it
// counts.
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
	l := &Log{h: h, id: identity(cfg.Name), size: cfg.Size - ringAt, region: r.Region(), mem: r, mu: h.NewMutex(), replicas: r}
	l.wake = h.NewCond(l.mu)
	if l.waiting, err = h.Alloc(8); err != nil {
		return nil, fail(errors.Join(err, r.Close()))
	}
	if err := l.recoverFrom(r, now); err != nil {
		return nil, fail(errors.Join(err, l.Close()))
	}
	return l, nil
}

// recoverFrom restores the log from its copies and begins the epoch.
func (l *Log) recoverFrom(r *Replicas, now *reign) error {
	copies, err := l.survey(r, now.created)
	if err != nil {
		return err
	}
	for i := range copies {
		if c := &copies[i]; c.kind == whole && c.super.epoch >= now.epoch {
			return fmt.Errorf("%w: a copy has epoch %d, but epoch %d was promised", ErrFenced, c.super.epoch, now.epoch)
		}
	}
	c, err := choose(copies, r.cfg.readQuorum(), now.created)
	if err != nil {
		return because(err, r.why())
	}
	if c == nil {
		c = &choice{super: first(l.id, l.size)}
	} else if err := l.repair(r, c, copies); err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	l.settle(c, now.epoch)
	r.announce(&l.super, copies)
	need := r.cfg.Quorum
	if !now.created { // later, a copy without superline has lost its content and does not count
		need = r.cfg.copies()
	}
	if n := r.count(all); n < need {
		return because(fmt.Errorf("%w: %d of %d copies have the new epoch; %d are needed", ErrUnavailable, n, r.cfg.copies(), need), r.why())
	}
	return now.confirm()
}

// settle sets l to the chosen log, in a new epoch.
func (l *Log) settle(c *choice, epoch uint64) {
	s := c.super
	l.next = c.end() + 1
	l.forced = l.next - 1
	l.ring = ring{size: l.size, head: s.head, tail: s.head}
	for _, f := range c.records {
		l.ring.tail, l.ring.wrapped = f.at+footprint(f.size), l.ring.wrapped || f.at < s.head
		l.records = append(l.records, &Record{log: l, lsn: f.lsn, epoch: f.epoch, at: f.at, size: f.size, closed: true, cleaning: f.cleaned, cleaned: f.cleaned})
	}
	for len(l.records) > 0 && l.records[0].cleaned { // two cleanups were interrupted
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
