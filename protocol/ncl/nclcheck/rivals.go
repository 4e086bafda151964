package nclcheck

import (
	"errors"
	"fmt"
	"slices"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
)

// rivalScenarios are about two instances that do the same concurrently.
func rivalScenarios() []*explore.Scenario {
	return []*explore.Scenario{
		build(spec{
			name:   "rivals",
			doc:    "Another instance creates or recovers the file, from beginning to end, before one call to the controller with which this one creates, recovers or deletes it. One of the two gets the file, the other gets an error; nothing is lost or leaked.",
			faults: "none",
			bounds: "f=0, two peers; creation, an append of 8 bytes, recovery, an append, release, with a rival once; a creation of a file that is there",
			load: workload{f: 0, size: 16, peers: []string{"peer1", "peer2"}, lives: [][]write{{{0, 8}, {8, 8}}}, script: rivaling, collects: true,
				meets: []string{sawRivalHas, sawRivalLost}},
		}),
		build(spec{
			name:   "unfinished",
			doc:    "A creation does not finish, because the controller becomes unreachable. An instance recovers or creates the file while another one creates it: in the end one has the file, or none if none created it.",
			faults: "none",
			bounds: "f=0, two peers; a creation from one of whose calls to the controller on none is carried out; a recovery, or a creation, with a rival once that creates the file; recovery, release",
			load: workload{f: 0, size: 16, peers: []string{"peer1", "peer2"}, lives: [][]write{{{0, 8}, {8, 8}}}, script: completing, collects: true,
				meets: []string{sawUnheard, sawRivalHas, sawRivalLost}},
		}),
		build(spec{
			name:   "late-rival",
			doc:    "Like the recovery of ncl/rivals, without one of the peers: either the final change of the ap-map comes too late, or the rival does.",
			faults: "none",
			bounds: "f=1, three peers; one has revoked its memory; recovery with a rival once",
			load: workload{f: 1, size: 8, peers: []string{"peer1", "peer2", "peer3"}, lives: [][]write{{{0, 8}}}, script: rivalingLate, collects: true,
				meets: []string{sawRivalHas, sawRivalLost}},
		}),
		build(spec{
			name:   "doubt",
			doc:    "The answer to a change of the ap-map is lost, or the change. Before the instance asks whether it was made, another one recovers the file, and may delete it: then the first cannot replace a peer, and deletes nothing.",
			faults: "none",
			bounds: "f=1, four peers; one has revoked its memory; an append of 8 bytes, a replacement of which one call to the controller or its answer is lost, recovery by another instance, which may delete the file, and then a Repair or a Release by the first",
			load: workload{f: 1, size: 8, peers: fourPeers, lives: [][]write{{{0, 8}}}, script: doubting, collects: true,
				meets: []string{sawUnheard}},
		}),
	}
}

// meddled is a controller's client; a rival acts before one of its calls about a key.
type meddled struct {
	coord.Client
	*scenario.Once
	meddle func()
}

func meddle(c coord.Client, h host.Host) *meddled {
	m := &meddled{Once: &scenario.Once{By: h}}
	m.Client = scenario.Around(c, func(op string, call func() error) error {
		if aboutKey(op) && m.meddle != nil && m.Pick(1) == 1 {
			m.meddle()
		}
		return call()
	})
	return m
}

func aboutKey(op string) bool { return slices.Contains([]string{"get", "create", "set", "delete"}, op) }

// rivaling is the life of an instance with a rival.
func rivaling(r *run) {
	m := meddle(r.config().Coord, r.h)
	cfg := r.config()
	cfg.Coord = m
	create := func() (*ncl.File, error) { return ncl.Create(r.h, cfg, r.file.name, r.load.size) }
	recover := func() (*ncl.File, error) { return ncl.Recover(r.h, cfg, r.file.name) }
	f := r.contest(m, create, create)
	if f == nil || !r.record(f, r.writes()[0]) {
		return
	}
	if _, err := create(); !errors.Is(err, ncl.ErrExists) {
		r.Fail(misjudged("a file of a name that is taken", err))
		return
	}
	f.Close()
	op := r.begins(told{})
	if f = r.contest(m, recover, recover); f == nil {
		return
	}
	r.recovered(f, op)
	if !r.record(f, r.writes()[1]) {
		return
	}
	op = r.begins(told{})
	release := func() (*ncl.File, error) { return nil, f.Release() }
	if f = r.contest(m, release, recover); f != nil {
		r.recovered(f, op)
		if !r.done(f.Release()) {
			return
		}
	}
	r.measure(nil)
}

