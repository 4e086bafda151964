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
)

// The records of the past, both with LSN 1.
const (
	unforced = "unforced"
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
	data := unforced
	if r.load.copies.past == moved {
		data = durable
	}
	r.Check(r.app.log.Reserve(1))
	r.Check(r.app.log.Completing(1, []byte(data)))
	r.Check(r.app.log.Completed(1))
	if r.load.copies.past == moved {
		r.Check(r.app.log.Forced(1))
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
