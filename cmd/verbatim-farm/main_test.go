package main

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli/clitest"
)

// envArgs makes the test's program this command.
const envArgs = "VERBATIM_FARM_TEST_ARGS"

func TestMain(m *testing.M) {
	if args := os.Getenv(envArgs); args != "" {
		os.Exit(run(strings.Split(args, "\n"), os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

var (
	line = clitest.Program(run)
	call = line.Call
)

// start starts this command as a process, and returns it with the first line that it prints, on stdout or stderr.
func start(t *testing.T, args ...string) (*exec.Cmd, string) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), envArgs+"="+strings.Join(args, "\n"))
	c.Stdout, c.Stderr = w, w
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
		r.Close()
	})
	w.Close()
	first, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	return c, first
}

// verbatim builds the program that runs the jobs.
func verbatim(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "verbatim")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "github.com/verbatim-rdma/verbatim/cmd/verbatim").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return program
}

// changing matches what differs from run to run.
var changing = regexp.MustCompile(`[0-9.]+ ?m?s\b`)

// A check on a farm prints what a check prints, and has its status, although a worker is killed in the middle.
func TestAFarmPrintsWhatTheCommandPrints(t *testing.T) {
	program := verbatim(t)
	_, serving := start(t, "serve", "--listen", "127.0.0.1:0", "--store", t.TempDir())
	url := strings.TrimSpace(strings.TrimPrefix(serving, "serving on "))
	member := []string{"--join", url, "--beat", "200ms", "--program", program}
	first, _ := start(t, append([]string{"work"}, member...)...)
	args := []string{"check", "lease/margin", "ncl/three-writes", "cluster/names", "--workers", "1", "--profile", "strong+Placement=AnyOrder"}
	alone := exec.CommandContext(t.Context(), program, args...)
	want, err := alone.Output()
	if err == nil || alone.ProcessState.ExitCode() != 1 {
		t.Fatalf("%v: %s", err, want)
	}
	ctx, stop := context.WithCancel(t.Context())
	var killing sync.WaitGroup
	killing.Go(func() { // the worker, once it works
		defer stop()
		for ctx.Err() == nil {
			if _, out, _ := call("status", "--join", url, "--beat", "200ms", "--json"); strings.Contains(out, `"doing":["check"`) {
				_ = first.Process.Kill()
				start(t, append([]string{"work", "--name", "second"}, member...)...)
				return
			}
		}
	})
	code, out, stderr := call(append(append([]string{"run"}, member...), args...)...)
	stop()
	killing.Wait()
	if d := cmp.Diff(changing.ReplaceAllString(string(want), "TIME"), changing.ReplaceAllString(out, "TIME")); d != "" || code != 1 {
		t.Errorf("status %d: %s\n-alone +farm:\n%s", code, stderr, d)
	}
	if _, out, _ := call("status", "--join", url, "--beat", "200ms"); !strings.Contains(out, "second") {
		t.Errorf("the workers:\n%s", out)
	}
}

func TestBadUsage(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for _, x := range []clitest.Usage{
		{Args: "serve", Code: 2, Stderr: `"store" not set`},
		{Args: "serve --store s --listen here", Code: 2, Stderr: `address "here": it must be HOST:PORT`},
		{Args: "work", Code: 2, Stderr: `"join" not set`},
		{Args: "work --join nats://127.0.0.1:1", Code: 2, Stderr: "there is no program verbatim beside this one or in PATH"},
		{Args: "work --join nats://127.0.0.1:1 --program missing", Code: 2, Stderr: "the program: open missing"},
		{Args: "work --join nats://127.0.0.1:1 --program main.go", Code: 3, Stderr: "connect to nats://127.0.0.1:1"},
		{Args: "status --join nats://127.0.0.1:1", Code: 3, Stderr: "connect to nats://127.0.0.1:1"},
		{Args: "run --join nats://127.0.0.1:1 --program main.go", Code: 2, Stderr: "requires at least 1 arg"},
		{Args: "run --join nats://127.0.0.1:1 --program main.go replay f", Code: 2, Stderr: `"replay"; known: check`},
		{Args: "run --join nats://127.0.0.1:1 --program main.go --parts 0 mutants ncl", Code: 2, Stderr: "--parts 0"},
		{Args: "run --join nats://127.0.0.1:1 --program main.go litmus", Code: 3, Stderr: "connect to nats://127.0.0.1:1"},
	} {
		line.Try(t, x)
	}
}

// A file of a job is written into the folder that the client named, and nowhere else.
func TestFilesOfJobsStayInTheirFolder(t *testing.T) {
	dir := t.TempDir()
	if err := write(dir, "a/b.json", []byte("x")); err != nil {
		t.Error(err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "a", "b.json")); err != nil || string(b) != "x" {
		t.Errorf("%q, %v", b, err)
	}
	for _, name := range []string{"../x", "/etc/x", "a/../../x", ""} {
		if err := write(filepath.Join(dir, "in"), name, nil); err == nil || !strings.Contains(err.Error(), "a worker sent a file") {
			t.Errorf("%q: %v", name, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
}