// contest lets a rival act during do. It returns the handle of the one that then owns
// the file.
func (r *run) contest(m *meddled, do, rival func() (*ncl.File, error)) *ncl.File {
	var theirs *ncl.File
	var failed error
	met := false
	m.meddle = func() {
		met = true
		theirs, failed = rival()
	}
	mine, err := do()
	m.meddle = nil
	switch {
	case !met:
		r.done(err)
		return mine
	case failed != nil:
		r.Fail(unavailable(failed))
		return nil
	case errors.Is(err, ncl.ErrStale) || errors.Is(err, ncl.ErrExists):
		r.Meet(sawRivalHas)
		return theirs
	case err != nil || mine == nil || mine.Stamp().Epoch() <= theirs.Stamp().Epoch():
		r.Fail(misjudged("what a rival has done before", err))
		return nil
	}
	r.Meet(sawRivalLost)
	same := make([]byte, theirs.Size())
	if _, err := theirs.ReadAt(same, 0); err != nil || theirs.Record(0, same) == nil {
		r.Fail(zombieAcked())
	}
	theirs.Close()
	return mine
}

// departed is a controller's client that stops carrying out calls about a key.
type departed struct {
	coord.Client
	left int
}

func depart(c coord.Client, after int) *departed {
	d := &departed{left: after}
	d.Client = scenario.Around(c, func(op string, call func() error) error {
		if aboutKey(op) {
			if d.left--; d.left < 0 {
				return coord.ErrUnavailable
			}
		}
		return call()
	})
	return d
}

// completing finds a file with an unfinished creation.
func completing(r *run) {
	cfg := r.config()
	begin := cfg
	begin.Coord = depart(cfg.Coord, r.h.Rand(6))
	f, err := ncl.Create(r.h, begin, r.file.name, r.load.size)
	switch {
	case err == nil:
		r.done(f.Release())
		return
	case !r.expect(fmt.Sprint("a creation without controller: ", err), errors.Is(err, coord.ErrUnavailable)):
		return
	}
	r.Meet(sawUnheard)
	m := meddle(cfg.Coord, r.h)
	watched := cfg
	watched.Coord = m
	create := func() (*ncl.File, error) { return ncl.Create(r.h, cfg, r.file.name, r.load.size) }
	mine := func() (*ncl.File, error) {
		f, err := ncl.Recover(r.h, watched, r.file.name)
		if !m.Failed && errors.Is(err, ncl.ErrNotFound) {
			return create()
		}
		return f, err
	}
	if r.h.Rand(2) == 1 {
		mine = func() (*ncl.File, error) { return ncl.Create(r.h, watched, r.file.name, r.load.size) }
	}
	if f = r.contest(m, mine, create); f == nil || !r.record(f, r.writes()[0]) {
		return
	}
	f.Close()
	op := r.begins(told{})
	if f, err = ncl.Recover(r.h, cfg, r.file.name); !r.done(err) {
		return
	}
	r.recovered(f, op)
	if r.record(f, r.writes()[1]) && r.listed(true) && r.done(f.Release()) && r.listed(false) {
		r.measure(nil)
	}
}

// rivalingLate recovers a file that has lost a peer, with a rival.
func rivalingLate(r *run) {
	m := meddle(r.config().Coord, r.h)
	cfg := r.config()
	cfg.Coord = m
	f := r.create()
	if f == nil || !r.record(f, r.writes()[0]) || !r.revoke("peer3") {
		return
	}
	f.Close()
	op := r.begins(told{})
	recover := func() (*ncl.File, error) { return ncl.Recover(r.h, cfg, r.file.name) }
	if f = r.contest(m, recover, recover); f != nil {
		r.recovered(f, op)
	}
}

// doubting cannot know whether a change of the ap-map was made, and another instance takes the file over.
func doubting(r *run) {
	once := &scenario.Once{By: r.h, Answers: true, Failed: true}
	cfg := r.config()
	cfg.Coord = once.Losing(cfg.Coord)
	f, err := ncl.Create(r.h, cfg, r.file.name, r.load.size)
	if !r.done(err) || !r.revoke("peer1") || !r.record(f, r.writes()[0]) {
		return
	}
	once.Failed = false // from now on a call may be lost
	if err = f.Repair(); !once.Failed {
		r.done(err)
		return
	}
	if !r.expect(fmt.Sprint("a Repair of which a call was lost: ", err), errors.Is(err, scenario.ErrLost)) {
		return
	}
	r.Meet(sawUnheard)
	op := r.begins(told{})
	theirs, err := ncl.Recover(r.h, r.config(), r.file.name)
	if !r.done(err) {
		return
	}
	r.recovered(theirs, op)
	deleted := r.h.Rand(2) == 1
	if deleted && !r.done(theirs.Release()) {
		return
	}
	if r.h.Rand(2) == 1 {
		err = f.Release()
		r.expect(fmt.Sprint("a Release of a file that was taken: ", err), errors.Is(err, ncl.ErrStale) || deleted && err == nil)
		return
	}
	err = f.Repair()
	r.expect(fmt.Sprint("a Repair of a file that was taken: ", err), errors.Is(err, ncl.ErrStale))
}
