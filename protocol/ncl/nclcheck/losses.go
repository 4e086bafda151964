package nclcheck

import (
	"errors"
	"fmt"
	"slices"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
)

// lossScenarios are the scenarios in which one call fails, which may be any.
func lossScenarios() []*explore.Scenario {
	two := []string{"peer1", "peer2"}
	return []*explore.Scenario{
		build(spec{
			name:   "lost-call",
			doc:    "Any one call to the controller, or its answer, is lost. The operation fails with that error or not at all, and succeeds when repeated; nothing is lost or leaked.",
			faults: "none",
			bounds: "f=0, two peers that register; creation, an append of 8 bytes, another once the peer has revoked its memory and was replaced, recovery, release, creation and release; each again if it fails",
			load: workload{f: 0, size: 16, peers: two, lives: [][]write{{{0, 8}, {8, 8}}}, script: losingCalls, registered: true,
				meets: []string{sawUnheard, sawReplaced}},
		}),
		build(spec{
			name:   "shortage",
			doc:    "One allocation of any kind fails on the application's host: memory, a queue pair, a registration. The operation fails with that error or not at all, and succeeds when repeated; nothing is lost or leaked.",
			faults: "none",
			bounds: "as in ncl/lost-call",
			load: workload{f: 0, size: 16, peers: two, lives: [][]write{{{0, 8}, {8, 8}}}, script: runningShort, registered: true,
				meets: []string{sawShort, sawReplaced}},
		}),
		build(spec{
			name:   "hearsay",
			doc:    "A call of a peer to the controller, or its answer, is lost, possibly while the peer looks for leaked regions: it keeps the file's region, and after its next answer the controller knows how much it lends.",
			faults: "none",
			bounds: "f=0, two peers that register; one loses a call; as in ncl/lost-call",
			load: workload{f: 0, size: 16, peers: two, lives: [][]write{{{0, 8}, {8, 8}}}, script: hearing, registered: true, mishears: "peer1",
				meets: []string{sawReplaced}},
		}),
		build(spec{
			name:   "scarce",
			doc:    "One allocation of any kind fails on a log peer's host. The peer rejects the request, and the operation succeeds when repeated; nothing is lost or leaked.",
			faults: "none",
			bounds: "f=0, two peers, one of them with the failing allocation; as in ncl/lost-call",
			load: workload{f: 0, size: 16, peers: two, lives: [][]write{{{0, 8}, {8, 8}}}, script: doingAgain, collects: true, scarce: "peer2",
				meets: []string{sawReplaced, sawAnew}},
		}),
	}
}

// losingCalls loses a call to the controller, or its answer.
func losingCalls(r *run) {
	use := &scenario.Short{Host: r.h, Once: &scenario.Once{Failed: true}} // fails nothing, and counts the resources
	once := &scenario.Once{By: r.h, Answers: true}
	if !r.useOf(use, once.Losing(r.config().Coord), r.lost(sawUnheard)) {
		return
	}
	if err := use.InUse(); err != nil {
		r.Fail(leaked(err))
	}
}

// runningShort fails one allocation.
func runningShort(r *run) {
	s := &scenario.Short{Host: r.h, Once: &scenario.Once{By: r.h}}
	if !r.useOf(s, r.config().Coord, r.lost(sawShort)) {
		return
	}
	if err := s.InUse(); err != nil {
		r.Fail(leaked(err))
	}
}

// hearing makes a peer lose a call.
func hearing(r *run) {
	if !r.useOf(r.h, r.config().Coord, r.lost(sawUnheard)) {
		return
	}
	peers, err := ncl.Peers(r.config().Coord)
	for _, p := range peers {
		if want := r.load.memory(p.Name); p.Err != nil || p.Left != want {
			err = errors.Join(err, fmt.Errorf("according to the controller %s has %d bytes left, but it has %d: %w", p.Name, p.Left, want, p.Err))
		}
	}
	if err != nil {
		r.Fail(leaked(err))
	}
}

// lost reports whether an operation failed because of the loss.
func (r *run) lost(saw string) func(error) bool {
	return func(err error) bool {
		if !errors.Is(err, scenario.ErrLost) {
			return false
		}
		r.Meet(saw)
		return true
	}
}

// useOf uses a file, on h and with the controller c. One of the two may make a call fail:
// useOf repeats an operation that failed for that reason. It reports whether all
// expectations held.
func (r *run) useOf(h host.Host, c coord.Client, excused func(error) bool) bool {
	x := r.file
	cfg := r.config()
	cfg.Coord = c
	var f *ncl.File
	again := func(do func() error) bool {
		err := do()
		if err != nil && excused(err) {
			err = do()
		}
		if r.load.mishears != "" { // the list may lack the new file
			_, collected := ncl.Collect(h, r.load.mishears, ncl.DefaultCallTimeout)
			err = errors.Join(err, collected)
		}
		return r.done(err)
	}
	create := func() (err error) { f, err = ncl.Create(h, cfg, x.name, r.load.size); return }
	w := r.writes()[0]
	if !again(create) {
		return false
	}
	data := x.data(w)
	if !r.issue(f, w, data) {
		return false
	}
	first := f.Peers()[0]
	if !r.inject(faults.Revoke, first) {
		return false
	}
	if err := f.Record(w.off, data); !errors.Is(err, ncl.ErrUnavailable) { // the same bytes: it only notices the loss
		return r.done(misjudged("a write without peers", err))
	}
	w = r.writes()[1]
	data = x.data(w)
	n, err := r.begin(w, data)
	m := &ncl.Maintained{File: f}
	if !r.done(err) || !again(func() error { return m.Record(w.off, data) }) || !r.done(x.model.Ack(n)) {
		return false
	}
	if !slices.Contains(f.Peers(), first) {
		r.Meet(sawReplaced)
	}
	x.pend = write{}
	r.History()
	f.Close()
	op := r.begins(told{})
	if !again(func() (err error) { f, err = ncl.Recover(h, cfg, x.name); return }) {
		return false
	}
	r.recovered(f, op)
	if !again(f.Release) {
		return false
	}
	f.Close()
	if !again(create) {
		return false
	}
	x.model.Reset()
	r.History()
	op = r.begins(told{})
	r.recovered(f, op)
	if !again(f.Release) {
		return false
	}
	f.Close()
	return r.measure(nil)
}
