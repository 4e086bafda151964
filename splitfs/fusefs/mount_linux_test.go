package fusefs_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/verbatim-rdma/verbatim/splitfs"
	"github.com/verbatim-rdma/verbatim/splitfs/fusefs"
)

// store keeps objects in memory.
type store map[string]object

type object []byte

func (s store) Create(name string, size int) (splitfs.Object, error) {
	s[name] = make(object, size)
	return &handle{s[name], s, name}, nil
}

func (s store) Recover(name string) (splitfs.Object, error) {
	if s[name] == nil {
		return nil, fs.ErrNotExist
	}
	return &handle{s[name], s, name}, nil
}

type handle struct {
	object
	in   store
	name string
}

func (h *handle) Record(off int, p []byte) error        { copy(h.object[off:], p); return nil }
func (h *handle) ReadAt(p []byte, off int) (int, error) { return copy(p, h.object[off:]), nil }
func (h *handle) Size() int                             { return len(h.object) }
func (h *handle) Release() error                        { delete(h.in, h.name); return nil }
func (h *handle) Close()                                {}

// mountFS mounts a file system over dir, whose objects are in s, and unmounts it at the end.
func mountFS(t *testing.T, dir string, s store) (at string, unmount func()) {
	t.Helper()
	if _, err := os.Stat("/dev/fuse"); err != nil {
		t.Skip("there is no /dev/fuse: ", err)
	}
	d, err := splitfs.OpenOSDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	fsys, err := splitfs.New(splitfs.Config{Dir: d, Store: s, Patterns: []string{"*.log", "*-wal"}, Region: 4 << 10, MaxRegion: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	at = t.TempDir()
	server, err := fusefs.Mount(fusefs.Config{FS: fsys, Dir: d, At: at, Logf: t.Logf})
	if err != nil {
		if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) {
			t.Skip("nothing can be mounted here: ", err)
		}
		t.Fatal(err)
	}
	done := false
	unmount = func() {
		if !done {
			done = true
			if err := server.Unmount(); err != nil {
				t.Error(err)
			}
			fsys.Close()
		}
	}
	t.Cleanup(unmount)
	return at, unmount
}

// What programs do with files works through the mount, and is there in the next.
func TestMount(t *testing.T) {
	dir, s := t.TempDir(), store{}
	at, unmount := mountFS(t, dir, s)
	in := func(name string) string { return filepath.Join(at, name) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Mkdir(in("d"), 0o755))
	f, err := os.OpenFile(in("d/a.log"), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o640)
	must(err)
	var want []byte
	for i := range 300 { // it grows on the way
		line := fmt.Appendf(nil, "line %d\n", i)
		want = append(want, line...)
		_, err := f.Write(line)
		must(err)
	}
	must(f.Sync())
	must(os.Rename(in("d"), in("e")))
	must(os.WriteFile(in("plain"), want, 0o600))
	must(os.Chmod(in("plain"), 0o644))
	must(os.Truncate(in("e/a.log"), int64(len(want)-8)))
	want = want[:len(want)-8]
	gone, err := os.Create(in("gone.log"))
	must(err)
	must(os.Remove(gone.Name()))
	_, err = gone.WriteString("still there")
	must(err)
	st, err := gone.Stat()
	must(err)
	if st.Size() != 11 {
		t.Errorf("an unlinked file has %d bytes", st.Size())
	}
	must(gone.Close())
	must(f.Close())
	d, err := os.Open(in("e"))
	must(err)
	must(errors.Join(d.Sync(), d.Close()))
	if _, err := os.Stat(in(".splitfs")); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("the reserved folder: %v", err)
	}
	if err := os.Symlink("plain", in("link")); err == nil {
		t.Error("a link was made")
	}
	if _, err := f.Write(nil); !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
	big, err := os.Create(in("big.log"))
	must(err)
	if _, err := big.WriteAt([]byte("x"), 2<<20); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a file larger than its region: %v", err)
	}
	must(big.Close())
	must(os.Remove(big.Name()))
	unmount()
	at, _ = mountFS(t, dir, s)
	got, err := os.ReadFile(in("e/a.log"))
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes of %d: %v", len(got), len(want), err)
	}
	st, err = os.Stat(in("e/a.log"))
	if err != nil || st.Mode() != 0o640 || st.Size() != int64(len(want)) {
		t.Error(st, err)
	}
	if list, err := os.ReadDir(at); err != nil || len(list) != 2 {
		t.Error(list, err)
	}
	if len(s) != 1 {
		t.Errorf("%d objects for one file", len(s))
	}
}

func TestBadMountPoint(t *testing.T) {
	dir := t.TempDir()
	at, _ := mountFS(t, dir, store{})
	below := filepath.Join(dir, "below")
	file := filepath.Join(dir, "file")
	if err := errors.Join(os.Mkdir(below, 0o700), os.WriteFile(file, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ at, dir, says string }{
		{at, dir, "is in use"},
		{filepath.Join(dir, "none"), dir, "no such file"},
		{file, dir, "not a folder"},
		{dir, dir, "not empty"},
		{below, below, "the mount would hide it"},
	} {
		err := fusefs.Check(c.at, c.dir)
		if !errors.Is(err, fusefs.ErrMountPoint) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v does not say %q", err, c.says)
		}
	}
}

// The shell of SQLite, which maps memory and takes locks, works through the mount.
func TestSQLiteShell(t *testing.T) {
	program, err := exec.LookPath("sqlite3")
	if err != nil {
		t.Skip("there is no sqlite3")
	}
	at, _ := mountFS(t, t.TempDir(), store{})
	const sql = `PRAGMA journal_mode = WAL; CREATE TABLE t (x); INSERT INTO t VALUES (1), (2); UPDATE t SET x = x + 1;`
	for range 2 {
		if out, err := exec.Command(program, filepath.Join(at, "x.db"), strings.ReplaceAll(sql, "TABLE", "TABLE IF NOT EXISTS")).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	out, err := exec.Command(program, filepath.Join(at, "x.db"), "SELECT sum(x) FROM t; PRAGMA integrity_check").CombinedOutput()
	if err != nil || string(out) != "12\nok\n" {
		t.Errorf("%q %v", out, err)
	}
}
