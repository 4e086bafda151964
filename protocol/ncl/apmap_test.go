package ncl

import (
	"errors"
	"testing"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// keys is a controller in memory. before, if set, is called before the next Set, and may refuse it.
type keys struct {
	coord.Client
	values   map[string][]byte
	versions map[string]uint64
	sets     int
	before   func() error
}

func newKeys() *keys { return &keys{values: map[string][]byte{}, versions: map[string]uint64{}} }

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

func TestIdentitiesAreNew(t *testing.T) {
	k := newKeys()
	for want := uint64(1); want < 5; want++ {
		if id, err := newID(k, "db"); id != want || err != nil {
			t.Errorf("%d, %v; want %d", id, err, want)
		}
	}
}

// If the entry changes while a recovery takes a file over, another instance has replaced a peer and the
// recovery begins again, or has begun a recovery of its own and has the file.
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

// That the ap-map still says that a file is being recovered does no harm, but who finds it taken over
// has lost it.
func TestLeaveBehindWithoutController(t *testing.T) {
	for _, c := range []struct{ refused, want error }{{coord.ErrUnavailable, nil}, {coord.ErrVersion, ErrStale}} {
		f, _ := newTestFile()
		k := newKeys()
		k.before = func() error { return c.refused }
		f.cfg.App, f.cfg.Coord, f.name = "db", k, "wal"
		f.links[2].err = verbs.ErrCompletion
		if err := f.leaveBehind(); !errors.Is(err, c.want) || k.sets != 1 {
			t.Errorf("%v: %v, %d changes; want %v", c.refused, err, k.sets, c.want)
		}
	}
}

// A recovery that hears from no peer with the largest stamp gives all of them up, and nobody else.
func TestNoneOfTheLatestAnswers(t *testing.T) {
	f, _ := newTestFile()
	r := &recovery{f: f, known: []bool{true, true, true}, latest: MakeStamp(1, 2),
		stamps: []Stamp{MakeStamp(1, 2), MakeStamp(1, 1), MakeStamp(1, 2)}}
	if l := r.firstToAnswer(); l != nil {
		t.Errorf("%s has answered", l.name)
	}
	if f.links[0].err == nil || f.links[1].err != nil || f.links[2].err == nil {
		t.Errorf("the peers have failed of %v, %v, %v", f.links[0].err, f.links[1].err, f.links[2].err)
	}
}
