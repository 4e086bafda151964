package main

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/cmd/internal/cli/clitest"
	"github.com/verbatim-rdma/verbatim/cmd/verbatim-farm/internal/split"
	"github.com/verbatim-rdma/verbatim/farm"
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
	for _, command := range []string{"check", "mutants", "matrix"} {
		help, err := exec.CommandContext(t.Context(), program, command, "--help").Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^  +(?:-h, )?--([a-z-]+)(?: ([^ ]+))?  `).FindAllStringSubmatch(string(help), -1) {
			if got := split.Switch(command, m[1]); got != (m[2] == "") {
				t.Errorf("%s --%s %s: a flag without a value: %v", command, m[1], m[2], got)
			}
		}
	}
	_, serving := start(t, "serve", "--listen", "127.0.0.1:0", "--store", t.TempDir())
	url := strings.TrimSpace(strings.TrimPrefix(serving, "serving on "))
	member := []string{"--join", url, "--beat", "200ms", "--program", program}
	first, _ := start(t, append([]string{"work"}, member...)...)
	args := []string{"check", "lease/margin", "ncl/three-writes", "cluster/names", "--workers", "1", "--profile", "strong+Placement=AnyOrder", "--out", t.TempDir()}
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
		{Args: "run --join nats://127.0.0.1:1 --program main.go table1", Code: 3, Stderr: "connect to nats://127.0.0.1:1"},
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

// gather gives results to a plan, and returns the status and what was printed.
func gather(plan *split.Plan, results ...farm.Result) (status int, stdout, stderr string) {
	var out, errs strings.Builder
	root := cli.Root(&cobra.Command{Use: "x"})
	root.AddCommand(&cobra.Command{Use: "y", RunE: func(c *cobra.Command, _ []string) error {
		g := &gathering{c: c, plan: plan}
		for i := range results {
			if err := g.take(i, &results[i]); errors.Is(err, errEnough) {
				break
			} else if err != nil {
				return err
			}
		}
		return g.end()
	}})
	status = cli.Run(root, []string{"y"}, &out, &errs)
	return status, out.String(), errs.String()
}

// Neither of two files with one name is lost.
func TestFilesWithOneNameAreBothKept(t *testing.T) {
	dir := t.TempDir()
	plan := &split.Plan{Out: dir, Jobs: []farm.Job{{Args: []string{"a"}}, {Args: []string{"b"}}, {Args: []string{"c"}}}}
	file := func(text string) farm.Result {
		return farm.Result{Files: map[string][]byte{"f": []byte(text)}, Stdout: []byte("{folder}/f\n")}
	}
	status, out, stderr := gather(plan, file("one"), file("one"), file("two"))
	one, err := os.ReadFile(filepath.Join(dir, "f"))
	two, err2 := os.ReadFile(filepath.Join(dir, "job-3-f"))
	if status != 2 || string(one) != "one" || string(two) != "two" || err != nil || err2 != nil || !strings.Contains(stderr, "two jobs wrote f") {
		t.Errorf("status %d, %q %v, %q %v: %s", status, one, err, two, err2, stderr)
	}
	if want := strings.Repeat(filepath.Join(dir, "f")+"\n", 3); out != want {
		t.Errorf("%q, not %q", out, want)
	}
}

func TestJobsThatAreNotWantedAreNotWaitedFor(t *testing.T) {
	jobs := []farm.Job{{Args: []string{"check", "a"}}, {Args: []string{"b"}}}
	bad, good := farm.Result{Status: 1, Stdout: []byte("bad\n")}, farm.Result{Stdout: []byte("good\n")}
	for name, x := range map[string]struct {
		plan    *split.Plan
		results []farm.Result
		code    int
		out     string
		stderr  string
	}{
		"stop":         {&split.Plan{Jobs: jobs, StopAtFirst: true}, []farm.Result{bad, good}, 1, "bad\n", "1 scenarios are not checked"},
		"go on":        {&split.Plan{Jobs: jobs, StopAtFirst: true}, []farm.Result{good, bad}, 1, "good\nbad\n", ""},
		"no stop":      {&split.Plan{Jobs: jobs}, []farm.Result{bad, good}, 1, "bad\ngood\n", ""},
		"good control": {&split.Plan{Jobs: jobs, Control: 1}, []farm.Result{good, bad}, 1, "bad\n", ""},
		"bad control":  {&split.Plan{Jobs: jobs, Control: 1}, []farm.Result{bad, good}, 2, "", "not verified: check a"},
	} {
		if code, out, stderr := gather(x.plan, x.results...); code != x.code || out != x.out || !strings.Contains(stderr, x.stderr) || x.stderr == "" && stderr != "" {
			t.Errorf("%s: status %d, %q, %q", name, code, out, stderr)
		}
	}
}
