package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/internal/mistake"
	"github.com/verbatim-rdma/verbatim/litmus"
	"github.com/verbatim-rdma/verbatim/litmus/device"
	"github.com/verbatim-rdma/verbatim/litmus/generate"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/hw"
)

// backends are what can run litmus tests: the simulator, and cards.
var backends = []string{"sim", "rdma"}

// deviceFlags are the flags of litmus that only the backend rdma has.
type deviceFlags struct {
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

func (d *deviceFlags) add(c *cobra.Command) {
	fl := c.Flags()
	fl.IntVar(&d.runs, "runs", device.DefaultRuns, "with rdma: how often each test runs")
	fl.Uint64Var(&d.seed, "seed", 1, "with rdma: what the delays follow from, and the choice of --generated")
	fl.StringSliceVar(&d.devices, "device", nil, "with rdma: `cards` for the hosts of a test, joined by commas; default: all of this machine")
	fl.IntVar(&d.generated, "generated", 0, fmt.Sprintf("with rdma: also this `number` of generated programs of size %d", generatedSize))
	fl.BoolVar(&d.cut, "cut", false, "with rdma: also tests that cut links, by rxe-cut and rxe-heal of scripts/rxe-vm; they take seconds")
	fl.DurationVar(&d.patience, "patience", device.DefaultPatience, "with rdma: a thread is blocked when nothing has happened for so long")
	fl.StringVar(&d.known, "known", "", "with rdma: a `file` with known differences, a line each: TEST | STATE | WHY")
	fl.StringSliceVar(&d.programs, "program", nil, "with rdma: the generated programs of these `names`, and no files unless they are named")
}

// checkBackend refuses flags that the backend would ignore.
func (f *litmusFlags) checkBackend(c *cobra.Command) error {
	if !slices.Contains(backends, f.backend) {
		return fmt.Errorf("there is no backend %q; there are %s%s", f.backend, cli.List(backends), mistake.DidYouMean(f.backend, backends))
	}
	other := []string{"runs", "seed", "device", "generated", "program", "known", "patience", "cut"}
	if f.backend == "rdma" {
		other = []string{"out", "outcomes", "format", "workers"}
	}
	for _, name := range other {
		if c.Flags().Changed(name) {
			return fmt.Errorf("--%s has no meaning with --backend %s", name, f.backend)
		}
	}
	return nil
}

// runOnDevices is `litmus --backend rdma`.
func runOnDevices(c *cobra.Command, f *litmusFlags, args []string) error {
	if len(f.profiles) > 1 {
		return errors.New("--backend rdma holds the cards against one profile: give --profile once")
	}
	devices, err := openDevices(f.device.devices)
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
	d := &f.device
	if d.runs < 1 || d.patience <= 0 || d.generated < 0 || f.maxTime < 0 {
		return errors.New("--runs and --patience must be positive, and --generated and --max-time cannot be negative")
	}
	ctx, stop := cli.Interruptible(c)
	defer stop()
	cfg := device.Config{Devices: devices, Runs: d.runs, Seed: d.seed, MaxTime: f.maxTime, Patience: d.patience, Stop: func() bool { return ctx.Err() != nil }}
	if len(f.profiles) == 1 {
		cfg.Profile = f.profiles[0]
	}
	if d.cut {
		var err error
		if cfg.Links, err = rxeLinks(devices); err != nil {
			return err
		}
	}
	if d.known != "" {
		b, err := os.ReadFile(d.known)
		if err != nil {
			return err
		}
		if cfg.Known, err = device.ReadKnown(d.known, bytes.NewReader(b)); err != nil {
			return err
		}
	}
	rig, err := device.NewRig(cfg)
	if err != nil {
		return err
	}
	tests, bad, err := f.deviceTests(args, c.ErrOrStderr())
	if err != nil {
		return err
	}
	r := newDeviceReport(f, c.OutOrStdout(), devices)
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
	test *litmus.Test
	file string
	args string
}

// deviceTests reads the files and makes the programs that are asked for.
func (f *litmusFlags) deviceTests(args []string, stderr io.Writer) (tests []deviceTest, code int, err error) {
	d := &f.device
	if len(args) > 0 || len(d.programs) == 0 {
		files, err := litmusFiles(args)
		if err != nil {
			return nil, 0, err
		}
		code = parseTests(files, stderr, func(file string, t *litmus.Test) {
			tests = append(tests, deviceTest{t, file, file})
		})
	}
	var programs []*generate.Program
	for _, name := range d.programs {
		p, err := generate.Parse(name)
		if err != nil {
			return nil, 0, err
		}
		programs = append(programs, p)
	}
	if d.generated > 0 {
		all := generate.All(generatedSize)
		r := rand.New(rand.NewPCG(d.seed, 0))
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		programs = append(programs, all[:min(d.generated, len(all))]...)
	}
	for _, p := range programs {
		tests = append(tests, deviceTest{test: p.Test(), args: "--program " + p.String()})
	}
	return tests, code, nil
}
