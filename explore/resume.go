package explore

import (
	"compress/gzip"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/verbatim-rdma/verbatim/internal/whole"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// ErrResume is wrapped by errors about a file to resume from.
var ErrResume = errors.New("explore: cannot resume")

// snapshotVersion is the version of the file; 2 counts choices by kind, 3 has totals,
// 4 the regime of timers.
const snapshotVersion = 4

// snapshot is a search on disk: the state graph and what is left to do.
type snapshot struct {
	Version                   int
	Scenario, Profile, Faults string
	Timers                    string
	Strengthen                sim.Strengthen
	// Probe is the trace of the default run: a changed scenario has another.
	Probe   uint64
	Totals  totals
	Spawned float64
	Kinds   [16]uint64 // of choices
	Edges   uint64
	Depth   int
	Eager   float64
	States  []snapState
	Prints  []uint64
	Events  []snapEvent
	Uses    []snapUse
	Orders  [][]uint8
	Renames [][]uint8
	Jobs    []snapJob
}

type snapState struct {
	Parent int32
	Actor  sim.Actor
	Inner  []uint16
	First  int32
	N      uint8
	Depth  uint32
	Order  uint16
	Tried  uint64
	Future []uint64
	In     []snapEdge
}

type snapEdge struct {
	From   int32
	Actor  sim.Actor
	Foot   []sim.Access
	Rename uint16
	Seen   []uint64
	Needs  []sim.Actor
}

type snapEvent struct {
	Actor sim.Actor
	Clash uint64
}

type snapUse struct {
	Actor sim.Actor
	Acc   sim.Access
}

type snapJob struct {
	At    int32
	Actor sim.Actor
	Inner []uint16
}

// probe is the trace of the default run.
func probe(c *Case) uint64 {
	g := newGuide(c.w, []Decision{})
	g.limit = 100000
	_, _ = c.run(g)
	return g.trace
}

// save writes the search to a file, whole or not at all.
func (x *search) save(path string, r *Result, c *Case) error {
	snap := x.snapshot(r)
	snap.Probe = probe(c)
	err := whole.Write(path, func(w io.Writer) error {
		z := gzip.NewWriter(w)
		return errors.Join(gob.NewEncoder(z).Encode(snap), z.Close())
	})
	if err != nil {
		return fmt.Errorf("explore: save the search: %w", err)
	}
	return nil
}

func (x *search) snapshot(r *Result) *snapshot {
	g := x.g
	s := &snapshot{Version: snapshotVersion, Scenario: r.Scenario, Profile: r.Profile, Faults: r.Faults, Timers: r.Timers.String(), Strengthen: r.Strengthen,
		Totals: x.totals, Spawned: x.spawned, Kinds: x.choices, Edges: g.edges, Depth: x.depth, Eager: x.eager, Orders: g.orders}
	s.Prints = make([]uint64, len(g.states))
	//lint:ordered each print goes to its own state's place
	for p, id := range g.byPrint {
		s.Prints[id] = p
	}
	for i := range g.states {
		a := &g.states[i]
		b := snapState{int32(a.parent), a.via.actor, a.via.inner, a.first, a.n, a.depth, a.order, a.tried, a.future, nil}
		for _, e := range a.in {
			b.In = append(b.In, snapEdge{int32(e.from), e.actor, e.foot, e.rename, e.seen, e.needs})
		}
		s.States = append(s.States, b)
	}
	for _, e := range g.events {
		s.Events = append(s.Events, snapEvent{e.actor, e.clash})
	}
	for _, u := range g.uses {
		s.Uses = append(s.Uses, snapUse{u.actor, u.acc})
	}
	for _, p := range g.renames {
		s.Renames = append(s.Renames, p.perm)
	}
	for _, j := range g.jobs {
		s.Jobs = append(s.Jobs, snapJob{int32(j.at), j.actor, j.inner})
	}
	return s
}

// load continues from a file that save wrote.
func (x *search) load(path string, r *Result, c *Case) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrResume, err)
	}
	defer f.Close()
	var s snapshot
	z, err := gzip.NewReader(f)
	if err == nil {
		err = gob.NewDecoder(z).Decode(&s)
	}
	switch {
	case err != nil:
		return fmt.Errorf("%w: %s is not a saved search: %w", ErrResume, path, err)
	case s.Version != snapshotVersion:
		return fmt.Errorf("%w: %s was saved by another version of this program (file version %d, this one reads %d): start the search anew", ErrResume, path,
			s.Version, snapshotVersion)
	case s.Scenario != r.Scenario || s.Profile != r.Profile || s.Faults != r.Faults:
		return fmt.Errorf("%w: %s is a search of %s with profile %s and faults %q, not of %s with %s and %q", ErrResume,
			path, s.Scenario, s.Profile, s.Faults, r.Scenario, r.Profile, r.Faults)
	case s.Timers != r.Timers.String():
		return fmt.Errorf("%w: %s is a search with timers %s, not %s", ErrResume, path, s.Timers, r.Timers)
	case s.Strengthen != r.Strengthen:
		return fmt.Errorf("%w: %s is a search with the strengthening %q, not %q", ErrResume, path, s.Strengthen, r.Strengthen)
	case s.Probe != probe(c):
		return fmt.Errorf("%w: %s was made with other code: start the search anew", ErrResume, path)
	}
	return x.restore(&s)
}

func (x *search) restore(s *snapshot) error {
	g := x.g
	g.jobs, g.events, g.states = nil, nil, nil
	x.runs, x.totals, x.spawned, x.choices, x.depth, x.eager, g.edges = s.Totals.Runs, s.Totals, s.Spawned, s.Kinds, s.Depth, s.Eager, s.Edges
	for _, e := range s.Events {
		g.events = append(g.events, event{e.Actor, e.Clash})
	}
	for _, u := range s.Uses {
		g.useOf(use{u.Actor, u.Acc})
	}
	for _, o := range s.Orders {
		g.orderOf(o)
	}
	for _, p := range s.Renames {
		g.renameOf(p)
	}
	for i, b := range s.States {
		if len(s.Prints) != len(s.States) || int(b.First)+int(b.N) > len(g.events) || int(b.Parent) >= len(s.States) {
			return fmt.Errorf("%w: the file is damaged at state %d", ErrResume, i)
		}
		a := state{parent: stateID(b.Parent), via: move{b.Actor, b.Inner}, first: b.First, n: b.N, depth: b.Depth,
			order: b.Order, tried: b.Tried, future: b.Future}
		for _, e := range b.In {
			if e.From < 0 || int(e.From) >= len(s.States) || int(e.Rename) >= len(g.renames) {
				return fmt.Errorf("%w: the file is damaged at an edge of state %d", ErrResume, i)
			}
			a.in = append(a.in, edge{stateID(e.From), e.Actor, e.Foot, e.Rename, e.Seen, e.Needs})
		}
		g.states = append(g.states, a)
		g.byPrint[s.Prints[i]] = stateID(i)
	}
	for _, j := range s.Jobs {
		if int(j.At) >= len(s.States) {
			return fmt.Errorf("%w: the file is damaged at a job", ErrResume)
		}
		g.jobs = append(g.jobs, job{stateID(j.At), j.Actor, j.Inner})
	}
	return nil
}
