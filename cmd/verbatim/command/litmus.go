package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/cmd/internal/litmusfiles"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/internal/mistake"
	"github.com/verbatim-rdma/verbatim/litmus"
	"github.com/verbatim-rdma/verbatim/litmus/lang"
)

// litmusFlags are the flags of the command litmus.
type litmusFlags struct {
	profiles []string
	asJSON   bool
	out      string
	maxTime  time.Duration
	outcomes bool
	format   bool
	workers  int

	html, reach string
}

// newLitmus returns the command that runs litmus tests.
func newLitmus() *cobra.Command {
	f := &litmusFlags{}
	c := &cobra.Command{
		Use:   "litmus [FILE|DIRECTORY]...",
		Short: "Run litmus tests: small RDMA programs with a question",
		Long: `Litmus searches all runs of small programs under hardware profiles, and compares the
possible outcomes with the expected ones in the files. docs/litmus.md describes the
language. Without arguments it runs the tests in ` + litmusfiles.Dir + `.

The table has a line for each outcome and profile: the file, the profile, the outcome,
the expected and the actual answer (Y: some run reaches it; N: none does, and all were
tried; ?: undecided), the verdict (unasked: the file says nothing about this profile),
the runs and states of the search, and its time. A run that reaches a forbidden outcome
is shown and, with --out, written to a file for 'verbatim replay'.

--html shows how one outcome is reached: the first of the file or the one named by
--reach, under the first profile or the one named by --profile. It searches for such a
run and writes a page (docs/viewer.md). The exit status is then: 0 there is one, 1 there
is none, 3 not all runs were tried.

--json prints one object per line with the keys file, test, profile, outcome, condition,
expected, got, verdict (ok, wrong, undecided, unsupported, unasked, error), reason,
finals, runs, states, seconds and counterexample.

To run the tests on cards, and to compare the cards with the simulator, use verbatim-run
litmus.

Exit status: 0 all as expected, 1 some are wrong, 2 bad usage or input, 3 a limit was
hit or a feature is unsupported. If several apply, 2 takes precedence over 1, 1 over 3,
and 3 over 0.`,
		Example: `  verbatim litmus
  verbatim litmus testdata/litmus/message-passing.litmus --outcomes
  verbatim litmus --profile strong,relaxed+AtomicFlushes=false mine.litmus
  verbatim litmus --json | jq 'select(.verdict != "ok")'
  verbatim litmus --format mine.litmus`,
		RunE: func(c *cobra.Command, args []string) error { return runLitmus(c, f, args) },
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{strings.TrimPrefix(lang.Ext, ".")}, cobra.ShellCompDirectiveFilterFileExt
		},
	}
	c.AddCommand(newGenerate())
	fl := c.Flags()
	fl.StringSliceVar(&f.profiles, "profile", nil, "only these `profiles`, names or files, separated by commas; default: those in the test files")
	fl.String("backend", "sim", "")
	_ = fl.MarkHidden("backend") // verbatim-run has the other backend
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if c.Flag("backend").Value.String() == "rdma" {
			return errOnCards
		}
		return c.Parent().FlagErrorFunc()(c, err)
	})
	fl.BoolVar(&f.asJSON, "json", false, "print one JSON object per line for each outcome and profile")
	fl.StringVar(&f.out, "out", "", "write runs that show a wrong outcome to this `directory`")
	fl.DurationVar(&f.maxTime, "max-time", time.Minute, "stop a search after this time, for each file and profile; 0: no limit")
	fl.BoolVar(&f.outcomes, "outcomes", false, "list all reachable final states")
	fl.StringVar(&f.html, "html", "", "write a page with a run that reaches an outcome to this `file` instead")
	fl.StringVar(&f.reach, "reach", "", "with --html: the `outcome` to show")
	fl.BoolVar(&f.format, "format", false, "print the tests in canonical form instead of running them")
	fl.IntVar(&f.workers, "workers", 0, "parallel files; 0: one for each core")
	cli.CompleteWith(c, map[string]cobra.CompletionFunc{"profile": cli.CompleteProfile})
	return c
}

// litmusJob is one test under one profile, and its result.
type litmusJob struct {
	file    string
	test    *lang.Test
	profile string
	result  *litmus.Result
	err     error
	done    chan struct{}
}

// errOnCards names the command that has the backend for cards.
var errOnCards = errors.New("on cards, litmus is a command of verbatim-run: go run -tags rdma ./cmd/verbatim-run litmus")

func runLitmus(c *cobra.Command, f *litmusFlags, args []string) error {
	switch name := c.Flag("backend").Value.String(); name {
	case "sim":
	case "rdma":
		return errOnCards
	default:
		return fmt.Errorf("there is no backend %q%s", name, mistake.DidYouMean(name, []string{"sim"}))
	}
	for i, p := range f.profiles {
		prof, err := faults.FindProfile(strings.TrimSpace(p))
		if err != nil {
			return err
		}
		f.profiles[i] = prof.Name
	}
	if err := f.checkPage(args); err != nil {
		return err
	}
	if err := CheckLimits(f.workers, f.maxTime); err != nil {
		return err
	}
	if f.html != "" {
		return writeLitmusPage(c, f, args[0])
	}
	files, err := litmusfiles.Find(args)
	if err != nil {
		return err
	}
	if f.out != "" {
		if err := os.MkdirAll(f.out, 0o755); err != nil {
			return err
		}
	}
	jobs, bad := f.jobs(files, c.ErrOrStderr())
	if f.format {
		return formatTests(c.OutOrStdout(), jobs, bad)
	}
	ctx, stop := cli.Interruptible(c)
	defer stop()
	f.start(ctx, jobs)
	r := newLitmusReport(f, c.OutOrStdout(), jobs)
	for _, j := range jobs {
		<-j.done
		if err := r.add(j); err != nil {
			return err
		}
	}
	return cli.Status(cli.Worse(bad, r.end())).Err()
}

// jobs makes jobs of the tests in the files, and returns the status of litmusfiles.Parse.
func (f *litmusFlags) jobs(files []string, stderr io.Writer) (jobs []*litmusJob, code int) {
	code = litmusfiles.Parse("verbatim", files, stderr, func(file string, t *lang.Test) {
		profiles := litmus.Profiles(t)
		if len(f.profiles) > 0 {
			profiles = f.profiles
		}
		if f.format {
			profiles = profiles[:1]
		}
		for _, p := range profiles {
			jobs = append(jobs, &litmusJob{file: file, test: t, profile: p, done: make(chan struct{})})
		}
	})
	return jobs, code
}

// start runs the jobs in the background, in their order.
func (f *litmusFlags) start(ctx context.Context, jobs []*litmusJob) {
	var mu sync.Mutex
	next := 0
	n := cmp.Or(f.workers, runtime.GOMAXPROCS(0))
	opt := litmus.Options{MaxTime: f.maxTime, Stop: func() bool { return ctx.Err() != nil }}
	for range min(n, len(jobs)) {
		go func() {
			for {
				mu.Lock()
				i := next
				next++
				mu.Unlock()
				if i >= len(jobs) {
					return
				}
				j := jobs[i]
				j.result, j.err = litmus.Run(j.test, j.profile, opt)
				close(j.done)
			}
		}()
	}
}

// formatTests prints tests in canonical form.
func formatTests(w io.Writer, jobs []*litmusJob, code int) error {
	for i, j := range jobs {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if _, err := io.WriteString(w, lang.Format(j.test)); err != nil {
			return err
		}
	}
	return cli.Status(code).Err()
}
