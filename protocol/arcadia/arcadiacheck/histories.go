package arcadiacheck

import (
	"errors"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia"
)

// histories are scenarios for random runs: several lives use the log in any way, and each life reaches different copies.
// The scenarios are too large for an exhaustive search.
var histories = []spec{
	history("history-local", "crash(app)<=2, power(app)<=2, crash(backup*)<=1, timeout(app)<=1", &copies{backups: 2, quorum: 2, orders: 3}),
	history("history-two", "crash(app)<=2, power(app)<=2, crash(backup*)<=1, timeout(app)<=1", &copies{backups: 1, quorum: 1, orders: 3}),
	history("history-remote", "crash(app)<=2, power(app)<=2, crash(backup*)<=1, timeout(app)<=1", &copies{backups: 3, quorum: 2, remote: true}),
	history("history-large", "crash(app)<=2, crash(backup*)<=2, timeout(app)<=1", &copies{backups: 5, quorum: 3, remote: true}),
}

func history(name, budget string, c *copies) spec {
	c.before, c.beyond = (*run).anyLinks, true
	return spec{name: name, doc: "records are appended, forced and cleaned up in any order, while copies fail and return", faults: budget,
		bounds: "6 lives, each with up to 7 operations, on a ring of 5 records", load: workload{room: 5, lives: 6, copies: c, script: (*run).anything}}
}

// anyLinks begins a life that reaches all backups but one, or all. Some have lost power.
func (r *run) anyLinks() {
	if r.h.Rand(3) > 0 {
		r.quiet()
	}
	names := r.load.copies.names()
	out := r.h.Rand(len(names) + 1)
	for i, name := range names {
		r.Heal("app", name)
		switch {
		case i == out:
			r.cut(name)
		case r.life > 0 && r.h.Rand(4) == 0:
			r.Check(r.Inject(faults.Power, name))
		}
	}
}

// anything does up to seven operations.
func (r *run) anything() {
	var live []*arcadia.Record
	if !r.Check(r.log.Each(func(x *arcadia.Record, _ []byte) error { live = append(live, x); return nil })) {
		return
	}
	for range 1 + r.h.Rand(7) {
		switch op := r.h.Rand(16); {
		case op < 10:
			x, goesOn := r.appends()
			if !goesOn {
				return
			}
			if x != nil {
				live = append(live, x)
			}
		case op < 15 && len(live) > 0:
			i := r.h.Rand(len(live))
			if !r.cleanup(live[i]) {
				return
			}
			live = append(live[:i:i], live[i+1:]...)
		case op == 15:
			if !r.cleansAll() {
				return
			}
			live = nil
		}
	}
}

// appends completes a record of some size, and may force it. It returns nil if the log is full.
func (r *run) appends() (x *arcadia.Record, goesOn bool) {
	x, err := r.log.Reserve(8 * (1 + r.h.Rand(3)))
	switch {
	case full(err) || errors.Is(err, arcadia.ErrTooLarge):
		return nil, true
	case r.excused(err) || !r.Check(err):
		return nil, false
	}
	r.Check(r.app.log.Reserve(x.LSN()))
	r.History()
	if !r.fill(x, true) || r.h.Rand(2) == 0 && !r.force(x) {
		return nil, false
	}
	return x, true
}

// cleansAll cleans up all records.
func (r *run) cleansAll() bool {
	r.app.log.CleaningAll()
	r.History()
	if err := r.log.CleanupAll(); r.excused(err) || !r.Check(err) {
		return false
	}
	r.app.log.CleanedAll()
	r.History()
	return true
}
