package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/explore/mutant"
)

// scoreFlags are the flags that need --generate.
var scoreFlags = []string{"results", "part", "changed-since", "sample", "seed", "random-runs", "search-runs", "most", "at-least", "scenarios-at-least"}

// patchFlags are the flags that exclude --generate.
var patchFlags = []string{"out", "timers", "sqlite", "no-control", "max-events"}

func (f *mutantFlags) defineScore(fl *pflag.FlagSet) {
	o := &f.score
	fl.BoolVar(&f.generate, "generate", false, "generate mutants, and print a score")
	fl.StringVar(&o.File, "results", "", "with --generate: keep the results in this `file`, and resume from those that it has")
	fl.StringVar(&o.ChangedSince, "changed-since", "", "with --generate: only mutants of lines that differ from this git `reference`, and those of --sample")
	fl.IntVar(&o.Sample, "sample", 0, "with --generate: only this many, drawn at random; 0: all")
	fl.Uint64Var(&o.Seed, "seed", 0, "seed of --sample and --most")
	fl.IntVar(&o.Most, "most", 0, "with --changed-since: at most this many mutants, including those of --sample; 0: no limit")
	fl.StringVar(&f.part, "part", "", "with --generate: only this part, `I/N`, of the selected mutants, so that N machines can share them")
	fl.Float64Var(&f.atLeast, "at-least", 100, "with --generate: `percent` of the mutants, without equivalent ones, that must be caught for exit status 0")
	fl.Float64Var(&f.byScenarios, "scenarios-at-least", 0, "with --generate: `percent` that scenarios must catch")
	fl.Uint64Var(&o.RandomRuns, "random-runs", mutant.DefaultRandomRuns, "with --generate: random runs per mutant, in all scenarios together")
	fl.Uint64Var(&o.SearchRuns, "search-runs", mutant.DefaultSearchRuns, "with --generate: runs of exhaustive searches per mutant, in all scenarios together")
}

// onlyGenerated returns an error for a flag that applies to generated mutants only.
func onlyGenerated(c *cobra.Command) error {
	for _, name := range scoreFlags {
		if c.Flags().Changed(name) {
			return fmt.Errorf("--%s needs --generate", name)
		}
	}
	return nil
}

// validScore checks the flags of --generate.
func (f *mutantFlags) validScore(c *cobra.Command) error {
	for _, name := range patchFlags {
		if c.Flags().Changed(name) {
			return fmt.Errorf("--%s is for mutants that are patches: omit it, or --generate", name)
		}
	}
	o := &f.score
	switch {
	case o.Sample < 0:
		return fmt.Errorf("--sample %d: it must be at least 1, or 0 for all", o.Sample)
	case c.Flags().Changed("seed") && o.Sample == 0 && o.Most == 0:
		return errors.New("--seed needs --sample or --most")
	case o.Most != 0 && o.ChangedSince == "":
		return errors.New("--most needs --changed-since")
	case o.Most < 0 || o.Most > 0 && o.Most < o.Sample:
		return fmt.Errorf("--most %d: it must not be less than --sample", o.Most)
	case f.atLeast < 0 || f.atLeast > 100 || f.byScenarios < 0 || f.byScenarios > 100:
		return errors.New("--at-least and --scenarios-at-least are percentages: 0 to 100")
	case o.RandomRuns == 0 || o.SearchRuns == 0:
		return errors.New("--random-runs and --search-runs must be at least 1")
	}
	if err := f.parsePart(); err != nil {
		return err
	}
	return CheckLimits(f.opt.Workers, f.opt.MaxTime)
}

// parsePart parses --part.
func (f *mutantFlags) parsePart() error {
	if f.part == "" {
		return nil
	}
	part, parts, ok := strings.Cut(f.part, "/")
	i, err := strconv.Atoi(part)
	n, err2 := strconv.Atoi(parts)
	if !ok || err != nil || err2 != nil || i < 1 || i > n {
		return fmt.Errorf("--part %q: it must be I/N, with I from 1 to N, such as 2/3", f.part)
	}
	f.score.Part, f.score.Parts = i, n
	return nil
}

