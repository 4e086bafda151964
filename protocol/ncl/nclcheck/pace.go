package nclcheck

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
)

// paceScenarios are about the times at which Maintained replaces peers, and the fate of the write.
func paceScenarios() []*explore.Scenario {
	four := []string{"peer1", "peer2", "peer3", "peer4"}
	return []*explore.Scenario{
		build(spec{
			name:   "pace",
			doc:    "The library finds no replacement for a failed peer. It tries again later, after a longer pause if the attempt took long; writes continue, each exactly once.",
			faults: "none",
			bounds: "f=1, four peers; the first is cut off and the fourth does not answer; four writes, and four tries at their times",
			load:   workload{f: 1, size: 8, queue: 2, peers: four, lives: [][]write{{{0, 8}}}, script: pacing, hangs: "peer4", exposed: true},
		}),
		build(spec{
			name:   "resume",
			doc:    "Two of three peers are gone, and one replacement is available: a write continues with f+1 peers, or fails if one more peer fails before that.",
			faults: "none",
			bounds: "f=1, four peers; the links to two of three are cut, a write that fails, and another one; the links to the two other peers are cut once the replacement has made them f+1 peers, or not",
			load:   workload{f: 1, size: 8, queue: 2, peers: four, lives: [][]write{{{0, 8}}}, script: resuming, exposed: true},
		}),
		build(spec{
			name:   "overdue",
			doc:    "The completions of a write are late, so the write fails. After a successful replacement of peers it is on f+1 peers, and a recovery without one of them finds it.",
			faults: "timeout(app)<=1",
			bounds: "f=1, four peers; the first is cut off; a write for which a timer fires although nothing is wrong, replacement, before which the links to the two others are cut or not, recovery without the new peer",
			load: workload{f: 1, size: 8, queue: 2, patience: time.Second, peers: four, lives: [][]write{{{0, 8}}}, script: overdue, exposed: true, beyond: true,
				meets: []string{sawOverdue}},
		}),
		build(spec{
			name:   "halfway",
			doc:    "The controller becomes unreachable while peers are replaced. The replacement fails, and releases all resources on the application's host.",
			faults: "none",
			bounds: "f=1, six peers; the fourth has no memory left; two are cut off; a replacement in which all calls to the controller after some point are lost",
			load:   workload{f: 1, size: 8, queue: 2, peers: []string{"peer1", "peer2", "peer3", "peer4", "peer5", "peer6"}, lives: [][]write{{{0, 8}}}, script: halfway, refuses: "peer4", exposed: true},
		}),
	}
}

// counted is a Maintained that counts its repairs, and records the time of the last one.
type counted struct {
	*ncl.Maintained
	tries int
	at    time.Duration
}

// pacing counts the tries.
func pacing(r *run) {
	f := r.create()
	if f == nil {
		return
	}
	m := &counted{Maintained: &ncl.Maintained{File: f, Every: 3 * time.Second}}
	m.Told = func(err error) {
		m.tries++
		m.at = r.h.Now()
		r.expect(fmt.Sprint("a try without peers: ", err), errors.Is(err, ncl.ErrTooFew) && !errors.Is(err, ncl.ErrUnavailable))
		r.h.Sleep(time.Second) // does not count
	}
	tried := func(n int) bool {
		m.Maintain()
		return r.expect(fmt.Sprintf("%d tries instead of %d", m.tries, n), m.tries == n)
	}
	w := r.writes()[0]
	if !r.record(m, w) || !tried(0) || !r.inject(faults.Partition, "app", "peer1") {
		return
	}
	same := r.file.pendData
	for range 2 { // the queue takes one: the second waits until the first has completed or failed everywhere
		if !r.done(f.Record(0, same)) {
			return
		}
	}
	began, stamp := r.h.Now(), f.Stamp()
	if !r.done(m.Record(0, same)) || !r.expect("one write", f.Stamp() == stamp+1) || !tried(1) {
		return
	}
	took := m.at - began
	if !r.expect(fmt.Sprintf("a peer that does not answer within %v", took), took >= ncl.DefaultCallTimeout) {
		return
	}
	until := func(at time.Duration, n int) bool {
		r.h.Sleep(at - time.Millisecond - r.h.Now())
		if !tried(n) {
			return false
		}
		r.h.Sleep(time.Millisecond)
		return tried(n + 1)
	}
	m.Every = 0
	if !until(m.at+10*took, 1) {
		return
	}
	m.Every = 20 * took
	if until(m.at+10*took, 2) { // the last repair preceded the change
		until(m.at+20*took, 3)
	}
}

