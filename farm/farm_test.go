package farm_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/verbatim-rdma/verbatim/farm"
)

const beat = 50 * time.Millisecond

// envWork makes the test's program a worker: URL and program, with a blank between.
const envWork = "VERBATIM_FARM_TEST_WORK"

func TestMain(m *testing.M) {
	if url, program, ok := strings.Cut(os.Getenv(envWork), " "); ok {
		cfg := farm.WorkerConfig{Config: farm.Config{URL: url, Beat: beat}, Program: program}
		if err := farm.Work(context.Background(), cfg); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// serve starts a server.
func serve(t *testing.T) string {
	t.Helper()
	s, err := farm.Serve(farm.ServerConfig{Listen: "127.0.0.1:0", Store: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s.URL()
}

// script writes a program.
func script(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(name, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return name
}

// work starts a worker in this process, which ends with the test.
func work(t *testing.T, cfg farm.WorkerConfig) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var ended sync.WaitGroup
	ended.Go(func() {
		if err := farm.Work(ctx, cfg); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { stop(); ended.Wait() })
}

func worker(url, program string) farm.WorkerConfig {
	return farm.WorkerConfig{Config: farm.Config{URL: url, Beat: beat}, Program: program}
}

func client(url, program string) farm.RunConfig {
	return farm.RunConfig{Config: farm.Config{URL: url, Beat: beat}, Program: program}
}

// process starts a worker that can be killed.
func process(t *testing.T, url, program string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), envWork+"="+url+" "+program)
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	return c
}

// run runs jobs, and returns their results.
func run(t *testing.T, ctx context.Context, cfg farm.RunConfig, lines ...string) []farm.Result {
	t.Helper()
	var jobs []farm.Job
	for _, l := range lines {
		jobs = append(jobs, farm.Job{Args: strings.Fields(l)})
	}
	var out []farm.Result
	err := farm.Run(ctx, cfg, jobs, func(i int, r *farm.Result) error {
		if i != len(out) {
			t.Errorf("result %d comes after %d others", i, len(out))
		}
		out = append(out, *r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestEachJobHasOneResultInOrder(t *testing.T) {
	url, program := serve(t), script(t, `echo "$@"; echo "$2" >&2; exit $3`)
	for range 3 {
		work(t, worker(url, program))
	}
	var lines []string
	for i := range 30 {
		lines = append(lines, fmt.Sprint("number ", i, " ", i%4))
	}
	for i, r := range run(t, t.Context(), client(url, program), lines...) {
		if want := lines[i] + "\n"; string(r.Stdout) != want || string(r.Stderr) != fmt.Sprintln(i) || r.Status != i%4 || r.Worker == "" || r.Lost != 0 {
			t.Errorf("job %d: %+v", i, r)
		}
	}
}

// waits is a program that reports that it runs, by making a folder, and never ends in its first run unless its worker does.
const waits = `if mkdir "$1" 2>/dev/null; then tail -f /dev/null --pid=$PPID; else echo again; fi`

// appears waits until a file is there.
func appears(t *testing.T, name string) {
	t.Helper()
	for {
		if _, err := os.Stat(name); err == nil {
			return
		}
		if t.Context().Err() != nil {
			t.Fatal(t.Context().Err())
		}
	}
}

func TestAJobOfAKilledWorkerIsRunAgain(t *testing.T) {
	url, program := serve(t), script(t, waits)
	first, taken := process(t, url, program), filepath.Join(t.TempDir(), "taken")
	var wait sync.WaitGroup
	wait.Go(func() {
		appears(t, taken)
		_ = first.Process.Kill()
		process(t, url, program)
	})
	r := run(t, t.Context(), client(url, program), taken)
	wait.Wait()
	if string(r[0].Stdout) != "again\n" || r[0].Status != 0 {
		t.Errorf("%+v", r[0])
	}
}

func TestAJobThatNoWorkerSurvivesFails(t *testing.T) {
	url, program := serve(t), script(t, `[ "$1" = good ] || kill -9 $PPID`)
	ctx, stop := context.WithCancel(t.Context())
	started := make(chan *exec.Cmd, 100)
	var again sync.WaitGroup
	again.Go(func() {
		for ctx.Err() == nil {
			c := process(t, url, program)
			started <- c
			_, _ = c.Process.Wait()
		}
	})
	r := run(t, t.Context(), client(url, program), "bad", "good")
	if r[0].Status != farm.Failed || r[0].Lost != 3 || !strings.Contains(string(r[0].Stderr), "3 workers were lost with this job: bad") || r[1].Status != 0 {
		t.Errorf("%+v", r)
	}
	if n := len(started); n != 4 {
		t.Errorf("%d workers were needed", n)
	}
	for stop(); len(started) > 0; {
		_ = (<-started).Process.Kill()
	}
	again.Wait()
}

// Workers that stop return their jobs. However many do, they do not count as lost.
func TestAJobIsGivenBackByWorkersThatStop(t *testing.T) {
	url, dir := serve(t), t.TempDir()
	program := script(t, `trap exit INT; n=$(ls "$1" | wc -l); mkdir "$1/$n"; [ $n -lt 5 ] || exit 0; tail -f /dev/null --pid=$$ & wait`)
	var stops sync.WaitGroup
	stops.Go(func() {
		for i := range 5 {
			ctx, stop := context.WithCancel(t.Context())
			var ended sync.WaitGroup
			ended.Go(func() { _ = farm.Work(ctx, worker(url, program)) })
			appears(t, filepath.Join(dir, fmt.Sprint(i)))
			stop()
			ended.Wait()
		}
		work(t, worker(url, program))
	})
	if r := run(t, t.Context(), client(url, program), dir); r[0].Status != 0 || r[0].Lost != 0 {
		t.Errorf("%+v", r)
	}
	stops.Wait()
}

func TestAnotherBuildGetsNoJobs(t *testing.T) {
	url, program := serve(t), script(t, "echo mine")
	work(t, worker(url, script(t, "echo other")))
	cfg, notices := client(url, program), 0
	cfg.Notice = func(text string) {
		notices++
		if !strings.Contains(text, "none of the ") || !strings.Contains(text, "has this program, build ") {
			t.Error(text)
		}
		work(t, worker(url, program))
	}
	if r := run(t, t.Context(), cfg, "x", "y"); string(r[0].Stdout) != "mine\n" || notices != 1 {
		t.Errorf("%d notices, %+v", notices, r)
	}
}

func TestOnlyWorkersWithTheSameSourceGetJobsThatNeedIt(t *testing.T) {
	url, program := serve(t), script(t, "cat code.go")
	tree := func(code string) string {
		dir := t.TempDir()
		for name, text := range map[string]string{"go.mod": "module m\n", "code.go": code, "notes": t.Name() + code} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	other := worker(url, program)
	other.Dir = tree("package other\n")
	work(t, other)
	cfg := client(url, program)
	cfg.Dir = tree("package mine\n")
	cfg.Notice = func(string) {
		same := worker(url, program)
		same.Dir = tree("package mine\n")
		work(t, same)
	}
	err := farm.Run(t.Context(), cfg, []farm.Job{{Args: []string{"x"}, Source: true}}, func(_ int, r *farm.Result) error {
		if string(r.Stdout) != "package mine\n" {
			t.Errorf("%+v", r)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	cfg.Dir = ""
	if err := farm.Run(t.Context(), cfg, []farm.Job{{Args: []string{"x"}, Source: true}}, nil); !errors.Is(err, farm.ErrConfig) {
		t.Error(err)
	}
}

func TestForeignMessagesStopNoWorker(t *testing.T) {
	url, program := serve(t), script(t, "echo done")
	work(t, worker(url, program))
	run(t, t.Context(), client(url, program), "the streams are there")
	build, err := farm.Build(program)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, text := range []string{"", "{", "[]", `{"args":[]}`, `{"args":["x"],"number":-1}`, `{"batch":"a b","args":["x"]}`} {
		if err := conn.Publish("verbatim.job."+build+".any.foreign", []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}
	if r := run(t, t.Context(), client(url, program), "x"); string(r[0].Stdout) != "done\n" {
		t.Errorf("%+v", r)
	}
}

func TestALongOutputAndFilesComeWhole(t *testing.T) {
	url, program := serve(t), script(t, `yes 0123456789 | head -c 3000000; mkdir "$2/sub"; echo one >"$2/a"; echo two >"$2/sub/b"`)
	work(t, worker(url, program))
	r := run(t, t.Context(), client(url, program), "--out "+farm.Folder)[0]
	if want := strings.Repeat("0123456789\n", 300000)[:3000000]; string(r.Stdout) != want {
		t.Errorf("%d bytes: %s", len(r.Stdout), r.Stderr)
	}
	if d := cmp.Diff(map[string][]byte{"a": []byte("one\n"), "sub/b": []byte("two\n")}, r.Files); d != "" {
		t.Error(d)
	}
}

// A client that ends withdraws its jobs: those that wait, and the one that runs.
func TestACancelledBatchEnds(t *testing.T) {
	url, program := serve(t), script(t, `[ "$1" = next ] && exit; trap 'mkdir "$1/ended"; exit' INT; mkdir "$1"; tail -f /dev/null --pid=$$ & wait`)
	work(t, worker(url, program))
	taken := filepath.Join(t.TempDir(), "taken")
	ctx, stop := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	defer stop()
	wait.Go(func() { appears(t, taken); stop() })
	jobs := []farm.Job{{Args: []string{taken}}, {Args: []string{taken + "2"}}}
	if err := farm.Run(ctx, client(url, program), jobs, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("it ends with %v", err)
	}
	wait.Wait()
	appears(t, filepath.Join(taken, "ended"))
	run(t, t.Context(), client(url, program), "next")
	if _, err := os.Stat(taken + "2"); err == nil {
		t.Error("a job that was withdrawn has run")
	}
}

func TestWorkersAreListedWhileTheyLive(t *testing.T) {
	url, program := serve(t), script(t, "")
	cfg := worker(url, program)
	cfg.Name = "the one"
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var ended sync.WaitGroup
	ended.Go(func() { _ = farm.Work(ctx, cfg) })
	for _, want := range []int{1, 0} {
		for {
			all, err := farm.Workers(t.Context(), cfg.Config)
			if err != nil {
				t.Fatal(err)
			}
			if len(all) == want {
				if want == 1 && (all[0].Name != "the one" || all[0].Build == "" || all[0].Cores == 0) {
					t.Errorf("%+v", all[0])
				}
				break
			}
		}
		stop()
		ended.Wait()
	}
}

func TestBadConfigurationsAreRefused(t *testing.T) {
	program := script(t, "")
	for name, x := range map[string]struct {
		cfg  farm.WorkerConfig
		want string
	}{
		"no URL":         {worker("", program), "no URL of a server"},
		"escape in URL":  {worker("nats://user:secret%zz@127.0.0.1:1", program), "cannot be parsed"},
		"port in URL":    {worker("nats://user:secret/more@127.0.0.1:1", program), "cannot be parsed"},
		"no program":     {worker("nats://127.0.0.1:1", program+"x"), "the program: open"},
		"no source tree": {farm.WorkerConfig{Config: farm.Config{URL: "nats://127.0.0.1:1"}, Program: program, Dir: t.TempDir()}, "is no source tree"},
		"half a pair":    {farm.WorkerConfig{Config: farm.Config{URL: "nats://127.0.0.1:1", Cert: "x"}, Program: program}, "belong together"},
		"no server 2":    {worker("user:secret@127.0.0.1:1", program), "connect to 127.0.0.1:1: "},
		"no server":      {worker("nats://user:secret@127.0.0.1:1", program), "connect to nats://127.0.0.1:1: "},
	} {
		err := farm.Work(t.Context(), x.cfg)
		if err == nil || !strings.Contains(err.Error(), x.want) || strings.Contains(err.Error(), "secret") || !strings.HasPrefix(name, "no server") && !errors.Is(err, farm.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, cfg := range []farm.ServerConfig{{Listen: "nowhere", Store: t.TempDir()}, {Listen: "127.0.0.1:70000", Store: t.TempDir()}, {File: "missing.conf"}} {
		if s, err := farm.Serve(cfg); !errors.Is(err, farm.ErrConfig) {
			t.Errorf("%+v: %v, %v", cfg, s, err)
		}
	}
}

// The users, certificates and so on of nats-server's configuration apply.
func TestAServerMayAskForAPassword(t *testing.T) {
	file, program := filepath.Join(t.TempDir(), "nats.conf"), script(t, "echo in")
	if err := os.WriteFile(file, []byte("authorization { user: farm, password: secret }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := farm.Serve(farm.ServerConfig{Listen: "127.0.0.1:0", Store: t.TempDir(), File: file})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := farm.Workers(t.Context(), farm.Config{URL: s.URL()}); err == nil || !strings.Contains(err.Error(), "Authorization Violation") {
		t.Error(err)
	}
	url := strings.Replace(s.URL(), "//", "//farm:secret@", 1)
	work(t, worker(url, program))
	if r := run(t, t.Context(), client(url, program), "x"); string(r[0].Stdout) != "in\n" {
		t.Errorf("%+v", r)
	}
}
