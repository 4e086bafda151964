package arcadiacheck

import (
	"errors"
	"slices"
	"strings"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia"
)

// Scenarios are the scenarios of `verbatim check arcadia`.
func Scenarios() []*explore.Scenario {
	var out []*explore.Scenario
	for _, s := range slices.Concat(logs, replicated) {
		out = append(out, build(s))
	}
	return append(out, primitives()...)
}

// DeepScenarios are the scenarios of `verbatim check arcadia --deep`.
func DeepScenarios() []*explore.Scenario {
	var out []*explore.Scenario
	for _, s := range slices.Concat(deep, histories) {
		out = append(out, build(s))
	}
	return out
}

// MatrixScenarios are the scenarios in which the card or the persistence of memory matters, if they stay small with pieces and
// reordered requests: the log on one host, the primitives, and for logs with copies the force, recovery, repair, creation and fence.
// None has media errors, because their units depend on the platform: see [explore/matrix].
func MatrixScenarios() []*explore.Scenario {
	names := []string{"appends", "cleanup-all", "integrity", "atomicity", "cleanup-replicated", "persisted", "fence", "repair-own", "caches", "creation"}
	return slices.DeleteFunc(Scenarios(), func(s *explore.Scenario) bool { return !slices.Contains(names, strings.TrimPrefix(s.Name, "arcadia/")) })
}

var deep = []spec{
	{
		name: "figure-4", doc: "three tasks force their records with frequency 2: the run of figure 4 (4.4), in which F*T = 6 records are lost",
		faults: "power(app)<=1", bounds: "3 tasks, 2 records each, F=2", meets: []string{sawSix},
		load: workload{room: 8, lives: 2, window: 6, script: func(r *run) { r.byPolicy(3, 2, arcadia.Frequency(2)) }},
	},
	{
		name: "window", doc: "three tasks force their records with frequency 2; a failure could lose the records that are complete and not durable, and there are never more than F*T = 6 of them (4.4)",
		faults: "none", bounds: "3 tasks, 3 records each, F=2", meets: []string{sawWindow},
		load: workload{room: 10, lives: 1, script: func(r *run) { r.counted(3, 3, 2) }},
	},
	{
		name: "window-two", doc: "two tasks force their records with frequency 2; a failure could lose the records that are complete and not durable, and there are never more than F*T = 4 of them (4.4)",
		faults: "none", bounds: "2 tasks, 3 records each, F=2", meets: []string{sawWindowTwo},
		load: workload{room: 10, lives: 1, script: func(r *run) { r.counted(2, 3, 2) }},
	},
	{
		name: "frequency-deep", doc: "two tasks force their records with frequency 2, and complete more records than may be lost",
		faults: "power(app)<=1", bounds: "2 tasks, 3 records each, F=2", meets: []string{sawLost, sawTwo, sawEvicted},
		load: workload{room: 8, lives: 2, window: 4, script: func(r *run) { r.byPolicy(2, 3, arcadia.Frequency(2)) }},
	},
}

