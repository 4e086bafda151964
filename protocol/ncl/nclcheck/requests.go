package nclcheck

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
)

// requestScenarios are about a peer's handling of a request, whatever its state.
func requestScenarios() []*explore.Scenario {
	two := []string{"peer1", "peer2"}
	writes := [][]write{{{0, 8}, {8, 8}}}
	return []*explore.Scenario{
		build(spec{
			name:   "echo",
			doc:    "A request reaches a peer a second time, at any later moment, when the peer has executed it or it is obsolete: the peer rejects it, unless the peer has no memory for the file, and it changes nothing.",
			faults: "none",
			bounds: "f=0, two peers; creation, an append of 8 bytes, the replacement of a peer that has revoked its memory, recovery, an append, release, creation and release; one request is repeated after a later one",
			load:   workload{f: 0, size: 16, peers: two, lives: writes, script: echoing, collects: true, meets: []string{sawReplaced}},
		}),
		build(spec{
			name:   "leftovers",
			doc:    "A peer has a region of an earlier file with the same name, of an earlier epoch, or an unfinished copy: it can still be used, and keeps one region, without a collection.",
			faults: "none",
			bounds: "f=0, two peers that do not collect; four kinds of leftovers at the first, which is then asked to create the file or to replace a peer; an append, recovery and release",
			load:   workload{f: 0, size: 16, peers: two, lives: writes, script: leftOver, exposed: true},
		}),
		build(spec{
			name:   "serve",
			doc:    "A log peer that cannot start, for lack of any resource, or whose listener fails, reports it and does not register. A caller that asks the controller for files, or asks a peer, gets an error if there is no answer.",
			faults: "none",
			bounds: "one peer, on the application's host; each of its calls to its host or the controller fails, and a list of files; a collection and a revocation at a peer that is cut off",
			load:   workload{f: 0, size: 8, lives: [][]write{{}}, script: serving, exposed: true},
		}),
		build(spec{
			name:   "lone",
			doc:    "The only peer that has a write is cut off during the recovery, which continues without it or has already read it.",
			faults: "partition(app,peer3)<=1",
			bounds: "f=1, three peers, an append of 8 bytes that one peer has and nobody acknowledged; a recovery during which the link to it is cut, and another one",
			load: workload{f: 1, size: 8, peers: []string{"peer1", "peer2", "peer3"}, lives: [][]write{{{0, 8}}, {}, nil}, script: cuttingShort, exposed: true, beyond: true,
				meets: []string{sawUnacked, sawBehind}},
		}),
	}
}

// echo is a host that sends one request to a peer twice.
type echo struct {
	host.Host
	*scenario.Once
	r     *run
	asked []host.Call
}

func (e *echo) Gather(calls []host.Call, timeout time.Duration) host.Gather {
	e.asked = append(e.asked, calls...)
	return echoed{e.Host.Gather(calls, timeout), e}
}

type echoed struct {
	host.Gather
	e *echo
}

func (g echoed) Wait(need int) []host.Answer {
	answers := g.Gather.Wait(need)
	g.e.again()
	return answers
}

// again repeats at most one request. A peer that lends nothing cannot recognize a repeated
// request.
func (e *echo) again() {
	i := e.Pick(len(e.asked))
	if i == 0 {
		return
	}
	c := e.asked[i-1]
	before, err := ncl.Collect(e.Host, c.To, ncl.DefaultCallTimeout)
	if !e.r.done(err) {
		return
	}
	var rejected *host.RemoteError
	_, err = e.Host.Call(c.To, c.Service, c.Body, ncl.DefaultCallTimeout)
	const opRecover, opSwitch = 2, 3 // they need a region of the file
	if taken := before == 0 && c.Body[0] != opRecover && c.Body[0] != opSwitch; !errors.As(err, &rejected) && (err != nil || !taken) {
		e.r.Fail(misjudged(fmt.Sprintf("a repeated request %d", c.Body[0]), err))
		return
	}
	if after, err := ncl.Collect(e.Host, c.To, ncl.DefaultCallTimeout); err != nil || before > 0 && after != before {
		e.r.Fail(lends(c.To, after, before, err))
	}
}

