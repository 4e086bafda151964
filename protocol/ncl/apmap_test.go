package ncl

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/coord"
	ctrl "github.com/verbatim-rdma/verbatim/kit/entry"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// keys is a controller in memory. before, if set, is called before the next Set, and
// may refuse it.
type keys struct {
	coord.Client
	values   map[string][]byte
	versions map[string]uint64
	sets     int
	before   func() error
}

func newKeys() *keys { return &keys{values: map[string][]byte{}, versions: map[string]uint64{}} }

// enter puts the file of f into the ap-map, as a creation does.
func enter(t *testing.T, f *File) {
	t.Helper()
	var err error
	if f.held, err = ctrl.Create(f.cfg.Coord, f.key(), f.entry.encode()); err != nil {
		t.Fatal(err)
	}
}

func (k *keys) Get(key string) ([]byte, uint64, error) {
	if k.versions[key] == 0 {
		return nil, 0, coord.ErrNotFound
	}
	return k.values[key], k.versions[key], nil
}

func (k *keys) Create(key string, value []byte, _ coord.Session) error {
	if k.versions[key] != 0 {
		return coord.ErrExists
	}
	k.values[key], k.versions[key] = value, coord.FirstVersion
	return nil
}

func (k *keys) Set(key string, value []byte, ifVersion uint64) (uint64, error) {
	k.sets++
	if f := k.before; f != nil {
		k.before = nil
		if err := f(); err != nil {
			return 0, err
		}
	}
	if k.versions[key] != ifVersion {
		return 0, coord.ErrVersion
	}
	k.values[key], k.versions[key] = value, ifVersion+1
	return ifVersion + 1, nil
}

func (k *keys) Delete(key string, ifVersion uint64) error {
	switch k.versions[key] {
	case 0:
		return coord.ErrNotFound
	case ifVersion:
		delete(k.versions, key)
		return nil
	}
	return coord.ErrVersion
}

func TestIdentitiesAreNew(t *testing.T) {
	k := newKeys()
	for want := uint64(1); want < 5; want++ {
		if id, err := newID(k, "db"); id != want || err != nil {
			t.Errorf("%d, %v; want %d", id, err, want)
		}
	}
}

// If the entry changes while a recovery takes over a file, another instance has either
// replaced a peer, and the recovery starts again, or has begun a recovery of its own
// and owns the file.
func TestTakeOverAmongOthers(t *testing.T) {
	for _, copying := range []bool{false, true} {
		k := newKeys()
		cfg := Config{App: "db", Coord: k}
		e := entry{generation: generation{1, 1}, size: 8, f: 1, peers: []string{"p1", "p2", "p3"}}
		if err := k.Create(fileKey("db", "wal"), e.encode(), coord.NoSession); err != nil {
			t.Fatal(err)
		}
		k.before = func() error {
			e.epoch, e.copying, e.peers = 7, copying, []string{"p1", "p2", "p4"}
			_, err := k.Set(fileKey("db", "wal"), e.encode(), coord.FirstVersion)
			return err
		}
		got, _, err := takeOver(cfg, "wal")
		switch {
		case copying && (!errors.Is(err, ErrStale) || k.sets != 2):
			t.Errorf("while another recovery goes on: epoch %d, %v, %d changes", got.epoch, err, k.sets)
		case !copying && (err != nil || got.epoch != 8 || got.peers[2] != "p4" || !got.copying):
			t.Errorf("while a peer is replaced: %+v, %v", got, err)
		}
	}
}

// An ap-map that still marks the file as being recovered does no harm, but a handle
// that finds it taken over has lost it.
func TestLeaveBehindWithoutController(t *testing.T) {
	for _, c := range []struct{ refused, want error }{{coord.ErrUnavailable, nil}, {coord.ErrVersion, ErrStale}} {
		f, _ := newTestFile()
		k := newKeys()
		k.before = func() error { return c.refused }
		f.cfg.App, f.cfg.Coord, f.name = "db", k, "wal"
		enter(t, f)
		f.links[2].Err = verbs.ErrCompletion
		if err := f.leaveBehind(); !errors.Is(err, c.want) || k.sets != 1 {
			t.Errorf("%v: %v, %d changes; want %v", c.refused, err, k.sets, c.want)
		}
	}
}

