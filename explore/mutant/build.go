package mutant

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/verbatim-rdma/verbatim/internal/source"
)

// findRoot returns the source tree that contains dir.
func findRoot(dir string) (string, error) {
	root, err := source.Running().Root(dir)
	if err != nil {
		return "", fmt.Errorf("%w; %w", ErrSource, err)
	}
	return root, nil
}

// overlay writes the files that a mutant changes, and the JSON for -overlay that
// puts them in place of those in root, into folder tmp. It returns the JSON's name.
func overlay(root, tmp string, files map[string][]byte) (string, error) {
	replace := map[string]string{}
	for name, text := range files { //lint:ordered every file has a place of its own
		to := filepath.Join(tmp, "src", name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(to, text, 0o644); err != nil {
			return "", err
		}
		replace[filepath.Join(root, name)] = to
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	name := filepath.Join(tmp, "overlay.json")
	return name, os.WriteFile(name, text, 0o644)
}

// goCommand runs the go command in root on the tree that files make of it.
func goCommand(ctx context.Context, root, tmp string, files map[string][]byte, verb string, args ...string) error {
	json, err := overlay(root, tmp, files)
	if err != nil {
		return err
	}
	_, err = command(ctx, root, "go", append([]string{verb, "-overlay=" + json}, args...)...)
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("%w; %w", ErrSource, err)
	}
	return err
}

// The commands that are built: the one that checks, which is this program, and the one that crashes SQLite.
var checking = source.Running().Folder()

const crashing = "./cmd/verbatim-run"

// buildArgs returns the arguments that build a command. Without a build ID, two builds of one
// source are identical, wherever their overlays are.
func buildArgs(command, to string) []string {
	return []string{"-buildvcs=false", "-ldflags=-s -w -buildid=", "-o", to, command}
}

// quickly builds a program without optimisation. It is for a program with one mutant or none:
// compilation takes far longer than the run.
func (r *runner) quickly(name string, files map[string][]byte, verb, pkg string) (string, error) {
	return r.compiled(name, files, verb, pkg, "-gcflags="+source.Module+"/...=-N -l")
}

// compiled builds a program or, with the verb test, the tests of a package, with some files replaced.
func (r *runner) compiled(name string, files map[string][]byte, verb, pkg string, flags ...string) (string, error) {
	dir := filepath.Join(r.tmp, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	path := filepath.Join(dir, "program")
	args := append(flags, "-ldflags=-s -w", "-o", path, pkg)
	if verb == "test" {
		args = append([]string{"-c", "-vet=off"}, args...)
	}
	return path, goCommand(r.ctx, r.root, dir, files, verb, args...)
}

// atOnce checks mutants, as many at a time as there are cores: most of the work is
// that of the compiler. It reports them in order.
func atOnce[R any](r *runner, todo []*Mutant, done func(R), check func(*Mutant) R) ([]R, error) {
	results := make([]chan R, len(todo))
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	defer wg.Wait()
	for i, m := range todo {
		results[i] = make(chan R, 1)
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			var x R
			if r.ctx.Err() == nil {
				x = check(m)
			}
			results[i] <- x
		})
	}
	var out []R
	for i := range todo {
		x := <-results[i]
		if r.ctx.Err() != nil {
			return out, r.ctx.Err()
		}
		out = append(out, x)
		if done != nil {
			done(x)
		}
	}
	return out, nil
}

// grace is how long a command may take to exit after an interrupt.
const grace = 10 * time.Second

// command runs a command and returns its output. If it fails, the error contains
// what it printed on standard error.
func command(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	return commandWith(ctx, nil, dir, name, args...)
}

// commandWith is command with something added to the environment.
func commandWith(ctx context.Context, env []string, dir, name string, args ...string) ([]byte, error) {
	var stdout, stderr bytes.Buffer
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.Stdout, c.Stderr = dir, &stdout, &stderr
	c.Env = append(os.Environ(), env...)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = grace
	err := c.Run()
	switch {
	case ctx.Err() != nil:
		err = ctx.Err() // the error of a killed command does not name the cause
	case err != nil:
		err = fmt.Errorf("%w: %s %s: %w%s", ErrTool, filepath.Base(name), strings.Join(args, " "), err, indented(stderr.String()))
	}
	return stdout.Bytes(), err
}

// maxShown bounds how much output of a command goes into an error.
const maxShown = 4000

func indented(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return ""
	}
	if len(text) > maxShown {
		text = text[:maxShown] + "…"
	}
	return "\n\t" + strings.ReplaceAll(text, "\n", "\n\t")
}

// exitCode returns the exit status that err reports, or -1.
func exitCode(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	return -1
}
