package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A program that does not count becomes one that does, with the same arguments; if it
// cannot, it says why and leaves nothing behind.
func TestCounted(t *testing.T) {
	if testing.CoverMode() != "" {
		t.Skip("this program counts: run without -cover")
	}
	t.Setenv("TMPDIR", t.TempDir())
	old := become
	t.Cleanup(func() { become = old })
	calls := 0
	become = func(program string, args, env []string) error {
		calls++
		if st, err := os.Stat(program); err != nil || st.Mode()&0o111 == 0 {
			t.Errorf("there is no program: %v", err)
		}
		if !slices.Equal(args[1:], os.Args[1:]) || !slices.Contains(env, coveredEnv+"="+filepath.Dir(program)) {
			t.Errorf("it is called with %q", args)
		}
		return errors.New("no more processes")
	}
	err := counted(t.Context(), []string{"ncl"}, io.Discard)
	if calls != 1 || err == nil || !strings.Contains(err.Error(), "no more processes") {
		t.Errorf("%d calls: %v", calls, err)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	t.Setenv(coveredEnv, t.TempDir()) // it is said to be one that counts, and does not
	if err := counted(t.Context(), []string{"ncl"}, io.Discard); err == nil || calls != 1 {
		t.Errorf("it goes round in circles: %v", err)
	}
}
