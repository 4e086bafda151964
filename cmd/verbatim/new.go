package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/build"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/examples/start"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/internal/source"
)

// newFlags are the flags of the command new.
type newFlags struct {
	module  string
	replace string
}

// newNew returns the command that writes a module.
func newNew() *cobra.Command {
	f := &newFlags{}
	c := &cobra.Command{
		Use:   "new DIR",
		Short: "Write a module with a protocol of your own, to begin with",
		Long: `New writes a Go module that works at once: a small protocol (a word that is kept on three
hosts), a scenario with its promises, a test that checks them, a mutant that is caught,
and a program with the commands of verbatim for the protocols of the module. DIR must be
empty or not exist. docs/own.md describes what to change first.

The module requires the version of this program. If this program was built from a source
tree, it is not a released version: the module then uses that source tree, or the one of
--replace. New needs the go command. It needs no network if the modules of verbatim are
already downloaded.

Exit status: 0 the module is written, 2 bad usage or input, or the modules that it needs
are missing.`,
		Example: "  verbatim new lock\n  verbatim new lock --module example.com/lock\n  verbatim new lock --replace ../verbatim",
		Args:    cli.Takes("one folder", cobra.ExactArgs(1)),
		RunE:    func(c *cobra.Command, args []string) error { return runNew(c, f, args[0]) },
	}
	c.Flags().StringVar(&f.module, "module", "", "`path` of the module; default: example.com/ and the name of DIR")
	c.Flags().StringVar(&f.replace, "replace", "", "`folder` with the source tree of verbatim, to be used instead of a released version")
	return c
}

func runNew(c *cobra.Command, f *newFlags, dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if len(entries) > 0 {
		return fmt.Errorf("%s is not empty: name a folder that is empty or does not exist", dir)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	from, err := f.required(builtFrom(), version())
	if err != nil {
		return err
	}
	ctx, stop := cli.Interruptible(c)
	defer stop()
	module := cmp.Or(f.module, "example.com/"+filepath.Base(dir))
	if err := isFree(module); err != nil {
		return err
	}
	if err := initModule(ctx, dir, module); err != nil {
		return err
	}
	if err := writeModule(ctx, dir, module, from); err != nil {
		return err
	}
	return nextSteps(c.OutOrStdout(), module, dir, inWorkspace(ctx, dir))
}

// inWorkspace reports whether a folder is in a workspace. Its go.work does not name the new module yet, so the go command
// would not build the module.
func inWorkspace(ctx context.Context, dir string) bool {
	c := exec.CommandContext(ctx, "go", "env", "GOWORK")
	c.Dir = dir
	out, err := c.Output()
	file := strings.TrimSpace(string(out))
	return err == nil && file != "" && file != "off"
}

// nextSteps prints the first commands for a new module.
func nextSteps(w io.Writer, module, dir string, workspace bool) error {
	use := ""
	if workspace {
		use = "\n  go work use .                # your go.work does not name this module yet"
	}
	if cwd, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(cwd, dir); err == nil && len(rel) < len(dir) {
			dir = rel
		}
	}
	_, err := fmt.Fprintf(w, `%s is written. Try:
  cd %s%s
  go run . check register      # what it promises, in every run
  go run . mutants register    # a mistake on purpose is caught
  go test ./...                # the same check as a test
then change register/register.go, and check again
`, module, explore.Quote(dir), use)
	return err
}

// requirement is the version of this module that another module requires, and the source tree that replaces it, if any.
type requirement struct{ version, tree string }

