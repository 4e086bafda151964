package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/cmd/internal/litmusfiles"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/mutant"
	"github.com/verbatim-rdma/verbatim/explore/timeline"
	"github.com/verbatim-rdma/verbatim/litmus"
)

// replayFlags are the flags of the command replay.
type replayFlags struct {
	all, asGo, story bool
	trace, traceFile string
	width            int
	html, note       string
	svg              string
	until            int
	overlay          string
}

// newReplay returns the command that runs a counterexample again.
func newReplay() *cobra.Command {
	f := &replayFlags{}
	c := &cobra.Command{
		Use:   "replay FILE",
		Short: "Replay a counterexample and show its timeline",
		Long: `Replay repeats the counterexample in a file and shows its events. It states whether the
run is identical to the recorded one, step by step. After a change of the code, a run
may still fail through other states, or no longer fail because it has become a different
run; replay then states how many decisions no longer apply.

The run of a mutant, which mutants --out wrote, fails only with the mutant: replay builds
the program with it, in the source tree.

--story tells the run in sentences instead: what clients asked for and got, which hosts
failed, what was in whose memory by then, and what a recovery did not find. Stars mark the
key sentences.

--html writes a page instead, one file that opens from disk: lanes and arrows, memory
cell by cell, the operations of the clients, and the last step after which the promise
could still be kept (docs/viewer.md). The page contains source lines if the source is
still where it was when the program was built.

--svg writes a drawing instead, for a document: arrows between hosts, their memory below,
and the words beside them. With --until it ends after a step, since what a protocol does
after its decisive mistake seldom explains it.

Exit status: 1 the run still fails, 0 it no longer does, 2 the file is not a
counterexample of a scenario that this program knows, 3 a step of the run hangs.`,
		Example: `  verbatim replay ncl-three-writes.counterexample.json
  verbatim replay ncl-three-writes.counterexample.json --all
  verbatim replay ncl-three-writes.counterexample.json --story
  verbatim replay ncl-three-writes.counterexample.json --html run.html
  verbatim replay ncl-three-writes.counterexample.json --svg run.svg --until 40
  verbatim replay ncl-three-writes.counterexample.json --go >> regression_test.go`,
		Args: cli.Takes("one file that check, matrix or litmus wrote", cobra.ExactArgs(1)),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"json"}, cobra.ShellCompDirectiveFilterFileExt
		},
		RunE: func(c *cobra.Command, args []string) error { return runReplay(c, f, args[0]) },
	}
	c.Flags().BoolVar(&f.all, "all", false, "show every event in its own row, without omitting or folding any")
	c.Flags().IntVar(&f.width, "width", 0, "width of the timeline in `columns`; default 120")
	c.Flags().BoolVar(&f.story, "story", false, "tell the run in sentences instead")
	c.Flags().BoolVar(&f.asGo, "go", false, "print a Go regression test instead, with status 0")
	c.Flags().StringVar(&f.html, "html", "", "write a page that shows the run to this `file` instead")
	c.Flags().StringVar(&f.overlay, "overlay", "", "with --html: show the sources of this `file`, which was given to go build -overlay")
	c.Flags().StringVar(&f.note, "note", "", "with --html: `text` for the top of the page")
	c.Flags().StringVar(&f.svg, "svg", "", "write a drawing of the run to this `file` instead")
	c.Flags().IntVar(&f.until, "until", 0, "with --svg: the last `step` to draw; 0: all")
	c.MarkFlagsMutuallyExclusive("html", "svg", "go", "story")
	c.Flags().StringVar(&f.trace, "trace", "", "the trace from which the scenario was made")
	c.Flags().StringVar(&f.traceFile, "trace-file", "", "the log file in the trace")
	return c
}

// runReplay replays a file.
func runReplay(c *cobra.Command, f *replayFlags, file string) error {
	w := c.OutOrStdout()
	if err := f.validate(); err != nil {
		return err
	}
	ce, err := explore.Load(file)
	if err != nil {
		return err
	}
	s, p, err := f.scenarioOf(ce)
	if err != nil {
		return fmt.Errorf("%s: %w%s", filepath.Clean(file), err, elsewhere(ce, file))
	}
	if f.asGo {
		if litmus.IsScenario(ce.Scenario) {
			return errors.New("a litmus test is its own regression test: put its file into " + litmusfiles.Dir)
		}
		_, err := io.WriteString(w, goTest(ce, p, f.trace == ""))
		return err
	}
	if ce.Mutant != "" && os.Getenv(mutant.EnvMutant) != ce.Mutant {
		return f.replayMutant(c, ce, file)
	}
	if f.story {
		return f.tell(w, ce, s, file)
	}
	if f.html != "" || f.svg != "" {
		return f.writePage(w, ce, s, file)
	}
	r, err := ce.Replay(s)
	if errors.Is(err, explore.ErrHang) {
		return hangs(w, file, err)
	}
	if err != nil && !errors.Is(err, explore.ErrNotReproduced) {
		return fmt.Errorf("%s: %w", filepath.Clean(file), err)
	}
	return f.show(w, ce, r)
}

