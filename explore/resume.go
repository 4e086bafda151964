package explore

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/verbatim-rdma/verbatim/internal/whole"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// ErrResume is wrapped by errors about a file to resume from.
var ErrResume = errors.New("explore: cannot resume")

// snapshotVersion is the version of the file. 2 counts choices by kind, 3 has totals, 4
// a table of states in place of a graph, 5 names of 64 bits, 6 the identity of the
// program, 7 the search's own data structures, 8 JSON, 9 steps that stop at a seam and
// outcomes of any bytes, 10 empty lists that are not null.
const snapshotVersion = 10

// snapshot is a search on disk: the table of states and the remaining work. The types
// that it stores directly have exported fields, which JSON requires.
type snapshot struct {
	Version                   int
	Scenario, Profile, Faults string
	Timers                    string
	Strengthen                sim.Strengthen
	NoSymmetry, Eager         bool
	// Build identifies the program, and Probe is the trace of the default run, which
	// differs for a scenario made from other data.
	Build  string
	Probe  uint64
	Totals totals
	Tally  tally
	Moves  []move
	Orders [][]uint8
	Sleeps [][]sim.Actor
	// States and Chains are large. They follow in the same object: see snapshot.go.
	States [shards][]state `json:"-"`
	Chains []*chain        `json:"-"`
}

// probe returns the trace of the default run.
func probe(c *Case) uint64 {
	g := newGuide(c.w, nil)
	g.limit = 100000
	_, _ = c.run(g)
	return g.trace
}

// save writes the search to a file, whole or not at all.
func (s *search) save(path string, r *Result, opt *Options, c *Case) error {
	snap := s.snapshot(r, opt)
	snap.Probe = probe(c)
	var err error
	if snap.Build, err = build(); err != nil {
		return fmt.Errorf("explore: save the search: %w", err)
	}
	err = whole.Write(path, func(w io.Writer) error {
		z := gzip.NewWriter(w)
		return errors.Join(s.encode(snap, z), z.Close())
	})
	if err != nil {
		return fmt.Errorf("explore: save the search: %w", err)
	}
	return nil
}

func (s *search) snapshot(r *Result, opt *Options) *snapshot {
	t := &s.states
	return &snapshot{Version: snapshotVersion, Scenario: r.Scenario, Profile: r.Profile, Faults: r.Faults, Timers: r.Timers.String(), Strengthen: r.Strengthen,
		NoSymmetry: opt.NoSymmetry, Eager: opt.Eager, Totals: s.totals, Tally: s.tally,
		Moves: t.moves.values(), Orders: t.orders.values(), Sleeps: t.sleeps.values()}
}

// IsSaved reports whether a file looks like a search of Options.Save, which another may overwrite.
func IsSaved(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return false
	}
	const begins = `{"Version":`
	head := make([]byte, len(begins))
	_, err = io.ReadFull(z, head)
	return err == nil && string(head) == begins
}

// load resumes from a file of save.
func (s *search) load(path string, r *Result, opt *Options, c *Case) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrResume, err)
	}
	defer f.Close()
	var snap snapshot
	z, err := gzip.NewReader(f)
	if err == nil {
		err = snap.decode(z)
	}
	if err == nil {
		_, err = io.Copy(io.Discard, z) // the checksum is at the end
	}
	here, unknown := build()
	switch {
	case unknown != nil:
		return fmt.Errorf("%w: the file of this program: %w", ErrResume, unknown)
	case snap.Version != 0 && snap.Version != snapshotVersion: // its other fields may be of other types
		return fmt.Errorf("%w: %s was saved by another version of this program (file version %d, this one reads %d): start a new search", ErrResume, path,
			snap.Version, snapshotVersion)
	case err != nil:
		return fmt.Errorf("%w: %s is not a saved search: %w", ErrResume, path, err)
	case snap.Scenario != r.Scenario || snap.Profile != r.Profile || snap.Faults != r.Faults:
		return fmt.Errorf("%w: %s is a search of %s with profile %s and faults %q, not of %s with %s and %q", ErrResume,
			path, snap.Scenario, snap.Profile, snap.Faults, r.Scenario, r.Profile, r.Faults)
	case snap.Timers != r.Timers.String():
		return fmt.Errorf("%w: %s is a search with timers %s, not %s", ErrResume, path, snap.Timers, r.Timers)
	case snap.Strengthen != r.Strengthen:
		return fmt.Errorf("%w: %s is a search with the strengthening %q, not %q", ErrResume, path, snap.Strengthen, r.Strengthen)
	case snap.NoSymmetry != opt.NoSymmetry || snap.Eager != opt.Eager:
		return fmt.Errorf("%w: %s is a search with the options NoSymmetry %v and Eager %v", ErrResume, path, snap.NoSymmetry, snap.Eager)
	case snap.Build != here:
		return fmt.Errorf("%w: %s was saved by another build of this program (--report makes a build of its own), "+
			"and its findings may not hold for this build: start a new search", ErrResume, path)
	case snap.Probe != probe(c):
		return fmt.Errorf("%w: %s was made from other data: start a new search", ErrResume, path)
	}
	return s.restore(&snap)
}

func (s *search) restore(snap *snapshot) error {
	s.runs, s.totals = snap.Totals.Runs, snap.Totals
	s.tally.add(&snap.Tally)
	t := &s.states
	for _, m := range snap.Moves {
		t.moveID(m)
	}
	for _, o := range snap.Orders {
		t.orderID(o)
	}
	for _, a := range snap.Sleeps {
		t.sleepID(a)
	}
	has := func(id stateID) bool {
		return id == noState || int(id/shards) < len(snap.States[id%shards])
	}
	for i := range snap.States {
		h := &t.shard[i]
		for j, x := range snap.States[i] {
			if !has(x.Parent) || int(x.Via) > len(snap.Moves) || int(x.Order) > len(snap.Orders) || int(x.Asleep) > len(snap.Sleeps) ||
				x.Print.A%shards != uint64(i) {
				return fmt.Errorf("%w: the file is damaged at state %d of shard %d", ErrResume, j, i)
			}
			at := h.find(x.Print, t.tree)
			if h.index[at] != 0 {
				return fmt.Errorf("%w: the file is damaged at state %d of shard %d, which occurs twice", ErrResume, j, i)
			}
			h.add(x, at)
		}
	}
	if len(snap.Chains) == 0 { // a search is saved only if it has pending work
		return fmt.Errorf("%w: the file is damaged: it has no pending work", ErrResume)
	}
	s.stack, s.left = nil, 0
	for _, x := range snap.Chains {
		if x == nil || !has(x.At) || len(x.Todo) == 0 {
			return fmt.Errorf("%w: the file is damaged in its list of pending work", ErrResume)
		}
		s.push(x)
	}
	return nil
}