// echoing uses a file while one request is repeated.
func echoing(r *run) {
	e := &echo{Host: r.h, Once: &scenario.Once{By: r.h}, r: r}
	cfg := r.config()
	f, err := ncl.Create(e, cfg, r.file.name, r.load.size)
	if !r.done(err) || !r.record(f, r.writes()[0]) || !r.orphan(f) || !r.done(f.Repair()) || !r.record(f, r.writes()[1]) {
		return
	}
	if !slices.Contains(f.Peers(), "peer1") {
		r.Meet(sawReplaced)
	}
	f.Close()
	op := r.begins(told{})
	if f, err = ncl.Recover(e, cfg, r.file.name); !r.done(err) {
		return
	}
	r.recovered(f, op)
	if !r.record(f, r.writes()[0]) || !r.done(f.Release()) {
		return
	}
	cfg.Peers = []string{"peer2", "peer1"} // first the peer that was asked to join
	r.file.model.Reset()
	r.History()
	if f, err = ncl.Create(e, cfg, r.file.name, r.load.size); !r.done(err) || !r.record(f, r.writes()[0]) {
		return
	}
	e.again()
	if r.record(f, r.writes()[1]) && r.done(f.Release()) {
		e.again()
		r.measure(nil)
	}
}

// orphan makes the only peer of a file revoke its memory, and the handle notice it.
func (r *run) orphan(f *ncl.File) bool {
	same := make([]byte, r.load.size)
	if _, err := f.ReadAt(same, 0); !r.done(err) || !r.revoke(f.Peers()[0]) {
		return false
	}
	return r.expect("a write without peers", errors.Is(f.Record(0, same), ncl.ErrUnavailable))
}

// severed is a host whose link to a peer is cut when the peer has answered the next
// request. The peer then has no copy, so it must not be asked to switch.
type severed struct {
	host.Host
	r       *run
	to, cut string
}

func (s *severed) Gather(calls []host.Call, timeout time.Duration) host.Gather {
	const opSwitch = 3
	for _, c := range calls {
		s.r.expect("a switch without a copy", c.To != s.cut || c.Body[0] != opSwitch)
	}
	return severedGather{s.Host.Gather(calls, timeout), s}
}

type severedGather struct {
	host.Gather
	s *severed
}

func (g severedGather) Wait(need int) []host.Answer {
	answers := g.Gather.Wait(need)
	if to := g.s.to; to != "" {
		g.s.to, g.s.cut = "", to
		g.s.r.inject(faults.Partition, "app", to)
	}
	return answers
}

// leftOver creates a file where a region or a copy of it already exists.
func leftOver(r *run) {
	use := &scenario.Short{Host: r.h, Once: &scenario.Once{Failed: true}} // fails nothing, and counts the resources
	s := &severed{Host: use, r: r}
	create := func(peers ...string) *ncl.File {
		cfg := r.config()
		cfg.Peers = peers
		f, err := ncl.Create(s, cfg, r.file.name, r.load.size)
		r.done(err)
		return f
	}
	var f *ncl.File
	switch r.h.Rand(4) {
	case 0: // a region of an earlier file
		if f = create("peer1", "peer2"); f == nil || !r.inject(faults.Partition, "app", "peer1") || !r.done(f.Release()) {
			return
		}
		r.healAll()
		f = nil
	case 1: // an unfinished copy of an earlier file
		if f = create("peer2", "peer1"); f == nil || !r.begun(s, f) || !r.done(f.Release()) {
			return
		}
		f = nil
	case 2: // an unfinished copy of this file
		if f = create("peer2", "peer1"); f == nil || !r.begun(s, f) {
			return
		}
	case 3: // an unfinished copy beside a region of this file
		if f = create("peer1"); f == nil || !r.inject(faults.Partition, "app", "peer1") || f.Record(0, make([]byte, 8)) == nil {
			return
		}
		r.healAll()
		if r.h.Rand(2) == 1 && !r.unmended(s, f) {
			return
		}
	}
	if f == nil {
		switch r.h.Rand(2) {
		case 0:
			f = create("peer1", "peer2")
		case 1:
			if f = create("peer2", "peer1"); f == nil || !r.orphan(f) {
				return
			}
		}
	}
	if f == nil || !r.done(f.Repair()) || !r.expect("the first peer", slices.Equal(f.Peers(), []string{"peer1"})) || !r.measure(f.Peers()) {
		return
	}
	if !r.record(f, r.writes()[0]) {
		return
	}
	f.Close()
	op := r.begins(told{})
	f, err := ncl.Recover(use, r.config(), r.file.name)
	if !r.done(err) {
		return
	}
	if r.recovered(f, op); !r.measure(f.Peers()) || !r.done(f.Release()) || !r.measure(nil) {
		return
	}
	if err := use.InUse(); err != nil {
		r.Fail(leaked(err))
	}
}

