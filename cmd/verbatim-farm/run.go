package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/cmd/verbatim-farm/internal/split"
	"github.com/verbatim-rdma/verbatim/farm"
)

// runFlags are the flags of the command run.
type runFlags struct {
	memberFlags
	parts int
}

func newRun() *cobra.Command {
	f := &runFlags{}
	c := &cobra.Command{
		Use:   "run COMMAND...",
		Short: "Run a command of verbatim on a farm",
		Long: `Run divides a command of verbatim into jobs, and prints their results in order. The names in
COMMAND come before its flags:

  check [NAME]...       a job for each scenario
  mutants PROTOCOL      a job for the check of each scenario, then one for each mutant
  mutants --generate    --parts jobs; the score is that of all mutants
  matrix [PROTOCOL]...  a job for each protocol
  litmus, table1        one job

The files that a command writes into its --out come back. Other flags that name a file are
refused, and so is --watch. Ctrl-C withdraws the jobs. The text of mutants has a table for
each mutant, and that of mutants --generate is shorter; --json is that of the command.

Exit status: that of the command; 2 also if a job was lost with three workers, 3 also if the
server cannot be reached.`,
		Example: `  verbatim-farm run --join nats://10.0.0.1:4222 check ncl sift arcadia --json
  verbatim-farm run --join nats://10.0.0.1:4222 mutants ncl --generate --sample 400`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return runRun(c, f, args) },
	}
	f.define(c.Flags())
	f.defineProgram(c.Flags())
	c.Flags().IntVar(&f.parts, "parts", 8, "the `number` of jobs for generated mutants")
	c.Flags().SetInterspersed(false) // the flags of COMMAND are its own
	cobra.CheckErr(c.MarkFlagRequired("join"))
	return c
}

func runRun(c *cobra.Command, f *runFlags, args []string) error {
	if f.parts < 1 {
		return fmt.Errorf("--parts %d: it must be at least 1", f.parts)
	}
	if err := f.fill(); err != nil {
		return err
	}
	ctx, stop := cli.Interruptible(c)
	defer stop()
	plan, err := split.Of(args, &split.Source{Ask: f.ask(ctx), Root: f.dir, Parts: f.parts})
	if err != nil {
		return err
	}
	g := &gathering{c: c, plan: plan}
	cfg := farm.RunConfig{Config: f.Config, Program: f.program, Dir: f.dir,
		Notice: func(text string) { fmt.Fprintf(c.ErrOrStderr(), "verbatim-farm: %s\n", text) }}
	if err := farm.Run(ctx, cfg, plan.Jobs, g.take); err != nil {
		if !errors.Is(err, errEnough) {
			return status(err, c.ErrOrStderr())
		}
	}
	return g.end()
}

// ask runs the program on this machine.
func (f *runFlags) ask(ctx context.Context) func(...string) ([]byte, error) {
	return func(args ...string) ([]byte, error) {
		program, err := filepath.Abs(f.program)
		if err != nil {
			return nil, err
		}
		out, err := exec.CommandContext(ctx, program, args...).Output()
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return nil, fmt.Errorf("%s", exit.Stderr)
		}
		return out, err
	}
}

// gathering prints results.
type gathering struct {
	c       *cobra.Command
	plan    *split.Plan
	status  int
	written map[string][]byte // the files, with their contents
}

// errEnough ends a run whose other jobs are not wanted.
var errEnough = errors.New("the other jobs are not wanted")

func (g *gathering) take(i int, r *farm.Result) error {
	out := g.plan.Out
	stdout, stderr := local(r.Stdout, out), local(r.Stderr, out)
	if _, err := g.c.ErrOrStderr().Write(stderr); err != nil {
		return err
	}
	if i < g.plan.Control {
		return g.control(i, r.Status, stdout)
	}
	g.status = cli.Worse(g.status, known(r.Status))
	if err := g.files(i, r); err != nil {
		return err
	}
	if g.plan.Score != nil && known(r.Status) == cli.OK {
		return g.plan.Score.Add(g.c.OutOrStdout(), r)
	}
	if _, err := g.c.OutOrStdout().Write(stdout); err != nil {
		return err
	}
	if left := len(g.plan.Jobs) - 1 - i; g.plan.StopAtFirst && r.Status == cli.Violated && left > 0 {
		fmt.Fprintf(g.c.ErrOrStderr(), "verbatim-farm: stopped at the first violation: %d scenarios are not checked\n", left)
		return errEnough
	}
	return nil
}

// control ends the run if the unchanged code is not verified, as the command mutants does.
func (g *gathering) control(i, status int, stdout []byte) error {
	if status == cli.OK {
		return nil
	}
	g.status = cli.Bad
	fmt.Fprintf(g.c.ErrOrStderr(), "%sverbatim-farm: the code without a mutant is not verified: %s\n", stdout, strings.Join(g.plan.Jobs[i].Args, " "))
	return errEnough
}

// files writes the files of a job. Two jobs that write different files with one name are an error: neither may be lost.
func (g *gathering) files(i int, r *farm.Result) error {
	if g.plan.Out == "" {
		return nil // it asked for none
	}
	if g.written == nil {
		g.written = map[string][]byte{}
	}
	for name, b := range r.Files { //lint:ordered each is written
		before, again := g.written[name]
		if again && !bytes.Equal(before, b) {
			g.status = cli.Bad
			to := fmt.Sprintf("job-%d-%s", i+1, filepath.Base(filepath.FromSlash(name)))
			fmt.Fprintf(g.c.ErrOrStderr(), "verbatim-farm: two jobs wrote %s: that of %s is %s\n", name, strings.Join(g.plan.Jobs[i].Args, " "), to)
			name = to
		}
		g.written[name] = b
		if err := write(g.plan.Out, name, b); err != nil {
			return err
		}
	}
	return nil
}

// local puts the folder of this machine into an output that names the worker's.
func local(text []byte, out string) []byte {
	if out == "" {
		return text
	}
	text = bytes.ReplaceAll(text, []byte(farm.Folder+"/"), []byte(strings.TrimSuffix(filepath.Join(out, "x"), "x")))
	return bytes.ReplaceAll(text, []byte(farm.Folder), []byte(out))
}

// known returns a status of verbatim: others, such as those of a shell, count as failures.
func known(status int) int {
	if status < cli.OK || status > cli.RanOut {
		return cli.Bad
	}
	return status
}

// write writes a file of a job into a folder of this machine, and nowhere else.
func write(folder, name string, b []byte) error {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return fmt.Errorf("a worker sent a file that would be written to %q", name)
	}
	to := filepath.Join(folder, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o644)
}

func (g *gathering) end() error {
	if g.plan.Score != nil && g.status == cli.OK {
		enough, err := g.plan.Score.End(g.c.OutOrStdout())
		if err != nil {
			return err
		}
		if !enough {
			g.status = cli.Violated
		}
	}
	return cli.Status(g.status).Err()
}
