package whole_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/verbatim-rdma/verbatim/internal/whole"
)

func text(s string, err error) func(io.Writer) error {
	return func(w io.Writer) error {
		_, werr := io.WriteString(w, s)
		return errors.Join(werr, err)
	}
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	name, full := filepath.Join(dir, "f"), errors.New("the disk is full")
	for _, x := range []struct {
		write func(io.Writer) error
		err   error
		want  string
	}{
		{text("one", nil), nil, "one"},
		{text("half", full), full, "one"},
		{text("two", nil), nil, "two"},
	} {
		if err := whole.Write(name, x.write); !errors.Is(err, x.err) {
			t.Error(err)
		}
		if b, err := os.ReadFile(name); err != nil || string(b) != x.want {
			t.Errorf("it holds %q, want %q: %v", b, x.want, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// What is no ordinary file is written to and stays what it is.
func TestWriteToDevice(t *testing.T) {
	link := filepath.Join(t.TempDir(), "null")
	if err := os.Symlink(os.DevNull, link); err != nil {
		t.Fatal(err)
	}
	if err := whole.Write(link, text("gone", nil)); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(link); err != nil || st.Mode().IsRegular() {
		t.Errorf("it was replaced: %v", err)
	}
	if err := whole.Write(filepath.Dir(link), text("", nil)); err == nil {
		t.Error("a folder was written")
	}
}

// A file that is replaced keeps its mode, and a link goes on leading to it.
func TestWriteBehindALink(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "f"), filepath.Join(dir, "link")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("f", link); err != nil {
		t.Fatal(err)
	}
	if err := whole.Write(link, text("new", nil)); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Lstat(link); err != nil || st.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v", err)
	}
	b, err := os.ReadFile(file)
	if err != nil || string(b) != "new" {
		t.Errorf("it holds %q: %v", b, err)
	}
	if st, err := os.Stat(file); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("its mode is %v: %v", st.Mode(), err)
	}
}

// An error names the file that was asked for.
func TestErrorNamesTheFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "none", "f")
	if err := whole.Write(name, text("", nil)); err == nil || err.Error() != "open "+name+": no such file or directory" {
		t.Error(err)
	}
}
