package splitfs_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/verbatim-rdma/verbatim/splitfs"
)

func never(int) int { return 0 }

func mount(t *testing.T, m *machine) *splitfs.FS {
	t.Helper()
	fsys, err := splitfs.New(m.config())
	if err != nil {
		t.Fatal(err)
	}
	return fsys
}

func create(t *testing.T, fsys *splitfs.FS, name string, flag int) *splitfs.File {
	t.Helper()
	f, err := fsys.Open(name, os.O_RDWR|os.O_CREATE|flag, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// A file that is too large is refused, with a remedy, and loses nothing.
func TestNoSpace(t *testing.T) {
	m := newMachine(never)
	f := create(t, mount(t, m), "wal", splitfs.O_NCL)
	if _, err := f.Append([]byte("kept")); err != nil || !f.NCL() {
		t.Fatal(err, f.NCL())
	}
	for _, write := range []func() error{
		func() error { _, err := f.Append(make([]byte, 9000)); return err },
		func() error { _, err := f.WriteAt([]byte("x"), 1<<40); return err },
		func() error { return f.Truncate(1 << 20) },
	} {
		err := write()
		if !errors.Is(err, splitfs.ErrNoSpace) || !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%v, want ErrNoSpace", err)
		}
	}
	if _, err := f.Append(make([]byte, 9000)); !strings.Contains(err.Error(), "--max-region") {
		t.Errorf("%v does not name the remedy", err)
	}
	if _, err := f.Append([]byte(" too")); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 8)
	if _, err := f.ReadAt(b, 0); err != nil || string(b) != "kept too" {
		t.Errorf("%q %v", b, err)
	}
}

