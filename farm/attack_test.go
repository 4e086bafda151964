package farm_test

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/verbatim-rdma/verbatim/farm"
)

// gated is a program that reports that it runs, and ends when it may.
const gated = `[ "$1" = short ] && exit; mkdir "$1/taken"; until [ -e "$1/go" ]; do :; done; echo done`

func touch(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

func starts(t *testing.T, listen, store string) *farm.Server {
	t.Helper()
	s, err := farm.Serve(farm.ServerConfig{Listen: listen, Store: store})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// A server that goes away for longer than four beats (a member of NATS connects again after 2 s), and returns with its folder or an empty one, costs no job.
func TestAServerThatReturnsCostsNoJob(t *testing.T) {
	for _, name := range []string{"same folder", "empty folder"} {
		t.Run(name, func(t *testing.T) {
			store, dir, program := t.TempDir(), t.TempDir(), script(t, gated)
			s := starts(t, "127.0.0.1:0", store)
			u, err := url.Parse(s.URL())
			if err != nil {
				t.Fatal(err)
			}
			work(t, worker(s.URL(), program))
			var back sync.WaitGroup
			back.Go(func() {
				appears(t, filepath.Join(dir, "taken"))
				s.Close()
				if name == "empty folder" {
					store = t.TempDir()
				}
				starts(t, u.Host, store)
				touch(t, filepath.Join(dir, "go"), "")
			})
			r := run(t, t.Context(), client(s.URL(), program), dir, "short")
			back.Wait()
			if string(r[0].Stdout) != "done\n" || r[0].Status != 0 || r[1].Status != 0 {
				t.Errorf("%+v", r)
			}
		})
	}
}

// Ctrl-C ends a client whose server is away.
func TestAClientEndsWhileItsServerIsAway(t *testing.T) {
	s, program := starts(t, "127.0.0.1:0", t.TempDir()), script(t, "")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	cfg := client(s.URL(), program)
	cfg.Notice = func(string) {
		s.Close()
		time.AfterFunc(3*beat, stop) // while it waits for results
	}
	ended := make(chan error, 1)
	go func() { ended <- farm.Run(ctx, cfg, []farm.Job{{Args: []string{"x"}}}, nil) }()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Error("it does not end")
	}
}

// A worker whose program or source tree is replaced returns the job, and ends.
func TestAWorkerWithAChangedProgramOrTreeEnds(t *testing.T) {
	for _, change := range []string{"program", "tree"} {
		t.Run(change, func(t *testing.T) {
			addr, text := serve(t), `if mkdir "$1/taken" 2>/dev/null; then until [ -e "$1/go" ]; do :; done; echo unknown; else echo "mine"; fi`
			tree := func() string {
				dir := t.TempDir()
				touch(t, filepath.Join(dir, "go.mod"), "module m\n")
				return dir
			}
			first, second, dir := worker(addr, script(t, text)), worker(addr, script(t, text)), t.TempDir()
			first.Dir, second.Dir = tree(), tree()
			var other sync.WaitGroup
			other.Go(func() {
				ended := make(chan error, 1)
				go func() { ended <- farm.Work(t.Context(), first) }()
				appears(t, filepath.Join(dir, "taken"))
				if change == "program" { // by another file: it is being run
					touch(t, first.Program+"2", "#!/bin/sh\necho other\n")
					if err := os.Rename(first.Program+"2", first.Program); err != nil {
						t.Error(err)
					}
				} else {
					touch(t, filepath.Join(first.Dir, "rule.litmus"), "other")
				}
				touch(t, filepath.Join(dir, "go"), "")
				if err := <-ended; !errors.Is(err, farm.ErrConfig) || !strings.Contains(err.Error(), "has changed since") {
					t.Error(err)
				}
				work(t, second)
			})
			cfg := client(addr, second.Program)
			cfg.Dir = second.Dir
			err := farm.Run(t.Context(), cfg, []farm.Job{{Args: []string{dir}, Source: true}}, func(_ int, r *farm.Result) error {
				if string(r.Stdout) != "mine\n" || r.Lost != 0 {
					t.Errorf("%+v: %s", r, r.Stdout)
				}
				return nil
			})
			other.Wait()
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// Messages that no member sent neither lose a job nor hide the workers.
func TestForeignMessagesLoseNoJob(t *testing.T) {
	addr, dir, program := serve(t), t.TempDir(), script(t, `mkdir "$1/taken" 2>/dev/null || { echo again; exit; }; tail -f /dev/null --pid=$PPID`)
	cfg := worker(addr, program)
	cfg.Name = "the one"
	work(t, cfg)
	conn, err := nats.Connect(addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var foreign sync.WaitGroup
	foreign.Go(func() {
		appears(t, filepath.Join(dir, "taken"))
		js, err := jetstream.New(conn)
		if err != nil {
			t.Error(err)
			return
		}
		s, err := js.Stream(t.Context(), "VERBATIM_JOBS")
		if err == nil {
			err = s.Purge(t.Context()) // and no message that says so: the worker must notice
		}
		for key, text := range map[string]string{"x": "{", "y": "null", "!": "{}", "z": "[]"} {
			_ = conn.Publish("$KV.verbatim-workers."+key, []byte(text))
		}
		if err = errors.Join(err, conn.Flush()); err != nil {
			t.Error(err)
		}
		all, err := farm.Workers(t.Context(), cfg.Config)
		if err != nil {
			t.Error(err)
		}
		for _, x := range all {
			if x.Name != "the one" {
				t.Errorf("%+v", x)
			}
		}
	})
	if r := run(t, t.Context(), client(addr, program), dir); string(r[0].Stdout) != "again\n" || r[0].Lost != 0 {
		t.Errorf("%+v", r)
	}
	foreign.Wait()
}

// Ctrl-C at a terminal reaches the worker, not its program. The program's names for its folder are general.
func TestAProgramHasItsOwnGroupAndAFolder(t *testing.T) {
	addr, program := serve(t), script(t, `[ $(cut -d' ' -f5 /proc/$$/stat) = $$ ] && echo own; echo "$1/f"; echo "$1" >&2`)
	work(t, worker(addr, program))
	if r := run(t, t.Context(), client(addr, program), farm.Folder)[0]; string(r.Stdout) != "own\n{folder}/f\n" || string(r.Stderr) != "{folder}\n" {
		t.Errorf("%s%s", r.Stdout, r.Stderr)
	}
	if err := farm.Run(t.Context(), client(addr, program), []farm.Job{{}}, nil); !errors.Is(err, farm.ErrConfig) {
		t.Errorf("a job without arguments: %v", err)
	}
}
