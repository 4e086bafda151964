package arcadiacheck

import (
	"errors"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia"
)

// past is the history of a log with three copies before a run. The last copy has missed a part of it.
type past int

const (
	none past = iota
	// cutOff: only the last copy has a record, which was not forced. A recovery promised the second epoch, wrote it to that
	// copy, and was interrupted.
	cutOff
	// moved: only the last copy has a record, which was not forced. The other copies have the second epoch, in which another
	// record was forced in its place.
	moved
	// anew: all copies had a forced record and the second epoch. The last copy has missed the third epoch. In it that record
	// was cleaned up, so the ring restarted, and another record was forced in its place.
	anew
	// diverged: the last copy is as in cutOff. The other copies have the third epoch, in which another record was forced in
	// the place of the first one.
	diverged
	// tidied: all copies have two forced records. All but the last copy have cleaned up the second record.
	tidied
	// begun: the same, but with the first record cleaned up, so the log begins with the second.
	begun
	// replaced: all copies have a forced record. The last copy has a second record, which was not forced, and was cleaned up.
	// The other copies have the second epoch, in which another record was forced in its place.
	replaced
	// damaged: all copies have a forced record, after one that was cleaned up, and the second epoch. In this epoch another
	// record was forced, but the last copy has missed it. Both records are damaged in the first copy.
	damaged
	// cached: no record was forced, and the last copy has one in the caches of its host.
	cached
	// promised: the first epoch was promised, and no copy has a superline.
	promised
)

// epoch returns the last epoch that the cluster's service has promised.
func (p past) epoch() byte {
	switch p {
	case anew, diverged:
		return 3
	case tidied, begun, cached, promised:
		return 1
	}
	return 2
}

// The records of the past.
const (
	unforced = "unforced" // except with anew, tidied, begun and damaged: there it was forced with LSN 1, and the other record has LSN 2
	durable  = "durable!"
	another  = "another!" // with replaced, after durable, which has LSN 1 there; also with damaged
)

// seed creates copy i of n, on a backup. A log on one host has the same bytes.
func (p past) seed(h host.Host, i, n, size int) error {
	// epoch opens the log, which begins an epoch, and appends records.
	epoch := func(records ...string) error {
		return with(h, size, func(l *arcadia.Log) error { return appendAll(l, records...) })
	}
	stale := i == n-1
	switch p {
	case tidied, begun:
		return seedCleaned(h, size, p, stale)
	case replaced:
		return seedReplaced(h, size, stale)
	case damaged:
		return seedDamaged(h, size, i == 0, stale)
	case cached:
		return seedCached(h, size, stale)
	case promised:
		return nil
	}
	switch {
	case p == anew:
		err := errors.Join(epoch(unforced), epoch())
		if stale || err != nil {
			return err
		}
		return with(h, size, func(l *arcadia.Log) error { return errors.Join(l.CleanupAll(), appendAll(l, durable)) })
	case stale && p != moved: // cutOff and diverged
		return errors.Join(epoch(unforced), epoch())
	case stale:
		return epoch(unforced)
	case p == moved:
		return errors.Join(epoch(), epoch(durable))
	case p == diverged:
		return errors.Join(epoch(), epoch(), epoch(durable))
	}
	return epoch()
}

// seedCleaned has two records. All copies but the stale one have cleaned up one of them.
func seedCleaned(h host.Host, size int, p past, stale bool) error {
	return with(h, size, func(l *arcadia.Log) error {
		first, err1 := l.Append([]byte(unforced))
		second, err2 := l.Append([]byte(durable))
		if err := errors.Join(err1, err2); err != nil || stale {
			return err
		}
		if p == tidied {
			return l.Cleanup(second)
		}
		return l.Cleanup(first)
	})
}

func seedReplaced(h host.Host, size int, stale bool) error {
	err := with(h, size, func(l *arcadia.Log) error {
		if err := appendAll(l, durable); err != nil || !stale {
			return err
		}
		second, err := l.Append([]byte(unforced))
		if err != nil {
			return err
		}
		return l.Cleanup(second)
	})
	if err != nil || stale {
		return err
	}
	return with(h, size, func(l *arcadia.Log) error { return appendAll(l, another) })
}

// seedDamaged has a ring of two records. The second remaining record lies before the first, so a repair needs two Writes.
func seedDamaged(h host.Host, size int, damage, stale bool) error {
	err := with(h, size, func(l *arcadia.Log) error {
		first, err := l.Append([]byte(unforced))
		if err != nil {
			return err
		}
		return errors.Join(appendAll(l, durable), l.Cleanup(first))
	})
	if err != nil {
		return err
	}
	return with(h, size, func(l *arcadia.Log) error {
		if stale {
			return nil
		}
		if err := appendAll(l, another); err != nil || !damage {
			return err
		}
		return l.Each(func(x *arcadia.Record, _ []byte) error {
			region, off := x.Place()
			region.Store64(off, ^region.Load64(off))
			region.Flush(off, 8)
			region.Fence()
			return nil
		})
	})
}

func seedCached(h host.Host, size int, stale bool) error {
	return with(h, size, func(l *arcadia.Log) error {
		if !stale {
			return nil
		}
		x, err := l.Reserve(len(unforced))
		if err != nil {
			return err
		}
		return errors.Join(x.Copy(0, []byte(unforced)), x.Complete())
	})
}

// with opens the copy of a host as a separate log.
func with(h host.Host, size int, do func(l *arcadia.Log) error) error {
	l, err := arcadia.Open(h, arcadia.Config{Name: "log", Size: size})
	if err != nil {
		return err
	}
	return errors.Join(do(l), l.Close())
}

func appendAll(l *arcadia.Log, records ...string) error {
	for _, data := range records {
		if _, err := l.Append([]byte(data)); err != nil {
			return err
		}
	}
	return nil
}

// recall reports the past to the model.
func (r *run) recall() {
	complete := func(lsn uint64, data string) {
		r.Check(r.app.log.Reserve(lsn))
		r.Check(r.app.log.Completing(lsn, []byte(data)))
		r.Check(r.app.log.Completed(lsn))
	}
	switch r.load.copies.past {
	case moved, diverged:
		complete(1, durable)
		r.Check(r.app.log.Forced(1))
	case anew:
		complete(1, unforced)
		r.Check(r.app.log.Forced(1))
		r.app.log.CleaningAll()
		r.app.log.CleanedAll()
		complete(2, durable)
		r.Check(r.app.log.Forced(2))
	case tidied, begun:
		complete(1, unforced)
		complete(2, durable)
		r.Check(r.app.log.Forced(2))
		cleaned := uint64(2)
		if r.load.copies.past == begun {
			cleaned = 1
		}
		r.Check(r.app.log.Cleaning(cleaned))
		r.Check(r.app.log.Cleaned(cleaned))
	case replaced:
		complete(1, durable)
		complete(2, another)
		r.Check(r.app.log.Forced(2))
	case damaged:
		complete(1, unforced)
		complete(2, durable)
		complete(3, another)
		r.Check(r.app.log.Forced(3))
		r.Check(r.app.log.Cleaning(1))
		r.Check(r.app.log.Cleaned(1))
	default:
		complete(1, unforced)
	}
	r.recalled = true
	r.History()
}

// partly begins a life that does not reach all backups.
func (r *run) partly() {
	r.quiet()
	if r.Look(); !r.recalled && r.load.copies.past > none {
		r.recall()
	}
	names := r.load.copies.names()
	for i, name := range names {
		if r.Heal("app", name); i+1 == r.load.copies.cuts[r.life] {
			r.cut(name)
		}
	}
}
