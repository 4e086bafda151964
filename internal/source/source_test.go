package source

import (
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
)

// A program of another module is built from that module, and a test stands for the command of this one.
func TestProgramOf(t *testing.T) {
	for _, x := range []struct {
		path, module string
		want         Program
		folder       string
	}{
		{command, Module, Program{Module, command}, "./cmd/verbatim"},
		{Module + "/explore.test", Module, Program{Module, command}, "./cmd/verbatim"},
		{"example.com/lock", "example.com/lock", Program{"example.com/lock", "example.com/lock"}, "."},
		{"example.com/lock/cmd/check", "example.com/lock", Program{"example.com/lock", "example.com/lock/cmd/check"}, "./cmd/check"},
		{"command-line-arguments", "", Program{}, "."},
	} {
		got := programOf(&debug.BuildInfo{Path: x.path, Main: debug.Module{Path: x.module}})
		if got != x.want || got.Folder() != x.folder {
			t.Errorf("%s: %+v in %s", x.path, got, got.Folder())
		}
	}
}

func TestRoot(t *testing.T) {
	root := t.TempDir()
	inner := filepath.Join(root, "a", "b")
	if err := os.MkdirAll(inner, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{filepath.Join(root, "go.mod"): "// the lock\n\nmodule \"example.com/lock\" // v1\n", filepath.Join(root, "a", "go.mod"): "module other\n"} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := (Program{"example.com/lock", "example.com/lock"}).Root(inner); err != nil || got != root {
		t.Errorf("%s, %v; want %s", got, err, root)
	}
	if got, err := (Program{"example.com/none", "example.com/none"}).Root(inner); !errors.Is(err, ErrNone) {
		t.Errorf("%s, %v", got, err)
	}
	if got, err := (Program{}).Root(inner); !errors.Is(err, ErrNone) {
		t.Errorf("%s, %v", got, err)
	}
}
