package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/cmd/internal/litmusfiles"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/litmus/device"
	"github.com/verbatim-rdma/verbatim/litmus/generate"
	"github.com/verbatim-rdma/verbatim/litmus/lang"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/soft"
)

// litmusFlags are the flags of the command litmus.
type litmusFlags struct {
	profile   string
	asJSON    bool
	maxTime   time.Duration
	totalTime time.Duration
	runs      int
	seed      uint64
	devices   []string
	generated int
	programs  []string
	known     string
	patience  time.Duration
	cut       bool
	cuts      int
}

// generatedSize is the size of the programs that --generated picks from.
const generatedSize = 4

// newLitmus returns the command that runs litmus tests on cards.
func newLitmus() *cobra.Command {
	f := &litmusFlags{}
	c := &cobra.Command{
		Use:   "litmus [FILE|DIRECTORY]...",
		Short: "Run litmus tests on cards, and compare with the simulator",
		Long: `Litmus runs small RDMA programs on the cards of this machine, --runs times each,
with random delays (from --seed) between the statements, and compares:
every final state on a card must be one that the simulator reaches under
the profile, rxe unless --profile says another. Without a card, or with --device soft,
it runs them on software devices over TCP, whose profile is
` + soft.Profile + `. It prints how often which final
state was seen, and which ones are allowed. Tests that need a fault or an operation
that the cards lack are skipped, with the reason. Without arguments it runs the
tests in ` + litmusfiles.Dir + `. docs/fidelity.md has the details. In the simulator alone
'verbatim litmus' runs them.

--json prints one object per line with the keys file, test, profile, verdict (ok, known,
forbidden, refused, skipped), reason, runs, left_out, cut, seen (each with state, count,
late, allowed and why), allowed, seed, seconds, and again: the command that repeats the
test.

For cards the program must be built with the tag rdma: go build -tags rdma ./cmd/verbatim-run.

Exit status: 0 all as expected, 1 some are wrong, 2 bad usage or input, 3 a limit was
hit or there was nothing to run. If several apply, 2 takes precedence over 1, 1 over 3,
and 3 over 0.`,
		Example: `  verbatim-run litmus --runs 1000 --generated 100
  verbatim-run litmus testdata/litmus/message-passing.litmus --device rxe0,rxe1`,
		RunE: func(c *cobra.Command, args []string) error { return runLitmus(c, f, args) },
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{strings.TrimPrefix(lang.Ext, ".")}, cobra.ShellCompDirectiveFilterFileExt
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.profile, "profile", "", "profile to compare the cards with: a name or a file; default: rxe, or the profile of soft devices")
	fl.BoolVar(&f.asJSON, "json", false, "print one JSON object per line for each test")
	fl.DurationVar(&f.maxTime, "max-time", time.Minute, "stop a test, or a search, after this time; 0: no limit")
	fl.DurationVar(&f.totalTime, "total-time", 0, fmt.Sprintf("total time for all tests: each gets %d runs first, and those that have not shown all allowed final states share the rest", device.DefaultLeast))
	fl.IntVar(&f.runs, "runs", device.DefaultRuns, "runs of each test")
	fl.Uint64Var(&f.seed, "seed", 1, "seed of the delays, and of the selection of --generated")
	fl.StringSliceVar(&f.devices, "device", nil, "`cards` for the hosts of a test, joined by commas, or soft; default: all of this machine, or soft without one")
	fl.IntVar(&f.generated, "generated", 0, fmt.Sprintf("also run this `number` of generated programs of size %d", generatedSize))
	fl.BoolVar(&f.cut, "cut", false, "also run the tests that cut links, on soft devices or with rxe-cut and rxe-heal of scripts/rxe-vm; each takes seconds")
	fl.IntVar(&f.cuts, "random-cuts", 0, "with --cut, also repeat this `number` of tests with a link that is cut at a random moment")
	fl.DurationVar(&f.patience, "patience", device.DefaultPatience, "a thread counts as blocked when nothing has happened for this long")
	fl.StringVar(&f.known, "known", "", "a `file` of known differences, one per line: TEST | STATE | WHY")
	fl.StringSliceVar(&f.programs, "program", nil, "run the generated programs with these `names`, and only the files in the arguments")
	cli.CompleteWith(c, map[string]cobra.CompletionFunc{"profile": cli.CompleteProfile})
	return c
}

