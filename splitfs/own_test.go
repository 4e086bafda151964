package splitfs_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/verbatim-rdma/verbatim/splitfs"
)

var errOver = errors.New("over")

// owner counts what is asked of it, and has the right until it is over.
type owner struct {
	over       bool
	asks, look int
}

func (o *owner) Check() error { o.look++; return o.err() }

func (o *owner) Ask() error { o.asks++; return o.err() }

func (o *owner) err() error {
	if o.over {
		return errOver
	}
	return nil
}

// things is a store with one object, which takes everything.
type things struct{ done int }

func (t *things) Create(string, int) (splitfs.Object, error) { t.done++; return t, nil }
func (t *things) Recover(string) (splitfs.Object, error)     { t.done++; return t, nil }
func (t *things) Record(int, []byte) error                   { t.done++; return nil }
func (t *things) ReadAt(p []byte, _ int) (int, error)        { return len(p), nil }
func (t *things) Size() int                                  { return 1 }
func (t *things) Release() error                             { t.done++; return nil }
func (t *things) Close()                                     {}

// Once the right is over nothing changes: neither by name nor through a file or an object that
// is still open. As long as it lives, what makes, replaces or removes something asks each time.
func TestOwnEndsWithTheRight(t *testing.T) {
	at := t.TempDir()
	dir, err := splitfs.OpenOSDir(at)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	if err := os.WriteFile(filepath.Join(at, "wal"), []byte("theirs"), 0o644); err != nil {
		t.Fatal(err)
	}
	o, held := &owner{}, &things{}
	d, s := splitfs.OwnDir(dir, o), splitfs.OwnStore(held, o)
	mine, err := d.OpenFile("wal", os.O_RDWR, 0)
	if err != nil || o.asks != 1 {
		t.Fatal(err, o.asks)
	}
	defer mine.Close()
	object, err := s.Create("x", 1)
	if err != nil || o.asks != 2 {
		t.Fatal(err, o.asks)
	}
	acts := []struct {
		what string
		act  func() error
		asks bool
	}{
		{"write", func() error { _, err := mine.WriteAt([]byte("theirs"), 0); return err }, false},
		{"truncate", func() error { return mine.Truncate(6) }, false},
		{"record", func() error { return object.Record(0, nil) }, false},
		{"mkdir", func() error { return d.Mkdir("x", 0o755) }, true},
		{"rename", func() error { return d.Rename("x", "y") }, true},
		{"remove", func() error { return d.Remove("y") }, true},
		{"open to write", func() error { f, err := d.OpenFile("wal", os.O_WRONLY, 0); return closed(f, err) }, true},
		{"open to read and write", func() error { f, err := d.OpenFile("wal", os.O_RDWR, 0); return closed(f, err) }, true},
		{"open to create", func() error { f, err := d.OpenFile("wal", os.O_CREATE, 0o644); return closed(f, err) }, true},
		{"create", func() error { _, err := s.Create("x", 1); return err }, true},
		{"recover", func() error { _, err := s.Recover("x"); return err }, true},
		{"release", object.Release, true},
	}
	for _, over := range []bool{false, true} {
		o.over = over
		was := held.done
		for _, x := range acts {
			asks, looks := o.asks, o.look
			if err := x.act(); over != errors.Is(err, errOver) || !over && err != nil {
				t.Errorf("over %v, %s: %v", over, x.what, err)
			}
			if (o.asks > asks) != x.asks || (o.look > looks) == x.asks {
				t.Errorf("over %v, %s: %d questions, %d looks", over, x.what, o.asks-asks, o.look-looks)
			}
		}
		if over && held.done != was {
			t.Errorf("the store has had %d calls", held.done-was)
		}
	}
	if b, err := os.ReadFile(filepath.Join(at, "wal")); err != nil || string(b) != "theirs" {
		t.Errorf("the file has %q: %v", b, err)
	}
	if list, _ := os.ReadDir(at); len(list) != 1 {
		t.Errorf("%d names are there, want 1", len(list))
	}
	if f, err := d.OpenFile("wal", os.O_RDONLY, 0); closed(f, err) != nil {
		t.Error("reading is refused:", err)
	}
}

// A directory that is not there cannot be opened.
func TestNoOSDir(t *testing.T) {
	if d, err := splitfs.OpenOSDir(filepath.Join(t.TempDir(), "none")); d != nil || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v, %v", d, err)
	}
}

func closed(f splitfs.DirFile, err error) error {
	if err != nil {
		return err
	}
	return f.Close()
}
