package command

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

// The watcher notices changes of source files, and folders with source that appear or disappear. It ignores files that
// a check writes.
func TestWatcherNoticesFolders(t *testing.T) {
	top := t.TempDir()
	root := filepath.Join(top, "root")
	for _, dir := range []string{"root/a/b", "root/.git", "elsewhere/c/d", "elsewhere/e"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	file := func(name string) func() error {
		return func() error { return os.WriteFile(filepath.Join(top, name), []byte("x"), 0o644) }
	}
	move := func(from, to string) func() error {
		return func() error { return os.Rename(filepath.Join(top, from), filepath.Join(top, to)) }
	}
	for _, name := range []string{"root/a/b/x.go", "elsewhere/c/d/y.go", "elsewhere/e/page.html"} {
		if err := file(name)(); err != nil {
			t.Fatal(err)
		}
	}
	fs, err := fsnotify.NewWatcher()
	if err != nil {
		t.Fatal(err)
	}
	defer fs.Close()
	w := &watcher{fs: fs, folders: map[string]bool{}, root: root, stderr: io.Discard}
	if has, err := w.add(root); err != nil || !has {
		t.Fatal(has, err)
	}
	for _, x := range []struct {
		what    string
		change  func() error
		noticed bool
	}{
		{"a file", file("root/a/b/x.go"), true},
		{"go.mod", file("root/go.mod"), true},
		{"a counterexample", file("root/x.counterexample.json"), false},
		{"a hidden folder", file("root/.git/x.go"), false},
		{"a folder of pages", move("elsewhere/e", "root/e"), false},
		{"a folder with source", move("elsewhere/c", "root/c"), true},
		{"a file in it", file("root/c/d/y.go"), true},
		{"a folder that is gone", move("root/a", "elsewhere/a"), true},
	} {
		if err := x.change(); err != nil {
			t.Fatal(err)
		}
		patience := 20 * time.Second
		if !x.noticed {
			patience = 2 * settled
		}
		ctx, stop := context.WithTimeout(t.Context(), patience)
		w.changed(ctx)
		if noticed := ctx.Err() == nil; noticed != x.noticed {
			t.Errorf("%s: noticed: %v", x.what, noticed)
		}
		stop()
	}
}
