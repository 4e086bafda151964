package arcadiacheck

import (
	"errors"
	"time"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// A recovery that reaches too few copies fails, and the application tries again later (4.2). So a check may excuse
// a failed recovery. An earlier failure of a copy's host is no excuse: the host must be out of reach now. The check
// calls the host to find out.

// alive is the service that answers such calls. It is one more task on the host of each copy, which costs states.
// Without it the backup answers, and a backup that is up but silent counts as out of reach.
const alive = "alive"

// AnswerCalls makes the host of a copy answer the calls of [Reaches] as long as it is up.
func AnswerCalls(h host.Host) error {
	calls, err := h.Listen(alive)
	if err != nil {
		return err
	}
	h.Go(alive, func() {
		for {
			q, err := calls.Accept(verbs.Forever)
			if err != nil {
				return
			}
			q.Reply(nil)
		}
	})
	return nil
}

// Reaches reports whether another host is up and within reach now.
func Reaches(h host.Host, name string) bool {
	_, err := h.Call(name, alive, nil, time.Second)
	return err == nil
}

// reaches is Reaches, or the backup rejects an empty greeting.
func (r *run) reaches(name string) bool {
	if r.load.copies.answers {
		return Reaches(r.h, name)
	}
	_, err := r.h.Call(name, "arcadia/log", nil, time.Second)
	return errors.As(err, new(*host.RemoteError))
}

// attempts bounds the number of tries of a recovery. It exceeds the number of faults in a scenario that can interrupt a
// recovery without a failure of the application's host.
const attempts = 6

// recovers opens the log. If too few copies are within reach, it retries as soon as enough of them are. More failures
// than faults are an error of the log.
func (r *run) recovers() (l *arcadia.Log, err error) {
	for range attempts {
		l, err = arcadia.Open(r.h, r.config(r.h))
		if !errors.Is(err, arcadia.ErrUnavailable) || r.load.copies == nil || !r.load.copies.beyond {
			return l, err
		}
		r.Look()
		r.quiet() // fewer states: hosts finish their restart first
		if !r.enough() {
			return nil, err
		}
	}
	r.Failf(Unavailable, "enough copies are within reach, but the recovery fails: %v", err)
	return nil, err
}

// enough reports whether enough copies for a recovery are within reach: all of a new log, otherwise both quorums.
func (r *run) enough() bool {
	c := r.load.copies
	need := c.number()
	if r.opened {
		need = max(c.quorum, c.number()-c.quorum+1)
	}
	has := c.number() - c.backups
	for _, name := range c.names() {
		if r.reaches(name) {
			has++
		}
	}
	return has >= need
}

// mayLose reports whether a backup can fail while this life uses it: the life has cut a link, or the budget has a fault
// for a host other than the application's.
func (r *run) mayLose() bool {
	for _, f := range r.Budget {
		if f.Kind == faults.Timeout || f.Kind.Arity() > 1 || !f.Matches("app") {
			return true
		}
	}
	return r.cuts
}
