package raftr

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	pb "go.etcd.io/raft/v3/raftpb"
	"pgregory.net/rapid"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/internal/pmemhost"
)

func persistent() Config {
	c := config().withDefaults()
	c.Persistent, c.Log = true, 6
	return c
}

func (c Config) again() *Config {
	c.New = false
	return &c
}

// open opens a store and returns what it holds.
func open(t rapid.TB, h host.Host, cfg *Config) *store {
	t.Helper()
	s, err := openStore(h, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *store) head(t rapid.TB) (term, vote uint64) {
	t.Helper()
	h, _, err := s.InitialState()
	if err != nil {
		t.Fatal(err)
	}
	return h.GetTerm(), h.GetVote()
}

// log is the entries of a store, each as text.
func (s *store) log(t rapid.TB) (out []string) {
	t.Helper()
	if s.last() == 0 {
		return nil
	}
	entries, err := s.Entries(1, s.last()+1, 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range entries {
		if e.GetIndex() != uint64(i+1) {
			t.Fatalf("entry %d has index %d", i+1, e.GetIndex())
		}
		out = append(out, fmt.Sprintf("%d %x", e.GetTerm(), e.GetData()))
	}
	return out
}

func prefix(log, of []string) bool {
	if len(log) > len(of) {
		return false
	}
	for i := range log {
		if log[i] != of[i] {
			return false
		}
	}
	return true
}

// errCrashed is what a host panics with.
var errCrashed = errors.New("crashed")

// life is the life of a store that its host's crashes interrupt, and what its disk may hold.
type life struct {
	t          *rapid.T
	h          *pmemhost.Host
	cfg        Config
	s          *store
	term, vote uint64
	tried      [][2]uint64 // term and vote of saves since then that were interrupted
	log        []string
	past       [][]string // logs of the past
	torn       int        // crashes in the middle of a save
}

// save saves a head and entries, and crashes before one of the steps of that, if it has as many.
func (l *life) save(head *pb.HardState, entries []*pb.Entry, step int) (died bool) {
	l.h.After(step, func() { panic(errCrashed) })
	defer func() {
		l.h.After(0, nil)
		if x := recover(); x != nil {
			if died = true; x != errCrashed {
				panic(x)
			}
		}
	}()
	if err := l.s.save(head, entries); err != nil {
		l.t.Fatal(err)
	}
	return false
}

// after is the log when entries are there.
func (l *life) after(entries []*pb.Entry) []string {
	if len(entries) == 0 {
		return l.log
	}
	out := append([]string(nil), l.log[:entries[0].GetIndex()-1]...)
	for _, e := range entries {
		out = append(out, fmt.Sprintf("%d %x", e.GetTerm(), e.GetData()))
	}
	return out
}

// step saves something, and perhaps crashes meanwhile or afterwards. Then the store must be as it was, or as it
// should be, or in between: a log that loses nothing but what the save replaces.
func (l *life) step() {
	t := l.t
	var entries []*pb.Entry
	if n := rapid.IntRange(0, 3).Draw(t, "entries"); n > 0 {
		at := rapid.IntRange(0, min(len(l.log), l.cfg.Log-1)).Draw(t, "after")
		for i := range min(n, l.cfg.Log-at) {
			data := rapid.SliceOfN(rapid.Byte(), 0, l.cfg.maxCommand()).Draw(t, "data")
			if rapid.Bool().Draw(t, "short") {
				data = data[:min(len(data), 3)]
			}
			entries = append(entries, &pb.Entry{Term: u(uint64(rapid.IntRange(1, 3).Draw(t, "term"))), Index: u(uint64(at + i + 1)), Data: data})
		}
	}
	term, vote := l.term, l.vote
	var head *pb.HardState
	if rapid.Bool().Draw(t, "head") {
		term, vote = l.term+uint64(rapid.IntRange(0, 1).Draw(t, "later")), uint64(rapid.IntRange(0, 3).Draw(t, "vote"))
		head = &pb.HardState{Term: u(term), Vote: u(vote)}
	}
	log, first := l.after(entries), len(l.log)
	if len(entries) > 0 {
		first = int(entries[0].GetIndex()) - 1
	}
	died := l.save(head, entries, rapid.IntRange(0, 40).Draw(t, "dies before"))
	if !died && rapid.Bool().Draw(t, "lives on") {
		if head != nil && (term != l.term || vote != l.vote) {
			l.tried = nil
		}
		l.term, l.vote, l.log, l.past = term, vote, log, append(l.past, log)
		return
	}
	var evicted func(int) bool
	if rapid.Bool().Draw(t, "power") {
		bits := rapid.Uint64().Draw(t, "evicted")
		evicted = func(off int) bool { return bits>>(off/8%64)&1 == 1 }
	}
	l.h = l.h.Crash(evicted)
	l.s = open(t, l.h, l.cfg.again())
	gotTerm, gotVote := l.s.head(t)
	got := l.s.log(t)
	wholeHead, wholeLog := gotTerm == term && gotVote == vote, prefix(log, got)
	switch {
	case !wholeHead && (!died || gotTerm != l.term || gotVote != l.vote) && !slices.Contains(l.tried, [2]uint64{gotTerm, gotVote}):
		t.Fatalf("term %d, vote %d; it had %d, %d and then %d, %d", gotTerm, gotVote, l.term, l.vote, term, vote)
	case !wholeLog && !died:
		t.Fatalf("the log is %q, and was saved as %q", got, log)
	case head != nil && (term != l.term || vote != l.vote) && wholeHead && !wholeLog:
		t.Fatalf("the head was saved before the log: %q, not %q", got, log)
	case !died && head != nil && (term != l.term || vote != l.vote) && !wholeHead:
		t.Fatalf("term %d and vote %d were saved, and it has %d, %d", term, vote, gotTerm, gotVote)
	case len(got) < first || !prefix(l.log[:first], got):
		t.Fatalf("the log is %q: it lacks some of %q", got, l.log[:first])
	}
	l.past = append(l.past, log)
	known := false
	for _, x := range l.past {
		known = known || prefix(got, x)
	}
	if !known {
		t.Fatalf("the log is %q, which it never was: %q", got, l.past)
	}
	if died {
		l.torn++
	}
	if gotTerm == l.term && gotVote == l.vote {
		l.tried = append(l.tried, [2]uint64{term, vote})
	} else {
		l.tried = nil
	}
	l.term, l.vote, l.log = gotTerm, gotVote, got
}

// Whenever a node crashes, it starts again with what it has promised, and with a log that it once had: the entries
// of a save that was interrupted are there up to one of them. A term and vote whose save was interrupted may come
// back when the next save, into the same place, is interrupted too. They are later than what was promised, and
// nobody has heard of them, so that does no harm.
func TestWhatWasSavedOutlivesCrashes(t *testing.T) {
	torn := 0
	rapid.Check(t, func(rt *rapid.T) {
		l := &life{t: rt, h: pmemhost.New(), cfg: persistent(), past: [][]string{nil}}
		l.s = open(rt, l.h, &l.cfg)
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			l.step()
		}
		torn += l.torn
	})
	if torn < 20 {
		t.Errorf("%d crashes in the middle of a save: that tests too little", torn)
	}
}

// A node whose first start was interrupted has promised nothing, and does not count as one that has lost its memory
// by chance: only its operator knows.
func TestAStoreThatWasNeverFinishedIsAnOutsiders(t *testing.T) {
	cfg := persistent()
	h := pmemhost.New()
	if _, err := openStore(h, cfg.again()); !errors.Is(err, ErrOutsider) {
		t.Errorf("an empty store: %v", err)
	}
	open(t, h, &cfg)
	open(t, h.Crash(func(int) bool { return false }), cfg.again())
}

// Memory that cannot be read is an error. It is no end of the log, which would lose what follows it.
func TestMemoryThatCannotBeReadIsAnError(t *testing.T) {
	cfg := persistent()
	for _, off := range []int{0, headSize, headsSize, headsSize + entryFront} {
		h := pmemhost.New()
		s := open(t, h, &cfg)
		if err := s.save(&pb.HardState{Term: u(1)}, []*pb.Entry{{Term: u(1), Index: u(1), Data: bytes.Repeat([]byte("x"), 20)}}); err != nil {
			t.Fatal(err)
		}
		h = h.Crash(nil)
		h.Memory("raftr").Poison(off)
		if _, err := openStore(h, cfg.again()); !errors.Is(err, host.ErrMedia) {
			t.Errorf("a damaged word at %d: %v", off, err)
		}
	}
}

// Any content of the memory is read without a panic, and leads to a log that the library accepts.
func FuzzStore(f *testing.F) {
	cfg := persistent()
	h := pmemhost.New()
	s, err := openStore(h, &cfg)
	if err != nil {
		f.Fatal(err)
	}
	if err := s.save(&pb.HardState{Term: u(2), Vote: u(1)}, []*pb.Entry{{Term: u(1), Index: u(1), Data: []byte("x")}, {Term: u(2), Index: u(2)}}); err != nil {
		f.Fatal(err)
	}
	f.Add(h.Memory("raftr").Image())
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		h := pmemhost.New()
		r, err := h.OpenPMEM("raftr", len(s.pmem.(*pmemhost.Memory).Image()))
		if err != nil {
			t.Fatal(err)
		}
		r.Store(0, b[:min(len(b), r.Len())])
		x, err := openStore(h, cfg.again())
		if errors.Is(err, ErrOutsider) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		x.log(t)
	})
}

// A store that another configuration has written has its entries elsewhere, or votes for other nodes: read as it is,
// it would lose what the node has acknowledged.
func TestAStoreOfAnotherConfigurationIsAnError(t *testing.T) {
	cfg := persistent()
	for name, change := range map[string]func(c *Config){
		"other numbers":   func(c *Config) { c.Nodes = []string{"n2", "n1", "n3"} },
		"names that join": func(c *Config) { c.Nodes = []string{"n1n2", "n", "3"} },
		"fewer nodes":     func(c *Config) { c.Nodes = c.Nodes[:1] },
		"a smaller value": func(c *Config) { c.Value-- },
		"a larger value":  func(c *Config) { c.Value++ },
		"another log":     func(c *Config) { c.Log++ },
	} {
		for _, first := range []bool{false, true} {
			h := pmemhost.New()
			open(t, h, &cfg)
			other := cfg
			change(&other)
			other.New = first
			if _, err := openStore(h, &other); !errors.Is(err, ErrConfig) && !errors.Is(err, host.ErrBounds) {
				t.Errorf("%s, new %v: %v", name, first, err)
			}
		}
	}
}
