package main

import (
	"bytes"
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
	"github.com/verbatim-rdma/verbatim/verbs/hw"
)

// litmusFlags are the flags of the command litmus.
type litmusFlags struct {
	profile   string
	asJSON    bool
	maxTime   time.Duration
	runs      int
	seed      uint64
	devices   []string
	generated int
	programs  []string
	known     string
	patience  time.Duration
	cut       bool
}

// generatedSize is the size of the programs that --generated picks from.
const generatedSize = 4

// newLitmus is the command that runs litmus tests on cards.
func newLitmus() *cobra.Command {
	f := &litmusFlags{}
	c := &cobra.Command{
		Use:   "litmus [FILE|DIRECTORY]...",
		Short: "Run litmus tests on cards, and hold them against the simulator",
		Long: `Litmus runs small RDMA programs on the cards of this machine, --runs times each,
with random delays between the statements that follow from --seed, and compares:
every final state that a card shows must be one that the simulator reaches under
the profile, rxe unless --profile says another. It prints how often which final
state was seen, and which ones are allowed. Tests that need a fault or an operation
that the cards lack are skipped, with the reason. Without arguments it runs the
tests in ` + litmusfiles.Dir + `. docs/litmus.md says more. In the simulator alone
'verbatim litmus' runs them.

With --json it prints one object a line with the keys file, test, profile, verdict
(ok, known, forbidden, refused, skipped), reason, runs, left_out, seen (each with
state, count, allowed and why), allowed, seed, seconds, and again: the command that
runs the test once more.

The program must be built with the tag rdma: go build -tags rdma ./cmd/verbatim-run.

Exit status: 0 all as expected, 1 some wrong, 2 bad usage or input, 3 a limit
came first or there was nothing to run. Of several, 2 goes before 1, 1 before 3,
and 3 before 0.`,
		Example: `  verbatim-run litmus --runs 1000 --generated 100
  verbatim-run litmus testdata/litmus/message-passing.litmus --device rxe0,rxe1`,
		RunE: func(c *cobra.Command, args []string) error { return runLitmus(c, f, args) },
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{strings.TrimPrefix(lang.Ext, ".")}, cobra.ShellCompDirectiveFilterFileExt
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.profile, "profile", "", "what the cards are held against: a name or a file; default: rxe")
	fl.BoolVar(&f.asJSON, "json", false, "one JSON object a line for each test")
	fl.DurationVar(&f.maxTime, "max-time", time.Minute, "end a test after this time, and a search; 0: no limit")
	fl.IntVar(&f.runs, "runs", device.DefaultRuns, "how often each test runs")
	fl.Uint64Var(&f.seed, "seed", 1, "what the delays follow from, and the choice of --generated")
	fl.StringSliceVar(&f.devices, "device", nil, "`cards` for the hosts of a test, joined by commas; default: all of this machine")
	fl.IntVar(&f.generated, "generated", 0, fmt.Sprintf("also this `number` of generated programs of size %d", generatedSize))
	fl.BoolVar(&f.cut, "cut", false, "also tests that cut links, by rxe-cut and rxe-heal of scripts/rxe-vm; they take seconds")
	fl.DurationVar(&f.patience, "patience", device.DefaultPatience, "a thread is blocked when nothing has happened for so long")
	fl.StringVar(&f.known, "known", "", "a `file` with known differences, a line each: TEST | STATE | WHY")
	fl.StringSliceVar(&f.programs, "program", nil, "the generated programs of these `names`, and no files unless they are named")
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
	if f.runs < 1 || f.patience <= 0 || f.generated < 0 || f.maxTime < 0 {
		return errors.New("--runs and --patience must be positive, and --generated and --max-time cannot be negative")
	}
	devices, err := openDevices(f.devices)
	if err != nil {
		return err
	}
	defer func() {
		for _, d := range devices {
			_ = d.Close() // the program ends
		}
	}()
	return f.onDevices(c, devices, args)
}

// onDevices compares what the cards do with the simulator.
func (f *litmusFlags) onDevices(c *cobra.Command, devices []verbs.Device, args []string) error {
	ctx, stop := cli.Interruptible(c)
	defer stop()
	cfg := device.Config{Devices: devices, Profile: f.profile, Runs: f.runs, Seed: f.seed, MaxTime: f.maxTime, Patience: f.patience,
		Stop: func() bool { return ctx.Err() != nil }}
	if f.cut {
		var err error
		if cfg.Links, err = rxeLinks(devices); err != nil {
			return err
		}
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
	for _, t := range tests {
		if ctx.Err() != nil {
			break
		}
		rep, err := rig.Compare(t.test)
		if err != nil {
			return err
		}
		if err := r.add(t, rep); err != nil {
			return err
		}
	}
	return cli.Status(cli.Worse(bad, r.end(ctx.Err() != nil))).Err()
}

// openDevices opens the cards of these names, or all.
func openDevices(names []string) ([]verbs.Device, error) {
	if len(names) == 0 {
		var err error
		if names, err = hw.Devices(); err != nil {
			return nil, err
		}
		if len(names) == 0 {
			return nil, fmt.Errorf("%w: this machine has no card; docs/hardware.md says how to make one of software", hw.ErrNoDevice)
		}
	}
	var out []verbs.Device
	for _, name := range names {
		d, err := hw.Open(hw.Config{Device: strings.TrimSpace(name)})
		if err != nil {
			for _, o := range out {
				_ = o.Close()
			}
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}

// deviceTest is a test, and the arguments that name it.
type deviceTest struct {
	test *lang.Test
	file string
	args string
}

// tests reads the files and makes the programs that are asked for.
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
	return tests, code, nil
}