// required returns the requirement of the new module, for a program of this version that was built from this source tree.
func (f *newFlags) required(tree, version string) (requirement, error) {
	const unreleased = "v0.0.0"
	if f.replace != "" {
		tree, err := filepath.Abs(f.replace)
		if err != nil {
			return requirement{}, err
		}
		if !isSource(tree) {
			return requirement{}, fmt.Errorf("--replace %s: it has no go.mod of %s: name the source tree of verbatim", f.replace, source.Module)
		}
		return requirement{unreleased, tree}, nil
	}
	switch {
	case tree != "":
		return requirement{unreleased, tree}, nil
	case strings.HasPrefix(version, "v") && !strings.HasSuffix(version, "+dirty"):
		return requirement{version: version}, nil
	}
	return requirement{}, errors.New("this program is not a released version, and its source tree is no longer where it was: name one with --replace")
}

// builtFrom returns the source tree from which this program was built; it is empty if the tree is a released version, or
// gone.
func builtFrom() string {
	_, file, _, ok := runtime.Caller(0)
	tree := filepath.Dir(filepath.Dir(filepath.Dir(file)))
	if !ok || strings.Contains(tree, "@") || !isSource(tree) { // the path of a downloaded module has its version
		return ""
	}
	return tree
}

// version is the version of this program, as the go command knows it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return info.Main.Version
}

func isSource(tree string) bool {
	text, err := os.ReadFile(filepath.Join(tree, "go.mod"))
	return err == nil && source.ModuleOf(text) == source.Module
}

// isFree returns an error for a path that Go or this module uses: packages of two modules would have the same path.
func isFree(module string) error {
	owner := ""
	if p, err := build.Import(module, "", build.FindOnly); err == nil && p.Goroot || module == "std" || module == "cmd" {
		owner = "the standard library"
	}
	if module == source.Module || strings.HasPrefix(module, source.Module+"/") {
		owner = "verbatim"
	}
	if owner == "" {
		return nil
	}
	return fmt.Errorf("no module is written: %s is a path of %s; choose another with --module, such as example.com/%s", module, owner, path.Base(module))
}

// initModule makes the folder and its go.mod. If the go command does not accept the path, it leaves nothing behind.
func initModule(ctx context.Context, dir, module string) error {
	_, missing := os.Stat(dir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	err := goIn(ctx, dir, "mod", "init", module)
	if err == nil {
		return nil
	}
	if missing != nil {
		_ = os.Remove(dir)
	}
	return fmt.Errorf("no module is written; --module sets its path: %w", err)
}

// writeModule writes the files, and finds the modules that they need.
func writeModule(ctx context.Context, dir, module string, from requirement) error {
	if err := start.Write(dir, module); err != nil {
		return err
	}
	// mutants --generate and vet build these.
	const mutate, vet = source.Module + "/cmd/verbatim-mutate", source.Module + "/cmd/verbatim/verbatim-vet"
	edit := []string{"mod", "edit", "-require=" + source.Module + "@" + from.version, "-tool=" + mutate, "-tool=" + vet}
	if from.tree != "" {
		edit = append(edit, "-replace="+source.Module+"="+from.tree)
		sums, err := os.ReadFile(filepath.Join(from.tree, "go.sum")) // saves a look-up
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o644)
		}
		if err != nil {
			return err
		}
	}
	if err := goIn(ctx, dir, edit...); err != nil {
		return err
	}
	for _, args := range [][]string{{"get", "-t", "./..."}, {"list", "-mod=mod", "-deps", mutate, vet}} { // go get would look up mutate and vet
		if err := goIn(ctx, dir, args...); err != nil {
			return fmt.Errorf("%s is written, but modules that it needs are missing: run `go mod tidy` in it where they can be downloaded: %w", dir, err)
		}
	}
	return nil
}

// goIn runs the go command in a folder. Its error contains the output of the command.
func goIn(ctx context.Context, dir string, args ...string) error {
	var stderr bytes.Buffer
	c := exec.CommandContext(ctx, "go", args...)
	c.Dir, c.Stderr = dir, &stderr
	c.Env = append(os.Environ(), "GOWORK=off") // the folder is a module, even inside a workspace
	if err := c.Run(); err != nil {
		return fmt.Errorf("go %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return nil
}
