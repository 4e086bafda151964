package mutant

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// EnvMutant is an environment variable. [Replay] sets it to the name of the mutant in the program that it starts.
const EnvMutant = "VERBATIM_MUTANT"

// Replay builds the program with one mutant and runs it in the working directory, because a
// counterexample of a mutant fails only in that program. args returns the program's arguments, given the
// overlay with the changed sources and a description of the bug. Replay returns the program's exit status.
func Replay(ctx context.Context, protocol, name string, args func(overlay, note string) []string, stdout, stderr io.Writer) (int, error) {
	r, todo, err := prepare(ctx, Options{Protocol: protocol, Names: []string{name}})
	if err != nil {
		return 0, err
	}
	defer r.close()
	files, err := todo[0].apply(r.root)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	p, err := r.build(checking, name, files)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	c := exec.CommandContext(ctx, p.path, args(filepath.Join(p.dir, "overlay.json"), note(todo[0].Title, todo[0].Breaks))...)
	c.Stdout, c.Stderr, c.WaitDelay = stdout, stderr, time.Second
	c.Env = append(os.Environ(), EnvMutant+"="+name)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	err = c.Run()
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	if code := exitCode(err); code >= 0 {
		return code, nil
	}
	return 0, fmt.Errorf("%w: %s: %w", ErrTool, name, err)
}

// note describes a deliberate bug on the page of a run.
func note(title, breaks string) string { return "The deliberate bug: " + title + ". " + breaks }