var logs = []spec{
	{
		name: "local", doc: "records are appended one after the other, the log is opened again, and appended to",
		faults: "crash(app)<=1, power(app)<=2", bounds: "3 lives, 2 records each", meets: []string{sawLost, sawEvicted},
		load: workload{room: 8, lives: 3, script: func(r *run) {
			for range 2 {
				if x := r.put(); x == nil || !r.force(x) {
					return
				}
			}
		}},
	},
	{
		name: "holes", doc: "records that were not forced reach persistent memory or not, and later records take their places",
		faults: "power(app)<=2", bounds: "2 records that are not forced, 1 that is, 3 lives", meets: []string{sawLost, sawEvicted},
		load: workload{room: 8, lives: 3, script: func(r *run) {
			if r.life > 0 {
				if x := r.put(); x != nil {
					r.force(x)
				}
				return
			}
			for n := 0; n < 2 && r.put() != nil; n++ {
			}
		}},
	},
	{
		name: "concurrent", doc: "two tasks fill records in any order; a task that forces waits for the other's record",
		faults: "power(app)<=1", bounds: "2 tasks, 1 and 2 records", meets: []string{sawLost, sawEvicted},
		load: workload{room: 8, lives: 2, script: func(r *run) {
			r.tasks(2, func(i int) {
				for range i + 1 {
					x, err := r.reserve()
					if !r.Check(err) || !r.fill(x, i == 0) || !r.force(x) {
						return
					}
				}
			})
		}},
	},
	{
		name: "frequency", doc: "two tasks force their records with frequency 2 (4.4)",
		faults: "power(app)<=1", bounds: "2 tasks, 2 records each, F=2", meets: []string{sawLost, sawTwo, sawEvicted},
		load: workload{room: 8, lives: 2, window: 4, script: func(r *run) { r.byPolicy(2, 2, arcadia.Frequency(2)) }},
	},
	{
		name: "frequency-alone", doc: "one task forces its records with frequency 2, and completes more records than may be lost",
		faults: "power(app)<=1", bounds: "1 task, 5 records, F=2", meets: []string{sawLost, sawTwo, sawEvicted},
		load: workload{room: 8, lives: 2, window: 2, script: func(r *run) { r.byPolicy(1, 5, arcadia.Frequency(2)) }},
	},
	{
		name: "group", doc: "two tasks commit their records in groups of 2",
		faults: "power(app)<=1", bounds: "2 tasks, 2 records each, groups of 2", meets: []string{sawLost, sawTwo, sawEvicted},
		load: workload{room: 8, lives: 2, window: 4, script: func(r *run) {
			g, err := arcadia.NewGroup(r.h, 2)
			if r.Check(err) {
				r.byPolicy(2, 2, g)
			}
		}},
	},
	{
		name: "ring", doc: "a ring of three records is appended to while the oldest are cleaned up",
		faults: "crash(app)<=1, power(app)<=1", bounds: "5 records, ring of 3, 2 lives", meets: []string{sawFull, sawBack},
		load: workload{room: 3, lives: 2, script: func(r *run) {
			var live []*arcadia.Record
			for range 5 {
				x, err := r.reserve()
				for full(err) {
					r.Meet(sawFull)
					if !r.cleanup(live[0]) {
						return
					}
					live = live[1:]
					x, err = r.reserve()
				}
				if !r.Check(err) || !r.fill(x, true) || !r.force(x) {
					return
				}
				live = append(live, x)
			}
		}},
	},
	{
		name: "cleanup", doc: "records are cleaned up in any order",
		faults: "crash(app)<=1, power(app)<=1", bounds: "3 records, all orders, 2 lives", meets: []string{sawMiddle, sawBack},
		load: workload{room: 4, lives: 2, script: func(r *run) {
			var live []*arcadia.Record
			for range 3 {
				x := r.put()
				if x == nil || !r.force(x) {
					return
				}
				live = append(live, x)
			}
			for len(live) > 0 {
				i := r.h.Rand(len(live))
				if i > 0 {
					r.Meet(sawMiddle)
				}
				if !r.cleanup(live[i]) {
					return
				}
				live = append(live[:i:i], live[i+1:]...)
			}
			if x := r.put(); x != nil {
				r.force(x)
			}
		}},
	},
	{
		name: "clean-and-append", doc: "one task cleans up its record while another appends, so that the log may be empty for a moment",
		faults: "crash(app)<=1, power(app)<=1", bounds: "2 tasks, 1 record each, ring of 2", meets: []string{sawBack},
		load: workload{room: 2, lives: 2, script: func(r *run) {
			first := r.put()
			if first == nil || !r.force(first) {
				return
			}
			r.tasks(2, func(i int) {
				if i == 0 {
					r.cleanup(first)
				} else if x := r.put(); x != nil {
					r.force(x)
				}
			})
		}},
	},
	{
		name: "cleanups", doc: "two tasks clean up a record each at the same time",
		faults: "crash(app)<=1", bounds: "2 tasks, 1 record each, 2 lives", meets: []string{sawBack},
		load: workload{room: 3, lives: 2, script: func(r *run) {
			a, b := r.put(), r.put()
			if b == nil || !r.force(b) {
				return
			}
			r.tasks(2, func(i int) { r.cleanup([]*arcadia.Record{a, b}[i]) })
			r.forced()
		}},
	},
	{
		name: "sizes", doc: "records of two sizes are lost and replaced by others, so that an old record may lie at the place of the next one",
		faults: "power(app)<=1", bounds: "ring of 160 bytes, records of 8 and 40 bytes, 4 lives", meets: []string{sawLost},
		load: workload{room: 5, lives: 4, script: (*run).sizes},
	},
	{
		name: "wrapped", doc: "a log that lies across the end of its ring is opened again, and appended to",
		faults: "crash(app)<=1, power(app)<=1", bounds: "6 records, ring of 3, 3 lives", meets: []string{sawFull},
		load: workload{room: 3, lives: 3, script: (*run).wrapped},
	},
	{
		name: "appends", doc: "one record is reserved, filled and forced in separate calls, and others by Append",
		faults: "crash(app)<=1, power(app)<=1", bounds: "3 records, 2 lives", meets: []string{sawLost},
		load: workload{room: 4, lives: 2, script: func(r *run) {
			if x := r.put(); x == nil || !r.force(x) || !r.append(x.LSN()+1) || !r.append(x.LSN()+2) {
				return
			}
		}},
	},
	{
		name: "reused", doc: "records were cleaned up, not the oldest first; new records take their places, and are not forced",
		faults: "power(app)<=1", bounds: "6 records, ring of 3, 2 lives", meets: []string{sawLost, sawEvicted, sawMiddle},
		load: workload{room: 3, lives: 2, script: func(r *run) {
			a, b, c := r.put(), r.put(), r.put()
			r.Meet(sawMiddle)
			if c == nil || !r.force(c) || !r.cleanup(b) || !r.cleanup(a) {
				return
			}
			if d := r.put(); d == nil || !r.force(d) || !r.cleanup(c) {
				return
			}
			if r.put() != nil {
				r.put()
			}
		}},
	},
	{
		name: "cleanup-all", doc: "the whole log is cleaned up at once, and used again",
		faults: "crash(app)<=1, power(app)<=1", bounds: "2 records, all cleaned up, 1 record, 2 lives", meets: []string{sawBack},
		load: workload{room: 4, lives: 2, script: func(r *run) {
			for range 2 {
				if x := r.put(); x == nil || !r.force(x) {
					return
				}
			}
			r.app.log.CleaningAll()
			r.History()
			if !r.Check(r.log.CleanupAll()) {
				return
			}
			r.app.log.CleanedAll()
			r.History()
			if x := r.put(); x != nil {
				r.force(x)
			}
		}},
	},
}