// replayMutant repeats the run of a mutant with a program that contains the mutant.
func (f *replayFlags) replayMutant(c *cobra.Command, ce *explore.Counterexample, file string) error {
	p, err := protocolOf(ce.Scenario)
	if err != nil {
		return err
	}
	ctx, stop := cli.Interruptible(c)
	defer stop()
	remark(c.ErrOrStderr(), "this run is of mutant %s of %s; building it", ce.Mutant, p.Name)
	args := func(overlay, note string) []string {
		var more []string
		if f.html != "" && f.overlay == "" {
			more = append(more, "--overlay="+overlay)
		}
		if f.html != "" && f.note == "" {
			more = append(more, "--note="+note)
		}
		own := commandArgs(c, []string{file})
		return slices.Insert(own, 1, more...)
	}
	code, err := mutant.Replay(ctx, p.Name, ce.Mutant, args, c.OutOrStdout(), c.ErrOrStderr())
	if err != nil {
		return fmt.Errorf("%s: its run fails only with mutant %s: %w", filepath.Clean(file), ce.Mutant, err)
	}
	return cli.Status(code).Err()
}

// validate finds flags that would have no effect, and bad values.
func (f *replayFlags) validate() error {
	switch {
	case f.until < 0:
		return fmt.Errorf("--until %d: a step is a number from 1 on, and 0 means all", f.until)
	case f.until > 0 && f.svg == "":
		return errors.New("--until needs --svg")
	case f.html == "" && (f.overlay != "" || f.note != ""):
		return errors.New("--overlay and --note need --html")
	case (f.all || f.width != 0) && (f.asGo || f.story || f.html != "" || f.svg != ""):
		return errors.New("--all and --width are for the timeline: omit them, or --go, --story, --html and --svg, which write something else instead")
	case f.width != 0 && (f.width < timeline.Narrowest || f.width > timeline.Widest):
		return fmt.Errorf("--width %d: a timeline has %d to %d columns; without the flag it has 120", f.width, timeline.Narrowest, timeline.Widest)
	case f.trace == "" && f.traceFile != "":
		return errors.New("--trace-file needs --trace")
	}
	return nil
}

// hangs reports a step that does not return.
func hangs(w io.Writer, file string, err error) error {
	if _, err := fmt.Fprintf(w, "%s: %v\n", filepath.Clean(file), err); err != nil {
		return err
	}
	return cli.Status(cli.RanOut).Err()
}

// scenarioOf returns the scenario of a counterexample.
func (f *replayFlags) scenarioOf(ce *explore.Counterexample) (*explore.Scenario, *Protocol, error) {
	if litmus.IsScenario(ce.Scenario) {
		s, err := litmus.FromCounterexample(ce)
		return s, &Protocol{Name: "litmus"}, err
	}
	p, err := protocolOf(ce.Scenario)
	if err != nil {
		return nil, nil, err
	}
	if f.trace != "" {
		s, _, err := fromTrace(p, f.trace, f.traceFile)
		return s, p, err
	}
	if s := explore.Named(p.named(), ce.Scenario); s != nil {
		return s, p, nil
	}
	return nil, nil, fmt.Errorf("%w; if it was made from a trace, pass --trace", noScenario(p, ce.Scenario))
}

// elsewhere describes how to replay a counterexample of a protocol that this command does not have. Its scenario exists
// in a test of the reader's own module.
func elsewhere(ce *explore.Counterexample, file string) string {
	if _, err := protocolOf(ce.Scenario); err == nil || errors.Is(err, errAbsent) || litmus.IsScenario(ce.Scenario) {
		return ""
	}
	if abs, err := filepath.Abs(file); err == nil {
		file = abs // go test runs in the folder of the package
	}
	return fmt.Sprintf("\nIf a test or program of another module wrote this file, replay it there: %s=%s go test -count=1 -run TEST PACKAGE, or %s",
		explore.EnvReplay, explore.Quote(file), explore.Command(".", file))
}

// goTest returns a regression test for ce.
func goTest(ce *explore.Counterexample, p *Protocol, builtin bool) string {
	list := p.goScenarios(ce.Scenario)
	if !builtin || list == "" {
		return explore.RegressionTest(ce)
	}
	return explore.RegressionTestOf(ce, fmt.Sprintf("explore.Named(%s, %q)", list, ce.Scenario))
}

// show prints the timeline and the result of the run.
func (f *replayFlags) show(w io.Writer, ce *explore.Counterexample, r *explore.Replay) error {
	if _, err := fmt.Fprintf(w, "%s with %s\n\n", ce.Scenario, ce.Bounded()); err != nil {
		return err
	}
	test := ""
	if litmus.IsScenario(ce.Scenario) {
		test = ce.Text
	}
	if err := writeTimeline(w, r, test, timeline.Options{All: f.all, Width: f.width}); err != nil {
		return err
	}
	text, code := outcome(ce, r)
	if _, err := fmt.Fprintf(w, "\n%s\n", text); err != nil {
		return err
	}
	return cli.Status(code).Err()
}

// outcome describes the result of the run, with the exit status.
func outcome(ce *explore.Counterexample, r *explore.Replay) (string, int) {
	same := "the run is identical to the recorded one, step by step"
	if !r.Same {
		same = "the run differs from the recorded one: the code, the scenario or the simulator has changed"
	}
	same += ce.Missing(r)
	switch {
	case r.Err == nil:
		return "no longer fails (" + ce.Class + " was recorded); " + same, cli.OK
	case explore.ClassOf(r.Err) != ce.Class:
		return fmt.Sprintf("no longer fails with %s, but with %s; %s", ce.Class, explore.ClassOf(r.Err), same), cli.Violated
	}
	return "still fails; " + same, cli.Violated
}
