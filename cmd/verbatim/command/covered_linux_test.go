package command

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/protocol/ncl/nclcheck"
)

// A program that does not count becomes one that does, with the same arguments, before it
// has read anything; if it cannot, it reports the reason and leaves nothing behind.
func TestCounted(t *testing.T) {
	if testing.CoverMode() != "" {
		t.Skip("this program counts: run without -cover")
	}
	temporary := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(t.TempDir(), temporary); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", temporary)
	use(t, Protocol{Name: "ncl", Scenarios: nclcheck.Scenarios, Folders: []string{"protocol/ncl"}, FromTrace: nclcheck.FromTrace})
	old := become
	t.Cleanup(func() { become = old })
	trace, calls := piped(t, goodTrace), 0
	become = func(program string, args, env []string) error {
		calls++
		if n, err := unix.IoctlGetInt(int(trace.Fd()), unix.TIOCINQ); err != nil || n != len(goodTrace) {
			t.Errorf("of the pipe %d of %d bytes are left: %v", n, len(goodTrace), err)
		}
		if !slices.Equal(args[1:], os.Args[1:]) || !slices.Contains(env, coveredEnv+"="+filepath.Dir(program)) {
			t.Errorf("it is called with %q", args)
		}
		leavesNothing(t, program, env)
		return errors.New("no more processes")
	}
	report := filepath.Join(t.TempDir(), "r.html")
	code, out, stderr := call("check", "ncl", "--trace", "/dev/stdin", "--max-runs", "1", "--report", report)
	if page := pageText(t, report); calls != 1 || code != cli.OK || !strings.Contains(page, "no more processes") {
		t.Errorf("%d calls, status %d: %s%s", calls, code, out, stderr)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	t.Setenv(coveredEnv, t.TempDir()) // it is said to be one that counts, and does not
	if err := counted(t.Context(), []string{"ncl"}, &bytes.Buffer{}); err == nil || calls != 1 {
		t.Errorf("it goes round in circles: %v", err)
	}
	if adopt() {
		t.Error("it takes itself for one that counts")
	}
}

// piped makes a text the standard input, in a pipe.
func piped(t *testing.T, text string) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.WriteString(text); err != nil {
		t.Fatal(err)
	}
	w.Close()
	old, err := unix.Dup(0)
	if err == nil {
		err = unix.Dup3(int(r.Fd()), 0, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Dup3(old, 0, 0); _ = unix.Close(old); r.Close() })
	return r
}

// leavesNothing runs the program that counts. Its folder is gone as soon as it has begun
// to read, so that nothing is left behind if it is killed then.
func leavesNothing(t *testing.T, program string, env []string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), program, "check", "ncl", "--trace", "/dev/stdin")
	c.Env = env
	stdin, err := c.StdinPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Error(err)
		return
	}
	_, _ = stdin.Write(bytes.Repeat([]byte("\n"), 1<<20)) // more than a pipe holds
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("while it runs there is %v %v", left, err)
	}
	_ = c.Process.Kill()
	_ = c.Wait()
}
