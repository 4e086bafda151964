package sift

import (
	"cmp"
	"errors"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
)

// kept is a store in memory.
type kept struct {
	s     Snapshot
	size  int    // of the memory; default config().Size
	began uint16 // the last term that has begun
	full  error  // of Persist
	late  func() // what happens before the next Begin
	later func() // and after it
}

func (k *kept) Load() (Snapshot, error) { return k.s, nil }

func (k *kept) Begin(term uint16) error {
	once(&k.late)
	if term < k.s.Term {
		return errors.New("a later term has begun")
	}
	k.s.Term, k.began = term, term
	once(&k.later)
	return nil
}

// once calls what is there, and removes it before.
func once(f *func()) {
	if do := *f; do != nil {
		*f = nil
		do()
	}
}

func (k *kept) Replace(s Snapshot) error { k.s = s; return nil }
func (k *kept) Persist(e Entry) error {
	if k.full != nil {
		return k.full
	}
	if k.s.Index == 0 {
		k.s.Memory = make([]byte, cmp.Or(k.size, config().Size))
	}
	for _, u := range e.Updates {
		copy(k.s.Memory[u.Addr:], u.Data)
	}
	k.s.Index = e.Index
	return nil
}

// A group starts again only when a majority has lost its memory. Then it has what was durable, and goes
// on from there.
func TestAGroupStartsAgainFromASnapshot(t *testing.T) {
	cfg := config()
	k := &kept{}
	cfg.Durable = k
	crashing(t, &cfg, "", func(h host.Host, crash func(mem string)) {
		c := lead(t, h, cfg)
		data := []byte("durable")
		if err := c.Write(8, data); err != nil {
			t.Fatal(err)
		}
		copy(data, "changed") // the caller may do that
		if !c.PersistOne() || c.PersistOne() {
			t.Error("one write is to be durable")
		}
		if err := errors.Join(c.Write(0, []byte("lost")), c.Close()); err != nil {
			t.Fatal(err)
		}
		crash("mem1")
		h.Sleep(time.Second)
		n, err := Start(h, cfg)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := n.Restart(); !errors.Is(err, ErrNotLost) {
			t.Errorf("a majority has the memory: %v", err)
		}
		crash("mem2")
		crash("mem3")
		h.Sleep(time.Second)
		if err := n.connect(); err != nil { // the connections to the lives before fail
			t.Fatal(err)
		}
		if _, err := n.Watch(); !errors.Is(err, ErrUnavailable) {
			t.Errorf("nobody has the memory: %v", err)
		}
		before := k.s.Index
		k.s.Term = 40 // later terms than the memory nodes know
		if c, err = n.Restart(); err != nil {
			t.Fatal(err)
		}
		if c.Term() <= 40 || k.s.Term != c.Term() || k.began != c.Term() {
			t.Errorf("term %d, and the store has %d", c.Term(), k.s.Term)
		}
		if c.last <= before+uint64(cfg.Slots) { // an entry of the lost log would be next to it
			t.Errorf("it goes on with entry %d, and the lost log had up to %d", c.last, before+uint64(cfg.Slots))
		}
		if c.PersistOne() || k.s.Index != c.last {
			t.Errorf("the store has entry %d, and the log begins with %d", k.s.Index, c.last)
		}
		got := make([]byte, 16)
		if err := c.Read(0, got); err != nil || string(got) != "\x00\x00\x00\x00\x00\x00\x00\x00durable\x00" {
			t.Errorf("%v: %q", err, got)
		}
		same(t, c)
		for i := range 10 { // more than the log has slots
			if err := c.Write(16, []byte{byte(i)}); err != nil {
				t.Fatal(err)
			}
		}
		same(t, c)
	})
}

func TestANodeWithoutAStoreCannotStartAgain(t *testing.T) {
	cfg := config()
	crashing(t, &cfg, "", func(h host.Host, _ func(string)) {
		n, err := Start(h, cfg)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := n.Restart(); !errors.Is(err, ErrConfig) {
			t.Error(err)
		}
	})
}

// A store that has more than the log belongs to another group, or the group has lost its memory.
func TestAStoreThatIsAheadOfTheLogIsAnError(t *testing.T) {
	cfg := config()
	cfg.Durable = &kept{s: Snapshot{Index: 1, Memory: make([]byte, cfg.Size)}}
	crashing(t, &cfg, "", func(h host.Host, _ func(string)) {
		n, err := Start(h, cfg)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := n.Follow(); !errors.Is(err, ErrLost) {
			t.Error(err)
		}
	})
}