// sizes leaves an old record behind a record that a later life replaces by a shorter or longer one, so that the next record lies elsewhere.
func (r *run) sizes() {
	switch r.life {
	case 0:
		a, b := r.sized(40), r.sized(8)
		if b != nil && r.force(b) && r.cleanup(a) && r.sized(8) != nil {
			r.sized(8)
		}
	case 1:
		var last *arcadia.Record
		for _, size := range []int{8, 40} {
			x, err := r.reserveSized(size)
			if full(err) { // both are still there
				return
			}
			if !r.Check(err) || !r.fill(x, true) {
				return
			}
			last = x
		}
		r.force(last)
	}
}

// wrapped fills the ring so that the last record lies at its beginning, or finds it in this state.
func (r *run) wrapped() {
	for n := 0; n < 5; n++ {
		x, err := r.reserve()
		if full(err) {
			r.Meet(sawFull)
			var oldest *arcadia.Record
			_ = r.log.Each(func(x *arcadia.Record, _ []byte) error {
				oldest = x
				return errFound
			})
			if oldest == nil || !r.cleanup(oldest) {
				return
			}
			continue
		}
		if !r.Check(err) || !r.fill(x, true) || !r.force(x) {
			return
		}
	}
}

var errFound = errors.New("found")

// append appends a record, which must get the LSN.
func (r *run) append(lsn uint64) bool {
	data := r.content(recordSize)
	r.Check(r.app.log.Reserve(lsn))
	r.Check(r.app.log.Completing(lsn, data))
	r.History()
	x, err := r.log.Append(data)
	if !r.Check(err) {
		return false
	}
	if x.LSN() != lsn {
		r.Failf("lsn-twice", "record %d was appended as %d", lsn, x.LSN())
		return false
	}
	r.Check(r.app.log.Completed(lsn))
	r.Check(r.app.log.Forced(lsn))
	r.History()
	return true
}

// tasks runs n tasks, and waits for all.
func (r *run) tasks(n int, task func(i int)) {
	mu := r.h.NewMutex()
	done, left := r.h.NewCond(mu), n-1
	for i := range n - 1 {
		r.h.Go("writer", func() {
			task(i)
			mu.Lock()
			left--
			done.Signal()
			mu.Unlock()
		})
	}
	task(n - 1)
	mu.Lock()
	for left > 0 {
		done.Wait()
	}
	mu.Unlock()
}

// byPolicy runs n tasks that put m records each, and force them by a policy.
func (r *run) byPolicy(n, m int, p arcadia.Policy) {
	r.tasks(n, func(int) {
		for range m {
			x := r.put()
			if x == nil || !r.Check(p.Force(x)) {
				return
			}
			if f, ok := p.(arcadia.Frequency); ok && x.LSN()%uint64(f) == 0 {
				r.Check(r.app.log.Forced(x.LSN()))
				r.History()
			}
		}
	})
}

// Exceeded is the class of a run with more complete and not yet durable records than 4.4 allows.
const Exceeded = "window-exceeded"

// counted runs n tasks that complete m records each and force them with a frequency. It counts the records that a failure could
// lose: those that are complete and not durable. So no failure is needed. Contents and the model would multiply the states.
func (r *run) counted(n, m, frequency int) {
	r.tasks(n, func(int) {
		for range m {
			x, err := r.log.Reserve(0)
			if !r.Check(err) || !r.Check(x.Complete()) {
				return
			}
			r.complete++
			switch lost := r.complete - r.durable; {
			case lost > n*frequency:
				r.Failf(Exceeded, "%d records are complete and not durable; at most %d may be", lost, n*frequency)
			case lost == 6:
				r.Meet(sawWindow)
			case lost == 4 && n == 2:
				r.Meet(sawWindowTwo)
			}
			r.History()
			if !r.Check(x.Force(frequency)) {
				return
			}
			if x.LSN()%uint64(frequency) == 0 {
				r.durable = max(r.durable, int(x.LSN()))
				r.History()
			}
		}
	})
}
