package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/internal/source"
)

// watcher repeats a command whenever the source of its program changes.
type watcher struct {
	fs             *fsnotify.Watcher
	folders        map[string]bool // watched now or before
	root, program  string          // the source tree, and where the program is built
	args           []string        // of the program
	stdout, stderr io.Writer
}

// settled is how long the source must be unchanged before it is built: an editor writes several files.
const settled = 200 * time.Millisecond

// watch checks again and again, until Ctrl-C. Its status is the status of the last check.
func watch(c *cobra.Command, args []string) error {
	root, err := source.Running().Root("")
	if err == nil {
		root, err = filepath.EvalSymlinks(root) // WalkDir does not enter a link
	}
	if err != nil {
		return fmt.Errorf("--watch: %w", err)
	}
	dir, err := os.MkdirTemp("", "verbatim-watch-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fs, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("--watch: %w", err)
	}
	defer fs.Close()
	w := &watcher{fs, map[string]bool{}, root, filepath.Join(dir, "program"), commandArgs(c, args, "watch"), c.OutOrStdout(), c.ErrOrStderr()}
	if _, err := w.add(root); err != nil {
		return fmt.Errorf("--watch: %w", err)
	}
	ctx, stop := cli.Interruptible(c)
	defer stop()
	status := cli.OK
	for ctx.Err() == nil {
		status = w.round(ctx)
	}
	return cli.Status(status).Err()
}

// round checks once, and returns the status when the source has changed or ctx is done. A change stops the check.
func (w *watcher) round(ctx context.Context) int {
	now, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan int, 1)
	go func() {
		done <- w.check(now, ctx)
		if now.Err() == nil {
			remark(w.stderr, "waiting for a change of the source; Ctrl-C ends")
		}
	}()
	w.changed(ctx)
	stop()
	return <-done
}

// check builds the program and runs it, until ctx is done. If whole is done, by Ctrl-C, the program may print a last
// result.
func (w *watcher) check(ctx, whole context.Context) int {
	build := exec.CommandContext(ctx, "go", append(append([]string{"build", "-buildvcs=false"}, buildTags()...), "-o", w.program, source.Running().Folder())...)
	build.Dir, build.Stdout, build.Stderr = w.root, w.stderr, w.stderr
	if err := build.Run(); err != nil {
		if ctx.Err() == nil {
			remark(w.stderr, "the program cannot be built: %v", err)
		}
		return cli.Bad
	}
	run := exec.CommandContext(ctx, w.program, w.args...)
	run.Stdout, run.Stderr = w.stdout, w.stderr
	run.Cancel = func() error {
		if whole.Err() != nil {
			return run.Process.Signal(os.Interrupt)
		}
		return run.Process.Kill()
	}
	run.WaitDelay = 5 * time.Second
	err := run.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.Exited() {
		return exit.ExitCode()
	}
	switch {
	case err == nil:
		return cli.OK
	case ctx.Err() != nil:
		return cli.RanOut
	}
	remark(w.stderr, "%v", err)
	return cli.Bad
}

// buildTags returns the flag with which this program was built.
func buildTags() []string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "-tags" {
				return []string{"-tags=" + s.Value}
			}
		}
	}
	return nil
}

// changed returns when the source has changed and is settled, or ctx is done.
func (w *watcher) changed(ctx context.Context) {
	var rest <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-rest:
			return
		case err := <-w.fs.Errors:
			remark(w.stderr, "--watch: %v", err)
			if errors.Is(err, fsnotify.ErrEventOverflow) { // the dropped events may include any change
				_, _ = w.add(w.root)
				rest = time.After(settled)
			}
		case e := <-w.fs.Events:
			if w.matters(e) {
				rest = time.After(settled)
			}
		}
	}
}

// matters reports whether an event may change the program. The event of a folder stands for everything in it.
func (w *watcher) matters(e fsnotify.Event) bool {
	switch {
	case isSource(e.Name):
		return !e.Has(fsnotify.Chmod)
	case e.Has(fsnotify.Create):
		has, _ := w.add(e.Name) // an error means that the folder is already gone
		return has
	case e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename):
		return w.folders[e.Name]
	}
	return false
}

// add watches a folder and its subfolders, except hidden ones, and reports whether they contain source.
func (w *watcher) add(dir string) (has bool, err error) {
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && name != dir && d.IsDir():
			return filepath.SkipDir // the folder is gone or unreadable, so the program cannot depend on it
		case err != nil:
			return err
		case !d.IsDir():
			has = has || isSource(name)
			return nil
		case name != dir && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		}
		w.folders[name] = true
		return w.fs.Add(name)
	})
	return has, err
}

// isSource reports whether a program may be built from a file. A check writes counterexamples: they are not source.
func isSource(name string) bool {
	return slices.Contains([]string{".go", ".mod", ".sum", ".c", ".h"}, filepath.Ext(name)) && !strings.HasPrefix(filepath.Base(name), ".")
}

// commandArgs returns the arguments of the program for a command with its flags, except some.
func commandArgs(c *cobra.Command, args []string, except ...string) []string {
	out := []string{c.Name()}
	c.Flags().Visit(func(f *pflag.Flag) {
		if slices.Contains(except, f.Name) {
			return
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			out = append(out, "--"+f.Name+"="+v)
		}
	})
	return append(append(out, "--"), args...)
}
