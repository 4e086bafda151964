package splitfs

import (
	"errors"
	"os"
	"runtime"
	"testing"
)

// refusing is an object of which some Records are refused.
type refusing struct {
	bytes []byte
	after int // so many are not
}

func (o *refusing) Record(off int, data []byte) error {
	if o.after--; o.after < 0 {
		return errCrash
	}
	copy(o.bytes[off:], data)
	return nil
}

func (o *refusing) ReadAt(p []byte, off int) (int, error) { return copy(p, o.bytes[off:]), nil }
func (o *refusing) Size() int                             { return len(o.bytes) }
func (o *refusing) Release() error                        { return nil }
func (o *refusing) Close()                                {}

// A refused Record makes the operation that needs it fail, and the file keeps its
// length.
func TestRefusedRecords(t *testing.T) {
	o := &refusing{bytes: make([]byte, MinRegion), after: 1}
	r := emptyRegion(o, 1)
	if err := r.writeAt([]byte("one"), 0); err != nil {
		t.Fatal(err)
	}
	for what, do := range map[string]func() error{
		"an append":         func() error { return r.writeAt([]byte("two"), 3) },
		"an overwrite":      func() error { return r.writeAt([]byte("two"), 0) },
		"a cut":             func() error { return r.truncate(1, 2) },
		"a wipe of a frame": func() error { o.bytes[r.end] = 1; _, err := scanRegion(o, 2); return err },
	} {
		if err := do(); !errors.Is(err, errCrash) || r.length != 3 {
			t.Errorf("%s: %v, and the file has %d bytes", what, err, r.length)
		}
	}
}

// Syncing a folder leaves nothing open.
func TestSyncDirClosesIt(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("open files are counted in /proc")
	}
	d, err := OpenOSDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	count := func() int {
		names, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(names)
	}
	before := count()
	for range 20 {
		if err := d.SyncDir("."); err != nil {
			t.Fatal(err)
		}
	}
	if now := count(); now >= before+20 {
		t.Errorf("%d files are open, and there were %d", now, before)
	}
}
