package nclcheck

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
)

// candidateScenarios are about the peers that an application asks.
func candidateScenarios() []*explore.Scenario {
	peers := []string{"peer1", "peer2", "peer3", "peer4", "peer5", "peer6", "peer7"}
	return []*explore.Scenario{
		build(spec{
			name:   "candidates",
			doc:    "One candidate has no memory left, and another does not answer, at any positions in the list. The application asks no more candidates than needed until one does not answer; then it asks the rest concurrently, and releases those not needed.",
			faults: "none",
			bounds: "f=1, seven candidates in cyclic order from any position; creation, the replacement of a peer that has revoked its memory, and a check for resources in use on the application's host",
			load: workload{f: 1, size: 8, queue: 2, peers: peers, lives: [][]write{{{0, 8}}}, script: choosing, refuses: "peer3", hangs: "peer5",
				meets: []string{sawReplaced}},
		}),
		build(spec{
			name:   "periodic",
			doc:    "Peers look for leaked regions every minute, unasked: a leaked region is freed within a few minutes, and a file's region stays.",
			faults: "none",
			bounds: "f=0, two peers that register; a file that is deleted while its peer is out of reach, then a minute and a half; and a file that stays, then three minutes",
			load:   workload{f: 0, size: 16, peers: peers[:2], lives: [][]write{{{0, 8}, {8, 8}}}, script: letting, registered: true, every: time.Minute},
		}),
	}
}

// letting lets time pass while peers look for leaked regions.
func letting(r *run) {
	pass := func(times time.Duration) { r.h.Sleep(times*r.load.every + r.load.every/2) }
	f := r.create()
	if f == nil || !r.inject(faults.Partition, "app", f.Peers()[0]) || !r.done(f.Release()) {
		return
	}
	r.healAll()
	pass(1) // the first collection finds the region, and updates the controller
	for _, name := range r.load.names() {
		if !r.figure(name, 0, 1) {
			return
		}
	}
	if f = r.create(); f == nil || !r.record(f, r.writes()[0]) {
		return
	}
	pass(3)
	if r.record(f, r.writes()[1]) && r.figure(f.Peers()[0], r.region(f.Peers(), f.Peers()[0]), 1) && r.done(f.Release()) {
		r.measure(nil)
	}
}

// choosing creates a file and replaces one of its peers, and counts the peers that it
// asks.
func choosing(r *run) {
	use := &scenario.Short{Host: r.h, Once: &scenario.Once{Failed: true}} // fails nothing, and counts the resources
	h := &asking{Host: use}
	cfg := r.config()
	turn := r.h.Rand(len(cfg.Peers))
	cfg.Peers = slices.Concat(cfg.Peers[turn:], cfg.Peers[:turn])
	f, err := ncl.Create(h, cfg, r.file.name, r.load.size)
	if !r.done(err) || !r.done(h.modest(cfg.Peers, 3)) || !r.record(f, r.writes()[0]) {
		return
	}
	first, others := f.Peers()[0], f.Peers()[1:]
	if !r.inject(faults.Revoke, first) {
		return
	}
	same := r.file.got[:r.load.size]
	if _, err := f.ReadAt(same, 0); !r.done(err) || !r.done(f.Record(0, same)) || !r.done(f.Record(0, same)) {
		return // the queue takes one write: the second waits until the first has completed or failed at all peers
	}
	h.rounds = nil
	rest := slices.DeleteFunc(slices.Clone(cfg.Peers), func(p string) bool { return p == first || slices.Contains(others, p) })
	if !r.done(f.Repair()) || !r.done(h.modest(append(rest, first), 1)) {
		return
	}
	if !slices.Contains(f.Peers(), first) {
		r.Meet(sawReplaced)
	}
	r.tidy(f)
	if err := use.InUse(); err != nil {
		r.Fail(leaked(err))
	}
}

// asking is a host that records the batches of its requests, and the number of peers that
// took part.
type asking struct {
	host.Host
	rounds []*round
}

type round struct {
	host.Gather
	asked  []string
	took   int
	silent bool
}

func (a *asking) Gather(calls []host.Call, timeout time.Duration) host.Gather {
	x := &round{Gather: a.Host.Gather(calls, timeout)}
	for _, c := range calls {
		x.asked = append(x.asked, c.To)
	}
	a.rounds = append(a.rounds, x)
	return x
}

func (x *round) Wait(need int) []host.Answer {
	answers := x.Gather.Wait(need)
	for _, a := range answers {
		if a.Err == nil {
			x.took++
		}
		x.silent = x.silent || errors.Is(a.Err, host.ErrTimeout)
	}
	return answers
}

// modest returns nil if the search for need peers in the list asked no more than it should.
func (a *asking) modest(list []string, need int) error {
	silent := false
	for _, x := range a.rounds {
		if need <= 0 {
			return nil // the rest is about candidates that take part
		}
		want := list[:min(need, len(list))]
		if silent {
			want = list
		}
		if !slices.Equal(x.asked, want) {
			return misjudged(fmt.Sprintf("that %v are asked, and not %v,", x.asked, want), nil)
		}
		need -= x.took
		silent = silent || x.silent
		list = list[len(want):]
	}
	return nil
}
