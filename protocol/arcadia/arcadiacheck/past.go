package arcadiacheck

import (
	"errors"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia"
)

// past is the history of a log with three copies before a run. In its first epoch only the last copy got a record,
// which was not forced.
type past int

const (
	none past = iota
	// cutOff: a recovery promised the second epoch and wrote it to that copy; then it was interrupted.
	cutOff
	// moved: the other copies have the second epoch, in which another record was forced in the place of that one.
	moved
	// anew: all copies had a forced record and the second epoch. In the third, which the last copy has missed, that record
	// was cleaned up, so the ring began anew, and another record was forced in its place.
	anew
)

// epoch is the last one that the cluster's service has promised.
func (p past) epoch() byte {
	if p == anew {
		return 3
	}
	return 2
}

// The records of the past: with LSN 1, or durable with LSN 2 if the log began anew.
const (
	unforced = "unforced" // but with anew
	durable  = "durable!"
)

// seed creates the copy of a backup. A log on one host has the same bytes.
func (p past) seed(h host.Host, stale bool, size int) error {
	open := func(data string) error {
		l, err := arcadia.Open(h, arcadia.Config{Name: "log", Size: size})
		if err == nil && data != "" {
			_, err = l.Append([]byte(data))
		}
		if err != nil {
			return err
		}
		return l.Close()
	}
	switch {
	case p == anew:
		err := errors.Join(open(unforced), open(""))
		if stale || err != nil {
			return err
		}
		l, err := arcadia.Open(h, arcadia.Config{Name: "log", Size: size})
		if err == nil {
			err = l.CleanupAll()
		}
		if err == nil {
			_, err = l.Append([]byte(durable))
		}
		if err != nil {
			return err
		}
		return l.Close()
	case stale && p == cutOff:
		return errors.Join(open(unforced), open(""))
	case stale:
		return open(unforced)
	case p == moved:
		return errors.Join(open(""), open(durable))
	}
	return open("")
}

// recall reports the past to the model.
func (r *run) recall() {
	complete := func(lsn uint64, data string) {
		r.Check(r.app.log.Reserve(lsn))
		r.Check(r.app.log.Completing(lsn, []byte(data)))
		r.Check(r.app.log.Completed(lsn))
	}
	switch r.load.copies.past {
	case moved:
		complete(1, durable)
		r.Check(r.app.log.Forced(1))
	case anew:
		complete(1, unforced)
		r.Check(r.app.log.Forced(1))
		r.app.log.CleaningAll()
		r.app.log.CleanedAll()
		complete(2, durable)
		r.Check(r.app.log.Forced(2))
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