func runLitmus(c *cobra.Command, f *litmusFlags, args []string) error {
	if f.profile != "" {
		p, err := faults.FindProfile(f.profile)
		if err != nil {
			return err
		}
		f.profile = p.Name
	}
	if f.runs < 1 || f.patience <= 0 || f.generated < 0 || f.maxTime < 0 || f.totalTime < 0 || f.cuts < 0 {
		return errors.New("--runs and --patience must be positive, and --generated, --random-cuts, --max-time and --total-time cannot be negative")
	}
	if f.cuts > 0 && !f.cut {
		return errors.New("--random-cuts needs --cut, which permits cut links")
	}
	devices, err := openDevices(f.devices, c.ErrOrStderr())
	if err != nil {
		return err
	}
	defer func() {
		for _, d := range devices {
			_ = d.Close() // the program exits
		}
	}()
	return f.onDevices(c, devices, args)
}

// onDevices compares the behaviour of the cards with the simulator.
func (f *litmusFlags) onDevices(c *cobra.Command, devices []verbs.Device, args []string) error {
	ctx, stop := cli.Interruptible(c)
	defer stop()
	cfg := device.Config{Devices: devices, Profile: f.profile, Runs: f.runs, Seed: f.seed, MaxTime: f.maxTime, Patience: f.patience,
		Stop: func() bool { return ctx.Err() != nil }}
	if err := f.onSoft(&cfg); err != nil {
		return err
	}
	if f.known != "" {
		b, err := os.ReadFile(f.known)
		if err != nil {
			return err
		}
		if cfg.Known, err = device.ReadKnown(f.known, bytes.NewReader(b)); err != nil {
			return err
		}
	}
	rig, err := device.NewRig(cfg)
	if err != nil {
		return err
	}
	tests, bad, err := f.tests(args, c.ErrOrStderr())
	if err != nil {
		return err
	}
	r := newLitmusReport(f, c.OutOrStdout(), devices)
	if err := f.compare(ctx, rig, tests, r.add); err != nil {
		return err
	}
	return cli.Status(cli.Worse(bad, r.end(ctx.Err() != nil))).Err()
}

// compare runs the tests one after the other, each with its own time or all within a shared time.
func (f *litmusFlags) compare(ctx context.Context, rig *device.Rig, tests []deviceTest, report func(deviceTest, *device.Report) error) error {
	if f.totalTime > 0 {
		var all []*lang.Test
		for _, t := range tests {
			all = append(all, t.test)
		}
		reps, err := rig.CompareAll(all, f.totalTime)
		for i, rep := range reps {
			err = errors.Join(err, report(tests[i], rep))
		}
		return err
	}
	for _, t := range tests {
		if ctx.Err() != nil {
			return nil
		}
		rep, err := rig.Compare(t.test)
		if err != nil {
			return err
		}
		if err := report(t, rep); err != nil {
			return err
		}
	}
	return nil
}

// onSoft sets the parts of cfg that depend on the kind of the devices: the profile, and how to cut links.
func (f *litmusFlags) onSoft(cfg *device.Config) (err error) {
	isSoft := allSoft(cfg.Devices)
	if isSoft && f.profile == "" {
		f.profile, cfg.Profile = soft.Profile, soft.Profile
	}
	switch {
	case f.cut && isSoft:
		cfg.Links = soft.Links(cfg.Devices)
	case f.cut:
		cfg.Links, err = rxeLinks(cfg.Devices)
	}
	return err
}

// deviceTest is a test, and the arguments that name it.
type deviceTest struct {
	test *lang.Test
	file string
	args string
}

// tests reads the files, and makes the requested programs.
func (f *litmusFlags) tests(args []string, stderr io.Writer) (tests []deviceTest, code int, err error) {
	if len(args) > 0 || len(f.programs) == 0 {
		files, err := litmusfiles.Find(args)
		if err != nil {
			return nil, 0, err
		}
		code = litmusfiles.Parse("verbatim-run", files, stderr, func(file string, t *lang.Test) {
			tests = append(tests, deviceTest{t, file, file})
		})
	}
	var programs []*generate.Program
	for _, name := range f.programs {
		p, err := generate.Parse(name)
		if err != nil {
			return nil, 0, err
		}
		programs = append(programs, p)
	}
	if f.generated > 0 {
		all := generate.All(generatedSize)
		r := rand.New(rand.NewPCG(f.seed, 0))
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		programs = append(programs, all[:min(f.generated, len(all))]...)
	}
	for _, p := range programs {
		tests = append(tests, deviceTest{test: p.Test(), args: "--program " + p.String()})
	}
	return append(tests, f.withCuts(tests)...), code, nil
}

// withCuts returns --random-cuts of the tests, in the order of the seed, each with a link that may
// be cut at any moment.
func (f *litmusFlags) withCuts(tests []deviceTest) (out []deviceTest) {
	order := rand.New(rand.NewPCG(f.seed, 1)).Perm(len(tests))
	for _, i := range order {
		if len(out) == f.cuts {
			break
		}
		if x := device.CutAtRandom(tests[i].test); x != nil {
			out = append(out, deviceTest{test: x, file: tests[i].file, args: tests[i].args + " --random-cuts 1"})
		}
	}
	return out
}
