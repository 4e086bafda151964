package command

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/internal/number"
	"github.com/verbatim-rdma/verbatim/litmus"
	"github.com/verbatim-rdma/verbatim/litmus/generate"
	"github.com/verbatim-rdma/verbatim/litmus/lang"
)

// generateFlags are the flags of the command litmus generate.
type generateFlags struct {
	size     int
	program  string
	profiles []string
	knobs    bool
	out      string
	asJSON   bool
	list     bool
	maxTime  time.Duration
	workers  int
}

// newGenerate returns the command that makes litmus tests.
func newGenerate() *cobra.Command {
	f := &generateFlags{}
	c := &cobra.Command{
		Use:   "generate --size N | --program NAME",
		Short: "Make all litmus tests up to a size, with the verdict of each profile",
		Long: `Generate lists all small programs up to a size, each once up to renaming, with their
possible final states under each profile: first the states that all profiles allow, then
those that distinguish profiles. docs/generator.md describes the programs, their names
and their number.

A weaker profile must allow everything that a stronger one allows. Exceptions are
listed; they are errors in the simulator or in the order of profiles.

--out writes each program to a file that passes 'verbatim litmus'. --json prints one
object per line with the keys program, size, text, profiles, states (each with state and
profiles), separates, runs, explored, and undecided (profiles without an answer).

Exit status: 0 all decided, 1 a weaker profile forbids what a stronger one allows, 2 bad
usage, 3 a limit was hit.`,
		Example: `  verbatim litmus generate --size 3
  verbatim litmus generate --size 4 --out generated && verbatim litmus generated
  verbatim litmus generate --size 4 --json | jq -r 'select(.separates) | .program'
  verbatim litmus generate --program A-wx-wy_B-ly-lx --profile strong,relaxed`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runGenerate(c, f) },
	}
	fl := c.Flags()
	fl.IntVar(&f.size, "size", 0, fmt.Sprintf("all programs up to this size, at most %d", generate.MaxSize))
	fl.StringVar(&f.program, "program", "", "only the program with this `name`")
	fl.StringSliceVar(&f.profiles, "profile", nil, "only these `profiles`, names or files, separated by commas; default: the named ones")
	fl.BoolVar(&f.knobs, "knobs", false, "also profiles with one changed knob")
	fl.StringVar(&f.out, "out", "", "write each program to a file in this `directory`")
	fl.BoolVar(&f.asJSON, "json", false, "print one JSON object per line for each program")
	fl.BoolVar(&f.list, "list", false, "only print the names of the programs")
	fl.DurationVar(&f.maxTime, "max-time", time.Minute, "stop a search after this time, for each program and profile; 0: no limit")
	fl.IntVar(&f.workers, "workers", 0, "parallel programs; 0: one for each core")
	cli.CompleteWith(c, map[string]cobra.CompletionFunc{"profile": cli.CompleteProfile})
	return c
}

// programs lists the programs that the flags select.
func (f *generateFlags) programs() ([]*generate.Program, error) {
	switch {
	case f.program != "" && f.size != 0:
		return nil, errors.New("--size and --program exclude each other")
	case f.program != "":
		p, err := generate.Parse(f.program)
		return []*generate.Program{p}, err
	case f.size < 1 || f.size > generate.MaxSize:
		return nil, fmt.Errorf("--size %d: give a size from 1 to %d, or --program", f.size, generate.MaxSize)
	}
	return generate.All(f.size), nil
}

func runGenerate(c *cobra.Command, f *generateFlags) error {
	if err := CheckLimits(f.workers, f.maxTime); err != nil {
		return err
	}
	if f.list && (f.asJSON || f.out != "" || f.knobs || len(f.profiles) > 0) {
		return errors.New("--list only prints names: omit --json, --out, --knobs and --profile")
	}
	programs, err := f.programs()
	if err != nil {
		return err
	}
	w := c.OutOrStdout()
	if f.list {
		for _, p := range programs {
			if _, err := fmt.Fprintln(w, p); err != nil {
				return err
			}
		}
		return nil
	}
	if f.out != "" {
		if err := os.MkdirAll(f.out, 0o755); err != nil {
			return err
		}
	}
	ctx, stop := cli.Interruptible(c)
	defer stop()
	profiles := f.profiles
	if f.knobs {
		profiles = append(generate.AllProfiles(), profiles...)
	}
	for i := range profiles {
		p, err := faults.FindProfile(strings.TrimSpace(profiles[i]))
		if err != nil {
			return err
		}
		profiles[i] = p.Name
	}
	seq, err := generate.Judge(programs, generate.Options{Profiles: profiles, Workers: f.workers,
		Search: litmus.Options{MaxTime: f.maxTime, Stop: func() bool { return ctx.Err() != nil }}})
	if err != nil {
		return err
	}
	r := &generateReport{f: f, w: w}
	line := cli.NewSpinner(c.ErrOrStderr())
	defer line.Clear()
	for v := range seq {
		if ctx.Err() != nil {
			break
		}
		line.Clear()
		if err := r.add(v); err != nil {
			return err
		}
		line.Show(fmt.Sprintf("%d of %s", r.programs, number.Of(len(programs), "program")))
	}
	line.Clear()
	return cli.Status(r.end(ctx.Err() != nil, len(programs))).Err()
}

// save writes a program as a test; an undecided program has no test.
func (f *generateFlags) save(v *generate.Verdicts) error {
	if f.out == "" || v.Err() != nil {
		return nil
	}
	t, err := v.Test()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(f.out, t.Name+lang.Ext), []byte(lang.Format(t)), 0o644)
}