// The store refuses a coordinator only if it knows about the later one.
func TestAStoreKnowsTheCoordinator(t *testing.T) {
	cfg := config()
	k := &kept{}
	cfg.Durable = k
	crashing(t, &cfg, "", func(h host.Host, _ func(string)) {
		if c := lead(t, h, cfg); k.s.Term != c.Term() || k.s.Term == 0 {
			t.Errorf("the store knows term %d, and the coordinator has %d", k.s.Term, c.Term())
		}
	})
}

// A coordinator that learns from the store that it was replaced follows again (3.2), and so does one of a group that has
// gone on meanwhile: its memory is not lost.
func TestACoordinatorThatTheStoreRefusesFollowsAgain(t *testing.T) {
	for name, at := range map[string]func(*kept) *func(){
		"before": func(k *kept) *func() { return &k.late },
		"after":  func(k *kept) *func() { return &k.later },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config()
			k := &kept{}
			cfg.Durable = k
			crashing(t, &cfg, "", func(h host.Host, _ func(string)) {
				other := cfg
				other.Node = 2
				*at(k) = func() {
					c := lead(t, h, other)
					if err := c.Write(0, []byte("acknowledged")); err != nil || !c.PersistOne() {
						t.Errorf("the later coordinator: %v", err)
					}
					if err := c.Close(); err != nil {
						t.Error(err)
					}
				}
				c := lead(t, h, cfg)
				if c == nil || c.Term() <= 2 {
					t.Fatalf("it leads as %+v", c)
				}
				got := make([]byte, 12)
				if err := c.Read(0, got); err != nil || string(got) != "acknowledged" {
					t.Errorf("%v: %q", err, got)
				}
			})
		})
	}
}

// Another coordinator may have another entry in the place of one that is not committed.
func TestOnlyCommittedEntriesBecomeDurable(t *testing.T) {
	cfg := config()
	cfg.Durable = &kept{}
	crashing(t, &cfg, "", func(h host.Host, _ func(string)) {
		c := lead(t, h, cfg)
		if err := c.Write(0, []byte("a")); err != nil || !c.PersistOne() {
			t.Fatal(err)
		}
		c.last++ // as Write does before it waits
		if c.PersistOne() {
			t.Error("an entry that is not committed was made durable")
		}
	})
}

// A node that another coordinator has brought up to date again has the memory, although its word does not
// say so yet.
func TestAGroupThatMayGoOnDoesNotStartAgain(t *testing.T) {
	cfg := config()
	cfg.Durable = &kept{}
	crashing(t, &cfg, "", func(h host.Host, crash func(mem string)) {
		c := lead(t, h, cfg)
		if err := c.Write(0, []byte("acknowledged")); err != nil {
			t.Fatal(err)
		}
		crash("mem1")
		fails(t, c, "mem1")
		h.Sleep(cfg.Period)
		j, err := c.Rejoin("mem1")
		if err != nil {
			t.Fatal(err)
		}
		for more := true; more; {
			if more, err = j.CopyBlock(); err != nil {
				t.Fatal(err)
			}
		}
		if err := j.complete(); err != nil { // and this coordinator is about to welcome the node
			t.Fatal(err)
		}
		crash("mem2")
		h.Sleep(time.Second)
		other := cfg
		other.Node = 2
		n, err := Start(h, other)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := n.Restart(); !errors.Is(err, ErrNotLost) {
			t.Errorf("two nodes have the memory: %v", err)
		}
		if c, err = n.Follow(); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, 12)
		if err := c.Read(0, got); err != nil || string(got) != "acknowledged" {
			t.Errorf("%v: %q", err, got)
		}
	})
}

func TestASnapshotOfAnotherSizeIsAnError(t *testing.T) {
	cfg := config()
	cfg.Durable = &kept{s: Snapshot{Index: 1, Memory: make([]byte, cfg.Size-8)}}
	crashing(t, &cfg, "", func(h host.Host, crash func(mem string)) {
		n, err := Start(h, cfg)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range cfg.Memory {
			crash(name)
		}
		h.Sleep(time.Second)
		if _, err := n.Restart(); !errors.Is(err, ErrConfig) {
			t.Error(err)
		}
	})
}

// A coordinator that cannot make writes durable stops.
func TestAnErrorOfTheStoreStopsTheCoordinator(t *testing.T) {
	cfg := config()
	full := errors.New("the store is full")
	cfg.Durable = &kept{full: full}
	crashing(t, &cfg, "", func(h host.Host, _ func(string)) {
		c := lead(t, h, cfg)
		if err := c.Write(0, []byte("a")); err != nil {
			t.Fatal(err)
		}
		if c.PersistOne(); !errors.Is(c.Stopped(), full) {
			t.Errorf("stopped: %v", c.Stopped())
		}
	})
}