// runScore generates mutants, and prints the results.
func runScore(c *cobra.Command, f *mutantFlags, p *Protocol) error {
	if err := f.validScore(c); err != nil {
		return err
	}
	if len(p.Folders) == 0 {
		return fmt.Errorf("protocol %s names no Folders, so there is nothing to change: set them in its command.Protocol", p.Name)
	}
	ctx, stop := cli.Interruptible(c)
	defer stop()
	stdout, stderr := c.OutOrStdout(), c.ErrOrStderr()
	o := f.score
	o.Generate = mutant.ByCommand
	o.Protocol, o.Folders, o.Kit, o.Names, o.Workers, o.MaxTime = p.Name, p.Folders, p.Kit, f.opt.Names, f.opt.Workers, f.opt.MaxTime
	o.Kept = keptFolder()
	var printing error
	o.Done = func(x mutant.Judged) {
		if f.asJSON {
			printing = errors.Join(printing, cli.Lines(stdout).Encode(x))
		} else if cli.IsTerminal(stderr) {
			fmt.Fprintf(stderr, "%s: %s after %.1f s\n", x.ID, x.Result, x.Seconds)
		}
	}
	all, err := mutant.RunScore(ctx, o)
	if err != nil {
		return errors.Join(err, printing)
	}
	score := mutant.NewScore(all)
	if f.asJSON {
		printing = errors.Join(printing, cli.Lines(stdout).Encode(map[string]mutant.Score{"score": score}))
	} else {
		printing = printScore(stdout, all, &score)
	}
	if printing != nil {
		return printing
	}
	if f.misses(&score) {
		return cli.Status(cli.Violated)
	}
	return nil
}

// misses reports whether a score is below the required percentage. Without mutants nothing is missed.
func (f *mutantFlags) misses(s *mutant.Score) bool {
	return s.Caught < f.atLeast && s.Survive > 0 || s.Scenarios < f.byScenarios && s.Survive+s.Test > 0
}

// printScore prints the survivors, in the order of their lines, and the score.
func printScore(w io.Writer, all []mutant.Judged, s *mutant.Score) error {
	how := map[string]int{}
	var survivors []mutant.Judged
	for _, x := range all {
		if x.Result == mutant.Survives {
			survivors = append(survivors, x)
		}
		if x.How != "" {
			how[x.How]++
		}
	}
	slices.SortStableFunc(survivors, func(a, b mutant.Judged) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	text := ""
	for _, x := range survivors {
		reached := fmt.Sprintf("%d scenarios reach it, %d of them exhausted", len(x.Reached), len(x.Exhausted))
		if len(x.Reached) == 0 {
			reached = "no scenario reaches it"
		}
		if n := len(x.TimedOut); n > 0 {
			reached += fmt.Sprintf(", %d stopped by --max-time", n)
		}
		text += fmt.Sprintf("%s:%d: survives: %s\n    - %s\n    + %s\n    %s\n", x.File, x.Line, x.ID, x.Before, x.After, reached)
	}
	text += fmt.Sprintf("\n%d mutants: %d caught by scenarios, %d by unit tests, %d equivalent, %d survive\n", s.Mutants, s.Scenario, s.Test, s.Equivalent, s.Survive)
	for _, k := range []string{mutant.HowViolated, mutant.HowFailed, mutant.HowEndless, mutant.HowHangs, mutant.HowMemory, mutant.HowCrashes, mutant.HowDiffers} {
		if how[k] > 0 {
			text += fmt.Sprintf("%8d showed: %s\n", how[k], k)
		}
	}
	if s.Mutants == s.Equivalent {
		_, err := io.WriteString(w, text)
		return err
	}
	text += fmt.Sprintf("of the mutants that are not equivalent, %.1f %% are caught, %.1f %% by scenarios alone; one takes %.1f s (median), all take %.0f s of processor time\n", s.Caught, s.Scenarios, s.Median, s.Processor)
	if s.TimedOut > 0 {
		text += fmt.Sprintf("stopped by --max-time before all runs: %d; with a longer time their result may differ\n", s.TimedOut)
	}
	_, err := io.WriteString(w, text)
	return err
}
