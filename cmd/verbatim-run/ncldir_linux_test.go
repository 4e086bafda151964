package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/splitfs"
)

// Once the session is over, the directory belongs to the next instance: nothing in it
// changes, neither by name nor through a file that is still open.
func TestOwnDirEndsWithTheSession(t *testing.T) {
	at := t.TempDir()
	dir, err := splitfs.OpenOSDir(at)
	if err != nil {
		t.Fatal(err)
	}
	i := &instance{}
	i.over.Store(true) // no question to the controller from here on
	d := ownDir{dir, i}
	if err := os.WriteFile(filepath.Join(at, "wal"), []byte("theirs"), 0o644); err != nil {
		t.Fatal(err)
	}
	open, err := dir.OpenFile("wal", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	mine := ownDirFile{open, i}
	for what, act := range map[string]func() error{
		"rename":   func() error { return d.Rename("wal", "old") },
		"remove":   func() error { return d.Remove("wal") },
		"mkdir":    func() error { return d.Mkdir("x", 0o755) },
		"create":   func() error { _, err := d.OpenFile("x", os.O_CREATE|os.O_RDWR, 0o644); return err },
		"write":    func() error { _, err := mine.WriteAt([]byte("mine"), 0); return err },
		"truncate": func() error { return mine.Truncate(0) },
		"release":  func() error { return ownObject{nil, i}.Release() },
	} {
		if err := act(); !errors.Is(err, coord.ErrSessionExpired) {
			t.Errorf("%s: %v, want %v", what, err, coord.ErrSessionExpired)
		}
	}
	if b, err := os.ReadFile(filepath.Join(at, "wal")); err != nil || string(b) != "theirs" {
		t.Errorf("the file has %q: %v", b, err)
	}
	if list, _ := os.ReadDir(at); len(list) != 1 {
		t.Errorf("%d names are there, want 1", len(list))
	}
	if f, err := d.OpenFile("wal", os.O_RDONLY, 0); err != nil {
		t.Error(err)
	} else {
		_ = f.Close()
	}
}