// resuming loses two peers, and two more.
func resuming(r *run) {
	f := r.create()
	if f == nil {
		return
	}
	again := r.h.Rand(2) == 1
	var told error
	m := &ncl.Maintained{File: f, Told: func(err error) {
		if told = err; again {
			r.inject(faults.Partition, "app", "peer3")
			r.inject(faults.Partition, "app", "peer4")
		}
	}}
	if !r.inject(faults.Partition, "app", "peer1") || !r.inject(faults.Partition, "app", "peer2") ||
		!r.expect("a write with one peer", errors.Is(f.Record(0, make([]byte, 8)), ncl.ErrUnavailable)) {
		return
	}
	if !again {
		r.record(m, r.writes()[0])
		return
	}
	err := m.Record(0, make([]byte, 8))
	r.expect(fmt.Sprintf("a write when all are gone: %v, %v", err, told),
		errors.Is(err, ncl.ErrUnavailable) && errors.Is(told, ncl.ErrTooFew) && !errors.Is(told, ncl.ErrUnavailable))
}

// overdue makes a write late, and then replaces a peer.
func overdue(r *run) {
	f := r.create()
	if f == nil || !r.inject(faults.Partition, "app", "peer1") {
		return
	}
	zeros := make([]byte, 8)
	for range 2 { // the queue takes one
		if !r.done(f.Record(0, zeros)) {
			return
		}
	}
	w := r.writes()[0]
	data := r.file.data(w)
	n, err := r.begin(w, data)
	if !r.done(err) {
		return
	}
	r.expose(true)
	err = f.Record(0, data)
	r.expose(false)
	if !errors.Is(err, ncl.ErrUnavailable) {
		r.done(err)
		return
	}
	if r.h.Rand(2) == 1 && (!r.inject(faults.Partition, "app", "peer2") || !r.inject(faults.Partition, "app", "peer3")) {
		return
	}
	err = f.Repair()
	if r.healAll(); err != nil {
		r.note("unavailable")
		return
	}
	r.Meet(sawOverdue)
	if !r.done(r.file.model.Ack(n)) {
		return
	}
	r.file.pend = write{}
	r.History()
	if !r.inject(faults.Partition, "app", "peer4") {
		return
	}
	f.Close()
	op := r.begins(told{})
	if f, err = ncl.Recover(r.h, r.config(), r.file.name); r.done(err) {
		r.recovered(f, op)
	}
}

// halfway loses the controller during a replacement.
func halfway(r *run) {
	use := &scenario.Short{Host: r.h, Once: &scenario.Once{Failed: true}} // fails nothing, and counts the resources
	d := depart(r.config().Coord, math.MaxInt)
	cfg := r.config()
	cfg.Coord = d
	f, err := ncl.Create(use, cfg, r.file.name, r.load.size)
	if !r.done(err) {
		return
	}
	if !r.inject(faults.Partition, "app", "peer1") || !r.inject(faults.Partition, "app", "peer2") ||
		!r.expect("a write with one peer", errors.Is(f.Record(0, make([]byte, 8)), ncl.ErrUnavailable)) {
		return
	}
	d.left = r.h.Rand(4)
	err = f.Repair()
	r.expect(fmt.Sprintf("a replacement with %d calls to the controller: %v", d.left, err), (err == nil) == (d.left >= 0))
	r.tidy(f)
	if err := use.InUse(); err != nil {
		r.Fail(leaked(err))
	}
}
