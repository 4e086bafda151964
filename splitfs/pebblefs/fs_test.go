package pebblefs_test

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble"

	"github.com/verbatim-rdma/verbatim/splitfs"
	"github.com/verbatim-rdma/verbatim/splitfs/pebblefs"
)

// store keeps objects in memory.
type store struct {
	mu      sync.Mutex
	objects map[string]*object
}

type object struct {
	s    *store
	name string
	b    []byte
}

func (s *store) Create(name string, size int) (splitfs.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[name] = &object{s, name, make([]byte, size)}
	return s.objects[name], nil
}

func (s *store) Recover(name string) (splitfs.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.objects[name]; o != nil {
		return o, nil
	}
	return nil, fs.ErrNotExist
}

func (o *object) Record(off int, p []byte) error        { copy(o.b[off:], p); return nil }
func (o *object) ReadAt(p []byte, off int) (int, error) { return copy(p, o.b[off:]), nil }
func (o *object) Size() int                             { return len(o.b) }
func (o *object) Close()                                {}

func (o *object) Release() error {
	o.s.mu.Lock()
	defer o.s.mu.Unlock()
	delete(o.s.objects, o.name)
	return nil
}

func open(t *testing.T, dir string, s *store) (*pebble.DB, *splitfs.FS) {
	t.Helper()
	d, err := splitfs.OpenOSDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	fsys, err := splitfs.New(splitfs.Config{Dir: d, Store: s, Patterns: splitfs.Presets["pebble"], Region: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	db, err := pebble.Open("data/db", &pebble.Options{FS: pebblefs.New(fsys), MemTableSize: 256 << 10, Logger: quiet{}})
	if err != nil {
		t.Fatal(err)
	}
	return db, fsys
}

type quiet struct{}

func (quiet) Infof(string, ...any)           {}
func (quiet) Errorf(string, ...any)          {}
func (quiet) Fatalf(format string, a ...any) { panic(fmt.Sprintf(format, a...)) }

// A database that was abandoned in the middle, with its log on the store, is intact
// when another process opens it. Its logs are created, deleted and reused.
func TestPebble(t *testing.T) {
	dir, s := t.TempDir(), &store{objects: map[string]*object{}}
	const rows = 3000
	value := func(i int) []byte { return []byte(strings.Repeat(fmt.Sprint(i), 60)) }
	for life := range 3 {
		db, fsys := open(t, dir, s)
		for i := range life * rows {
			got, closer, err := db.Get(fmt.Appendf(nil, "key%06d", i))
			if err != nil || string(got) != string(value(i)) {
				t.Fatalf("life %d: key %d is %q, %v", life, i, got, err)
			}
			_ = closer.Close()
		}
		for i := life * rows; i < (life+1)*rows; i++ {
			if err := db.Set(fmt.Appendf(nil, "key%06d", i), value(i), pebble.Sync); err != nil {
				t.Fatal(err)
			}
		}
		logs := 0
		list, err := fsys.ReadDir("data/db")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			st, err := fsys.Stat("data/db/" + e.Name())
			if errors.Is(err, fs.ErrNotExist) {
				continue // a file of a compaction
			}
			if err != nil || st.NCL != strings.HasSuffix(e.Name(), ".log") {
				t.Errorf("%s: on the peers: %v, %v", e.Name(), st, err)
			}
			if st.NCL {
				logs++
			}
		}
		if logs == 0 || !slices.ContainsFunc(list, func(e fs.DirEntry) bool { return strings.HasSuffix(e.Name(), ".sst") }) {
			t.Errorf("%d logs in %v", logs, list)
		}
		if life == 2 {
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			fsys.Close()
		} // else it is left as a crash leaves it
	}
}

func TestFS(t *testing.T) {
	db, fsys := open(t, t.TempDir(), &store{objects: map[string]*object{}})
	defer db.Close()
	p := pebblefs.New(fsys)
	if err := p.MkdirAll("/a/b/c", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := p.MkdirAll("a/b", 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := p.Create("a/b/x.log")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Close(), p.Link("a/b/x.log", "y")); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a link: %v", err)
	}
	l, err := p.Lock("a/LOCK")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Lock("/a/LOCK"); err == nil {
		t.Error("locked twice")
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if err := p.RemoveAll("a"); err != nil {
		t.Error(err)
	}
	if _, err := p.Stat("a"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if d, err := p.OpenDir("data/none"); err == nil {
		t.Error(d)
	}
}