// begun leaves an unfinished copy at peer1, which was to replace the other peer.
func (r *run) begun(s *severed, f *ncl.File) bool { return r.orphan(f) && r.unmended(s, f) }

// unmended makes a Repair fail once peer1 has set up a region for the copy.
func (r *run) unmended(s *severed, f *ncl.File) bool {
	s.to = "peer1"
	err := f.Repair()
	s.cut = ""
	r.healAll()
	return r.expect("a Repair whose new peer is cut off", errors.Is(err, ncl.ErrUnavailable))
}

// startup is a host on which a log peer starts. Its listener closes at once.
type startup struct {
	*scenario.Short
	waited []time.Duration
}

func (s *startup) Listen(string) (host.Listener, error) {
	return s, s.Do(func() error { return nil })
}

func (s *startup) Accept(timeout time.Duration) (host.Request, error) {
	s.waited = append(s.waited, timeout)
	return nil, host.ErrClosed
}

func (s *startup) Close() error { return nil }

// serving starts as a log peer, and lacks a resource.
func serving(r *run) {
	known := func(want int) bool {
		peers, err := ncl.Peers(r.config().Coord)
		return r.done(err) && r.expect(fmt.Sprintf("%d peers that have registered", len(peers)), len(peers) == want)
	}
	begin := func(o *scenario.Once, memory int) (*startup, error) {
		s := &startup{Short: &scenario.Short{Host: r.h, Once: o}}
		return s, ncl.ServePeer(s, ncl.PeerConfig{Memory: memory, Coord: o.Losing(r.config().Coord), CollectEvery: time.Minute})
	}
	s, err := begin(&scenario.Once{Failed: true}, 8)
	if !r.expect("a peer that lends nothing", errors.Is(err, ncl.ErrConfig) && len(s.waited) == 0) || !known(0) {
		return
	}
	s, err = begin(&scenario.Once{By: r.h}, 100)
	if s.Failed {
		if !r.expect(fmt.Sprint("a peer that cannot begin: ", err), errors.Is(err, scenario.ErrLost) && errors.Is(err, coord.ErrUnavailable) && len(s.waited) == 0) || !known(0) {
			return
		}
		s, err = begin(s.Once, 100)
	}
	if !r.expect(fmt.Sprintf("a peer that begins: %v, waits of %v", err, s.waited), errors.Is(err, host.ErrClosed) && slices.Equal(s.waited, []time.Duration{time.Minute})) || !known(1) {
		return
	}
	before := s.Failed
	_, err = ncl.Files(s.Once.Losing(r.config().Coord), r.file.app)
	if r.expect(fmt.Sprint("a list of files: ", err), errors.Is(err, scenario.ErrLost) == (s.Failed != before)) && r.inject(faults.Partition, "app", "peer1") {
		_, err = ncl.Collect(r.h, "peer1", time.Second)
		r.expect("a collection out of reach", errors.Is(err, host.ErrUnreachable))
		r.expect("a revocation out of reach", errors.Is(ncl.Revoke(r.h, "peer1", time.Second), host.ErrUnreachable))
	}
}