// After a failed write the file accepts no more until it is opened again, and then has
// the content of the peers.
func TestFailedWrite(t *testing.T) {
	m := newMachine(never)
	fsys := mount(t, m)
	f := create(t, fsys, "a.log", 0)
	_, _ = f.Append([]byte("one"))
	m.store.refuse = errors.New("peers are gone")
	if _, err := f.Append([]byte("two")); !errors.Is(err, m.store.refuse) {
		t.Fatal(err)
	}
	if _, err := fsys.Open("b.log", os.O_RDWR|os.O_CREATE, 0o600); !errors.Is(err, m.store.refuse) {
		t.Fatal(err)
	}
	m.store.refuse = nil
	if _, err := f.Append([]byte("two")); !errors.Is(err, splitfs.ErrFailed) {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	f = create(t, fsys, "a.log", 0)
	if _, err := f.Append([]byte("two")); err != nil {
		t.Fatal(err)
	}
	if size, err := f.Size(); size != 6 || err != nil {
		t.Errorf("%d bytes, %v", size, err)
	}
}

// A file that was unlinked or replaced lives on, in a region that may grow, until its
// last handle is closed.
func TestUnlinkedAndOpen(t *testing.T) {
	for _, how := range []string{"remove", "replace"} {
		m := newMachine(never)
		fsys := mount(t, m)
		f := create(t, fsys, "a.log", 0)
		_, _ = f.Append([]byte("one"))
		var err error
		if how == "remove" {
			err = fsys.Remove("a.log")
		} else {
			_ = create(t, fsys, "plain", 0).Close()
			err = fsys.Rename("plain", "a.log")
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Append(make([]byte, 3000)); err != nil {
			t.Fatal(err)
		}
		if size, err := f.Size(); size != 3003 || err != nil {
			t.Errorf("%s: %d bytes, %v", how, size, err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if left := m.store.names(); len(left) > 0 {
			t.Errorf("%s: %v is left", how, left)
		}
	}
}

// A file that is copied into a larger region in several pieces is the same there.
func TestLargeCopy(t *testing.T) {
	m := newMachine(never)
	cfg := m.config()
	cfg.Region, cfg.MaxRegion = 3<<20, 8<<20
	fsys, err := splitfs.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	f, want := create(t, fsys, "a.log", 0), make([]byte, 5<<19)
	for i := range want {
		want[i] = byte(i ^ i>>8 ^ i>>16)
	}
	for range 2 { // the second does not fit
		if _, err := f.Append(want); err != nil {
			t.Fatal(err)
		}
	}
	got := make([]byte, 2*len(want))
	if _, err := f.ReadAt(got, 0); err != nil || !bytes.Equal(got, append(want, want...)) {
		t.Errorf("%d bytes are not those that were written: %v", len(got), err)
	}
}

// Invalid operations are refused with their POSIX errors.
func TestRefused(t *testing.T) {
	m := newMachine(never)
	fsys := mount(t, m)
	a := create(t, fsys, "a.log", 0)
	open := func(name string, flag int) error { _, err := fsys.Open(name, flag, 0o600); return err }
	readOnly, _ := fsys.Open("a.log", os.O_RDONLY, 0)
	_, write := readOnly.WriteAt([]byte("x"), 0)
	_, negative := a.ReadAt(nil, -1)
	_ = fsys.Mkdir("dir", 0o700)
	_ = a.Close()
	for _, c := range []struct {
		got, want error
	}{
		{open("a.log", os.O_RDWR|os.O_CREATE|os.O_EXCL), fs.ErrExist},
		{open("b.log", os.O_RDWR), fs.ErrNotExist},
		{open("../b.log", os.O_RDWR|os.O_CREATE), fs.ErrInvalid},
		{open(".splitfs/life", os.O_RDWR), fs.ErrPermission},
		{open("none/b.log", os.O_RDWR|os.O_CREATE), fs.ErrNotExist},
		{write, syscall.EBADF},
		{negative, fs.ErrInvalid},
		{a.Close(), fs.ErrClosed},
		{a.Sync(), fs.ErrClosed},
		{fsys.Rename("dir", "a.log"), syscall.ENOTDIR},
		{fsys.Rename("a.log", "dir"), syscall.EISDIR},
	} {
		if !errors.Is(c.got, c.want) {
			t.Errorf("%v, want %v", c.got, c.want)
		}
	}
	if m.left = 0; len(m.store.names()) != 1 {
		t.Errorf("objects: %v", m.store.names())
	}
}

func TestValidate(t *testing.T) {
	good := newMachine(never).config()
	for _, change := range []func(*splitfs.Config){
		func(c *splitfs.Config) { c.Dir = nil },
		func(c *splitfs.Config) { c.Store = nil },
		func(c *splitfs.Config) { c.Patterns = []string{"[a"} },
		func(c *splitfs.Config) { c.Region = 10 },
		func(c *splitfs.Config) { c.MaxRegion = c.Region - 1 },
		func(c *splitfs.Config) { c.MaxRegion = 1 << 31 },
	} {
		c := good
		change(&c)
		if err := c.Validate(); !errors.Is(err, splitfs.ErrConfig) {
			t.Errorf("%v, want ErrConfig", err)
		}
	}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
}

// A directory of another application, and one that somebody has written into.
func TestDamagedDirectory(t *testing.T) {
	m := newMachine(never)
	fsys := mount(t, m)
	_ = create(t, fsys, "a.log", 0).Close()
	fsys.Close()
	clear(m.store.objects)
	if _, err := mount(t, m).Open("a.log", os.O_RDWR, 0); !errors.Is(err, splitfs.ErrCorrupt) {
		t.Errorf("%v, want ErrCorrupt", err)
	}
	f, _ := m.dir.OpenFile(".splitfs/life", os.O_RDWR, 0)
	_, _ = f.WriteAt([]byte("what?"), 0)
	if _, err := splitfs.New(m.config()); !errors.Is(err, splitfs.ErrCorrupt) {
		t.Errorf("%v, want ErrCorrupt", err)
	}
}

// The operating system's directory behaves like the one in memory: files, stubs and
// folders move, and are there for the next mount. Links are not followed.
func TestOSDir(t *testing.T) {
	at := t.TempDir()
	dir, err := splitfs.OpenOSDir(at)
	if err != nil {
		t.Fatal(err)
	}
	cfg := newMachine(never).config()
	cfg.Dir = dir
	fsys, err := splitfs.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := fsys.Mkdir("x", 0o755); err != nil {
		t.Fatal(err)
	}
	f, plain := create(t, fsys, "x/a.log", os.O_EXCL), create(t, fsys, "plain", 0)
	if err := fsys.Rename("x", "y"); err != nil {
		t.Fatal(err)
	}
	for _, f := range []*splitfs.File{f, plain} {
		for range 3 { // the region grows, under its new name
			if _, err := f.Append(make([]byte, 700)); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	fsys.Close()
	if fsys, err = splitfs.New(cfg); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"y/a.log", "plain"} {
		st, err := fsys.Stat(name)
		if err != nil || st.Size() != 2100 || st.NCL != (name != "plain") || st.Mode().Perm()&0o600 != 0o600 {
			t.Error(name, st, err)
		}
	}
	if err := os.Symlink("y/a.log", at+"/link"); err != nil {
		t.Fatal(err)
	}
	if _, err := fsys.Open("link", os.O_RDWR, 0); !errors.Is(err, fs.ErrInvalid) {
		t.Error(err)
	}
	if err := dir.SyncDir("none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there is synced: %v", err)
	}
	list, err := fsys.ReadDir(".")
	if err != nil || len(list) != 3 {
		t.Error(list, err)
	}
}

func TestPresets(t *testing.T) {
	for name, ncl := range map[string]bool{
		"sqlite:orders.db-wal": true, "sqlite:orders.db": false, "sqlite:orders.db-shm": false,
		"redis:appendonlydir/appendonly.aof.3.incr.aof": true, "redis:appendonlydir/appendonly.aof.3.base.rdb": false,
		"redis:appendonlydir/appendonly.aof.manifest": false, "redis:dump.rdb": false,
		"rocksdb:000012.log": true, "rocksdb:LOG": false, "rocksdb:000010.sst": false,
		"pebble:000004.log": true, "leveldb:000003.log": true, "leveldb:MANIFEST-000002": false,
	} {
		preset, file, _ := strings.Cut(name, ":")
		m := newMachine(never)
		cfg := m.config()
		cfg.Patterns = splitfs.Presets[preset]
		fsys, err := splitfs.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		_ = fsys.Mkdir("appendonlydir", 0o700)
		if got := create(t, fsys, file, 0).NCL(); got != ncl {
			t.Errorf("%s: on the peers: %v, want %v", name, got, ncl)
		}
	}
}
