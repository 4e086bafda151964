package nclcheck

import (
	"errors"
	"fmt"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
)

// paceScenarios are those about when the library replaces peers by itself, and what becomes of the write.
func paceScenarios() []*explore.Scenario {
	four := []string{"peer1", "peer2", "peer3", "peer4"}
	return []*explore.Scenario{
		build(scenario{
			name:   "pace",
			doc:    "The library finds no peer for the place of one that has failed. It tries again after a while, which is longer if the try took long; writes go on, each once.",
			faults: "none",
			bounds: "f=1, four peers of which the first is cut off and the fourth does not answer; four writes, and four tries at their times",
			load:   workload{f: 1, size: 8, queue: 2, peers: four, lives: [][]write{{{0, 8}}}, script: pacing, hangs: "peer4", exposed: true},
		}),
		build(scenario{
			name:   "resume",
			doc:    "Two peers of three are gone, and there is one for their places: a write goes on with f+1 peers, or fails if those are gone once more before it does.",
			faults: "none",
			bounds: "f=1, four peers; the links to two of three are cut, a write that fails, and another one; those to the two others are cut when these have been made f+1, or not",
			load:   workload{f: 1, size: 8, queue: 2, peers: four, lives: [][]write{{{0, 8}}}, script: resuming, exposed: true},
		}),
	}
}

// counted is a library that replaces peers, with how often it tried and when it was told last.
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
		r.h.Sleep(time.Second) // which counts for nothing
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
	if !r.done(f.Record(0, same)) || !r.done(f.Record(0, same)) { // the queue takes one: the second waits until all have the first, or have failed
		return
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
	if until(m.at+10*took, 2) { // the last try came before the change
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