// A recovery without an answer from the peers with the largest stamp gives up on those,
// and on no others.
func TestNoneOfTheLatestAnswers(t *testing.T) {
	f, _ := newTestFile()
	ch := on(f, f.h)
	r := &recovery{f: f, known: []bool{true, true, true}, latest: MakeStamp(1, 2),
		stamps: []Stamp{MakeStamp(1, 2), MakeStamp(1, 1), MakeStamp(1, 2)}}
	if l := r.firstToAnswer(); l != nil {
		t.Errorf("%s has answered", l.Peer)
	}
	if w := ch.waited; len(w) != 1 || w[0] != f.cfg.CompletionTimeout {
		t.Errorf("it was waited %v", w)
	}
	if f.links[0].Err == nil || f.links[1].Err != nil || f.links[2].Err == nil {
		t.Errorf("the peers have failed of %v, %v, %v", f.links[0].Err, f.links[1].Err, f.links[2].Err)
	}
}

// The wait for a recovery's copies is the configured one.
func TestCopiesAreWaitedFor(t *testing.T) {
	f, _ := newTestFile()
	ch := on(f, f.h)
	f.copyTo(f.links)
	w := ch.waited
	if f.alive() != 3 || len(w) != 1 || w[0] != f.cfg.CompletionTimeout {
		t.Errorf("%d peers have it, and it was waited %v", f.alive(), w)
	}
}

// A candidate that has failed the file before is asked last.
func TestCandidatesThatFailedComeLast(t *testing.T) {
	f, _ := newTestFile()
	f.cfg.Peers = []string{"p1", "p2", "p3", "p4", "p5"}
	for i, l := range f.links {
		l.Peer = f.cfg.Peers[i]
	}
	f.links[1].Err = verbs.ErrCompletion
	if names, err := f.candidates(); err != nil || !slices.Equal(names, []string{"p4", "p5", "p2"}) {
		t.Errorf("%v, %v", names, err)
	}
}

// A replacement uses up an epoch, and can use the last one.
func TestReplacementsExhaustEpochs(t *testing.T) {
	for epoch, want := range map[uint32]error{MaxEpoch: ErrExhausted, MaxEpoch - 1: ErrTooFew} {
		f, _ := newTestFile()
		f.cfg.App, f.cfg.Coord, f.cfg.Peers, f.name = "db", newKeys(), []string{"p1"}, "wal"
		f.links[0].Peer, f.links[2].Err, f.entry.epoch = "p1", verbs.ErrCompletion, epoch
		enter(t, f)
		if err := f.replace(1); !errors.Is(err, want) || f.entry.epoch != epoch {
			t.Errorf("in epoch %d: %v, and then %d", epoch, err, f.entry.epoch)
		}
	}
}

// clock is a host with a settable clock.
type clock struct {
	quiet
	now time.Duration
}

func (c *clock) Now() time.Duration { return c.now }

// After a failed Repair the next one waits, and longer if it took long.
func TestRepairsPause(t *testing.T) {
	f, _ := newTestFile()
	h := &clock{now: time.Minute}
	f.h, f.cfg.App, f.cfg.Coord, f.name = h, "db", newKeys(), "wal"
	f.cfg.Peers = []string{"p1"}
	f.links[0].Peer, f.links[2].Err = "p1", verbs.ErrCompletion
	enter(t, f)
	tried := 0
	m := &Maintained{File: f, Every: time.Second, Told: func(err error) {
		if tried++; !errors.Is(err, ErrTooFew) {
			t.Error(err)
		}
	}}
	for _, x := range []struct {
		now   time.Duration
		tried int
	}{{0, 1}, {time.Second - 1, 1}, {time.Second, 2}, {time.Second, 2}, {2 * time.Second, 3}} {
		h.now = time.Minute + x.now
		if m.Maintain(); tried != x.tried {
			t.Errorf("after %v it was tried %d times, not %d", x.now, tried, x.tried)
		}
	}
}
