package ncl

import (
	"errors"
	"slices"
	"testing"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// asked is a controller that records its requests, and refuses one call.
type asked struct {
	*keys
	calls  []string
	refuse int // the number of the call, from 1
}

func (a *asked) call(what, key string) error {
	a.calls = append(a.calls, what+" "+key)
	if len(a.calls) == a.refuse {
		return coord.ErrUnavailable
	}
	return nil
}

func (a *asked) Get(key string) ([]byte, uint64, error) {
	if err := a.call("get", key); err != nil {
		return nil, 0, err
	}
	return a.keys.Get(key)
}

func (a *asked) Create(key string, value []byte, s coord.Session) error {
	if err := a.call("create", key); err != nil {
		return err
	}
	return a.keys.Create(key, value, s)
}

func (a *asked) Set(key string, value []byte, ifVersion uint64) (uint64, error) {
	if err := a.call("set", key); err != nil {
		return 0, err
	}
	return a.keys.Set(key, value, ifVersion)
}

func (a *asked) Delete(key string, ifVersion uint64) error {
	if err := a.call("delete", key); err != nil {
		return err
	}
	return a.keys.Delete(key, ifVersion)
}

// A name can be reserved if it is free, or if its creation did not finish; a call that
// the controller does not answer stops the creation.
func TestReserve(t *testing.T) {
	const file, ids = "apps/db/wal", "files/db"
	unfinished := entry{generation: generation{7, 1}, size: 8, f: 1}
	whole := unfinished
	whole.peers = []string{"p1", "p2", "p3"}
	for name, x := range map[string]struct {
		there  *entry
		refuse int
		calls  []string
		want   error
	}{
		"free":                       {nil, 0, []string{"get " + file, "get " + ids, "set " + ids, "create " + file}, nil},
		"unfinished":                 {&unfinished, 0, []string{"get " + file, "get " + ids, "set " + ids, "set " + file}, nil},
		"taken":                      {&whole, 0, []string{"get " + file}, ErrExists},
		"free, nobody to ask":        {nil, 1, []string{"get " + file}, coord.ErrUnavailable},
		"unfinished, nobody to ask":  {&unfinished, 1, []string{"get " + file}, coord.ErrUnavailable},
		"no identity":                {nil, 2, []string{"get " + file, "get " + ids}, coord.ErrUnavailable},
		"no new identity":            {&unfinished, 3, []string{"get " + file, "get " + ids, "set " + ids}, coord.ErrUnavailable},
		"free, not entered":          {nil, 4, []string{"get " + file, "get " + ids, "set " + ids, "create " + file}, coord.ErrUnavailable},
		"unfinished, not replaced":   {&unfinished, 4, []string{"get " + file, "get " + ids, "set " + ids, "set " + file}, coord.ErrUnavailable},
		"taken, and nobody says so":  {&whole, 1, []string{"get " + file}, coord.ErrUnavailable},
		"the entry makes no sense":   {&entry{}, 0, []string{"get " + file}, ErrMalformed},
		"the counter makes no sense": {nil, -1, []string{"get " + file, "get " + ids}, ErrMalformed},
	} {
		a := &asked{keys: newKeys(), refuse: x.refuse}
		counter := []byte{7: 7}
		if x.refuse < 0 {
			counter = counter[1:]
		}
		_ = a.keys.Create(ids, counter, coord.NoSession)
		if x.there != nil {
			_ = a.keys.Create(file, x.there.encode(), coord.NoSession)
		}
		f := &File{cfg: Config{App: "db", Coord: a}, name: "wal", entry: entry{generation: generation{epoch: 1}, size: 16, f: 1}}
		err := f.reserve()
		if !errors.Is(err, x.want) || (err == nil) != (x.want == nil) || !slices.Equal(a.calls, x.calls) {
			t.Errorf("%s: %v after %v; want %v after %v", name, err, a.calls, x.want, x.calls)
		}
		if e, now, _ := loadEntry(a.keys, "db", "wal"); err == nil && (e.id != 8 || e.size != 16 || now.Version != f.held.Version) {
			t.Errorf("%s: the ap-map has %+v in version %d, and the handle %d", name, e, now.Version, f.held.Version)
		}
	}
}

// After a change whose answer was lost, the ap-map has the entry before it or the
// change, and otherwise the file was taken over. The next change resolves it.
func TestChangeInDoubt(t *testing.T) {
	before := entry{generation: generation{7, 1}, size: 8, f: 1, peers: []string{"p1", "p2", "p3"}}
	change, next, other := before, before, before
	change.epoch, next.epoch, other.epoch = 2, 3, 4
	for name, x := range map[string]struct {
		there  *entry // now
		refuse int    // which call after that
		want   error
		epoch  uint32 // of the handle, after it
	}{
		"the change was not carried out":               {&before, 0, nil, 3},
		"the change was carried out":                   {&change, 0, nil, 3},
		"somebody else was faster":                     {&other, 0, ErrStale, 1},
		"the file is gone":                             {nil, 0, ErrStale, 1},
		"nobody says":                                  {&change, 1, coord.ErrUnavailable, 1},
		"it was carried out, and the next is in doubt": {&change, 2, coord.ErrUnavailable, 2},
	} {
		a := &asked{keys: newKeys(), refuse: 2} // the change
		f := &File{cfg: Config{App: "db", Coord: a}, name: "wal", entry: before}
		enter(t, f)
		if err := f.save(change); !errors.Is(err, coord.ErrUnavailable) || f.entry.epoch != 1 {
			t.Fatal(err)
		}
		a.refuse = -1
		if x.refuse > 0 {
			a.refuse = len(a.calls) + x.refuse
		}
		delete(a.versions, f.key())
		if x.there != nil {
			a.values[f.key()], a.versions[f.key()] = x.there.encode(), 9
		}
		err := f.save(next)
		if !errors.Is(err, x.want) || (err == nil) != (x.want == nil) || f.entry.epoch != x.epoch {
			t.Errorf("%s: %v, epoch %d; want %v and %d", name, err, f.entry.epoch, x.want, x.epoch)
		}
		if err == nil && (f.held.InDoubt() || f.held.Version != 10) {
			t.Errorf("%s: version %d, and a change is still in doubt", name, f.held.Version)
		}
	}
}

// Files reports that the controller does not answer.
func TestFilesWithoutController(t *testing.T) {
	if keys, err := Files(deaf{}, "db"); !errors.Is(err, coord.ErrUnavailable) {
		t.Errorf("%v, %v", keys, err)
	}
}

type deaf struct{ coord.Client }

func (deaf) List(string) ([]string, error) { return nil, coord.ErrUnavailable }

// A host that cannot create queues for a peer stops asking for them.
func TestShortOfQueues(t *testing.T) {
	f, _ := newTestFile()
	k := newKeys()
	on(f, queueless{})
	f.cfg.App, f.cfg.Coord, f.cfg.Peers, f.name = "db", k, []string{"p1", "p2", "p3", "p4", "p5"}, "wal"
	f.links = nil
	enter(t, f)
	links, err := f.enlist(f.entry, opAlloc, 3)
	if !errors.Is(err, verbs.ErrUnsupported) || len(links) > 0 || k.sets != 1 {
		t.Errorf("%d peers, %v, after %d changes of the ap-map", len(links), err, k.sets)
	}
}

type queueless struct{ quiet }

func (queueless) Device() verbs.Device { return cardless{} }

type cardless struct{ verbs.Device }

func (cardless) CreateCQ(int, verbs.CompChannel) (verbs.CQ, error) { return nil, verbs.ErrUnsupported }
