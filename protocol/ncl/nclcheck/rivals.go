package nclcheck

import (
	"errors"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
)

// rivalScenarios are those of two instances that do the same at the same time.
func rivalScenarios() []*explore.Scenario {
	return []*explore.Scenario{
		build(scenario{
			name:   "rivals",
			doc:    "Another instance creates or recovers the file, from beginning to end, before one call to the controller with which this one creates, recovers or deletes it. One of the two has the file, the other learns of it; nothing is lost or leaked.",
			faults: "none",
			bounds: "f=0, two peers; creation, an append of 8 bytes, recovery, an append, release, with a rival once; a creation of a file that is there",
			load: workload{f: 0, size: 16, peers: []string{"peer1", "peer2"}, lives: [][]write{{{0, 8}, {8, 8}}}, script: rivaling, collects: true,
				meets: []condition{sawRivalHas, sawRivalLost}},
		}),
	}
}

// meddled is a controller's client before one of whose calls somebody else acts.
type meddled struct {
	coord.Client
	*once
	meddle func()
}

func (m *meddled) now() {
	if m.meddle != nil && m.pick(1) == 1 {
		m.meddle()
	}
}

func (m *meddled) Get(key string) ([]byte, uint64, error) {
	m.now()
	return m.Client.Get(key)
}

func (m *meddled) Create(key string, value []byte, s coord.Session) error {
	m.now()
	return m.Client.Create(key, value, s)
}

func (m *meddled) Set(key string, value []byte, ifVersion uint64) (uint64, error) {
	m.now()
	return m.Client.Set(key, value, ifVersion)
}

func (m *meddled) Delete(key string, ifVersion uint64) error {
	m.now()
	return m.Client.Delete(key, ifVersion)
}

// rivaling is the life of an instance with a rival.
func rivaling(r *run) {
	m := &meddled{Client: r.config().Coord, once: &once{host: r.h}}
	cfg := r.config()
	cfg.Coord = m
	create := func() (*ncl.File, error) { return ncl.Create(r.h, cfg, r.file.name, r.load.size) }
	recover := func() (*ncl.File, error) { return ncl.Recover(r.h, cfg, r.file.name) }
	f := r.contest(m, create, create)
	if f == nil || !r.record(f, r.writes()[0]) {
		return
	}
	if _, err := create(); !errors.Is(err, ncl.ErrExists) {
		r.c.Fail(&misjudged{"a file of a name that is taken", err})
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

// contest lets a rival act while do goes on. It returns the handle of the one that has the file then.
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
		r.c.Fail(&unavailable{failed})
		return nil
	case errors.Is(err, ncl.ErrStale) || errors.Is(err, ncl.ErrExists):
		r.meet(sawRivalHas)
		return theirs
	case err != nil || mine == nil || mine.Stamp().Epoch() <= theirs.Stamp().Epoch():
		r.c.Fail(&misjudged{"what a rival has done before", err})
		return nil
	}
	r.meet(sawRivalLost)
	same := make([]byte, theirs.Size())
	if _, err := theirs.ReadAt(same, 0); err != nil || theirs.Record(0, same) == nil {
		r.c.Fail(&zombieAcked{})
	}
	theirs.Close()
	return mine
}
