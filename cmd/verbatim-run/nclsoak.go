package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/cmd/verbatim-run/internal/soak"
)

// soakFlags are the flags of the command soak.
type soakFlags struct {
	cfg     soak.Config
	size    size
	dir     string
	asJSON  bool
	verbose bool
}

// newNCLSoak returns the command that kills processes and checks whether anything is lost.
func newNCLSoak() *cobra.Command {
	f := &soakFlags{size: 64 << 10}
	c := &cobra.Command{
		Use:   "soak",
		Short: "Kill peers and writers in the middle of writes, and look for lost records",
		Long: `Soak starts a coordinator, 2f+1 log peers and --spares more, and a writer on the cards
of this machine, and kills them with SIGKILL in the middle of writes: in each round a
writer, or a peer and then the writer, or the writer while it recovers. After killing a
peer it may wait until the peer has been replaced, and kill another one. The next writer
recovers the file. It must find every acknowledged record in order, at most one more
that was in progress, and nothing else. Of the peers that have the file, f+1 stay alive.
At the end the file is read and deleted, no peer may still lend memory, and another file
is created.

With --etcd the controller is an etcd cluster that is already running.

The first device is the writer's; the peers take the others in turn. The default is
the list in VERBATIM_RXE_DEVICES (scripts/rxe-vm sets it), or else all devices. Without
a card it is soft, which gives each process a device of software over TCP.

--seed repeats the plan: records, victims and moments. The timing of the processes
depends on the machine.

--json prints one object with the counts.

Exit status: 0 nothing is lost, 1 acknowledged records are lost, a recovery returned
data that was not written, or memory of a peer leaked, 2 bad usage or unusable devices,
3 a process exited or stalled although no more than f peers were dead, or Ctrl-C stopped
the run. After 1 and 3 the logs of the processes are kept, and the last line names them.`,
		Example: `  verbatim-run ncl soak --rounds 1000
  verbatim-run ncl soak --rounds 20 --seed 7 --verbose --devices rxe0,rxe1,rxe2,rxe3`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runNCLSoak(c, f) },
	}
	o, fl := &f.cfg, c.Flags()
	fl.SortFlags = false
	fl.IntVar(&o.Rounds, "rounds", 100, "number of kills of a writer")
	fl.Uint64Var(&o.Seed, "seed", 0, "seed of the plan; 0: pick one, and print it")
	fl.StringSliceVar(&o.Devices, "devices", nil, "cards, separated by commas")
	fl.IntVar(&o.F, "f", 1, "peers that may fail, of 2f+1")
	fl.IntVar(&o.Spares, "spares", 1, "spare peers beyond 2f+1, to replace others")
	fl.StringVar(&o.Etcd, "etcd", "", "use an etcd cluster as the controller, at these `endpoints`")
	fl.Var(&f.size, "size", "size of a file")
	fl.IntVar(&o.Acks, "acks", 20, "wait for at most this many acknowledgements before a kill")
	fl.IntVar(&o.Record, "record", 256, "maximum `bytes` of a record")
	fl.DurationVar(&o.SessionTTL, "session-ttl", 2*time.Second, "how long a session lives without a heartbeat; each writer waits for that")
	fl.DurationVar(&o.AckTimeout, "ack-timeout", 0, "passed to peer and write; default: their own default")
	fl.DurationVar(&o.Patience, "patience", time.Minute, "a process that takes longer for one step counts as stalled")
	fl.StringVar(&o.Program, "program", "", "another `build` of verbatim-run for the processes, such as a mutant")
	fl.StringVar(&f.dir, "dir", "", "`directory` for the logs of the processes; default: a temporary one, kept on failure")
	fl.BoolVar(&f.asJSON, "json", false, "print the counts as a JSON object")
	fl.BoolVar(&f.verbose, "verbose", false, "print a line for each round to standard error")
	return c
}

func runNCLSoak(c *cobra.Command, f *soakFlags) error {
	if err := f.complete(c.ErrOrStderr()); err != nil {
		return err
	}
	keep := f.dir != ""
	if !keep {
		dir, err := os.MkdirTemp("", "verbatim-soak-")
		if err != nil {
			return err
		}
		f.dir = dir
	} else if err := os.MkdirAll(f.dir, 0o755); err != nil {
		return err
	}
	f.cfg.Dir = f.dir
	rounds, err := os.Create(filepath.Join(f.dir, "rounds.log"))
	if err != nil {
		return err
	}
	defer rounds.Close()
	f.cfg.Progress = rounds
	if f.verbose {
		f.cfg.Progress = io.MultiWriter(rounds, c.ErrOrStderr())
	}
	began := time.Now()
	counts, err := soak.Run(untilSignal(c.Context()), f.cfg)
	out := c.OutOrStdout()
	if f.asJSON {
		if err := cli.Lines(out).Encode(soaked{f.cfg.Seed, time.Since(began).Seconds(), err == nil, counts}); err != nil {
			return err
		}
	} else {
		f.summary(out, &counts, time.Since(began), err)
	}
	if err == nil && !keep {
		return os.RemoveAll(f.dir)
	}
	return f.failed(c, err)
}

// complete finds the program and the devices.
func (f *soakFlags) complete(stderr io.Writer) error {
	o := &f.cfg
	o.Size = int(f.size)
	for o.Seed == 0 {
		o.Seed = uint64(rand.Uint32())
	}
	var err error
	itself := o.Program == ""
	if itself {
		if o.Program, err = os.Executable(); err != nil {
			return err
		}
	}
	if env := os.Getenv("VERBATIM_RXE_DEVICES"); len(o.Devices) == 0 && env != "" {
		o.Devices = strings.Split(env, ",")
	}
	if o.Devices, err = cards(o.Devices, stderr); err != nil {
		return err
	}
	if err := o.Validate(); err != nil {
		return err
	}
	if err := checkTTL(o.SessionTTL); err != nil {
		return err
	}
	if o.Etcd != "" && o.SessionTTL%time.Second != 0 {
		return fmt.Errorf("--session-ttl %v: etcd counts whole seconds, and by default takes at least 2s", o.SessionTTL)
	}
	if !itself {
		return nil
	}
	return thereAre(o.Devices)
}

// soaked is the JSON form of the counts.
type soaked struct {
	Seed    uint64  `json:"seed"`
	Seconds float64 `json:"seconds"`
	OK      bool    `json:"ok"`
	soak.Counts
}

func (f *soakFlags) summary(w io.Writer, n *soak.Counts, took time.Duration, err error) {
	verdict := "nothing acknowledged was lost"
	switch {
	case errors.Is(err, soak.ErrLost):
		verdict = "LOST"
	case errors.Is(err, soak.ErrLeaked):
		verdict = "LEAKED"
	case err != nil:
		verdict = "NOT DONE"
	}
	fmt.Fprintf(w, "ncl soak: %d rounds in %.1f s with seed %d: %s\n", n.Rounds, took.Seconds(), f.cfg.Seed, verdict)
	fmt.Fprintf(w, "  devices     %s\n", strings.Join(f.cfg.Devices, ", "))
	fmt.Fprintf(w, "  written     %d records acknowledged in %d files, f=%d\n", n.Acknowledged, n.Files, f.cfg.F)
	fmt.Fprintf(w, "  killed      %d writers: %d before their recovery was done and %d with nothing left to write\n",
		n.WriterKills, n.RecoveryKills, n.IdleKills)
	fmt.Fprintf(w, "              %d peers: %d at the same time as the writer\n", n.PeerKills, n.TogetherKills)
	fmt.Fprintf(w, "  replaced    %d peers while the writer continued; %d times another one was killed afterwards\n", n.Replacements, n.AgainKills)
	fmt.Fprintf(w, "  recovered   %d times: %d without a peer and %d with one record more than was acknowledged; %d records in total\n",
		n.Recoveries, n.WithoutPeer, n.Beyond, n.Returned)
}

// failed prints the command that repeats the soak, and the place of the logs.
func (f *soakFlags) failed(c *cobra.Command, err error) error {
	if err == nil {
		return nil
	}
	w := c.ErrOrStderr()
	if errors.Is(err, context.Canceled) {
		err = fmt.Errorf("interrupted: %w", err)
	}
	fmt.Fprintf(w, "verbatim-run: %v\n", err)
	again := fmt.Sprintf("verbatim-run ncl soak --seed %d --devices %s", f.cfg.Seed, strings.Join(f.cfg.Devices, ","))
	c.Flags().Visit(func(fl *pflag.Flag) {
		if !slices.Contains([]string{"seed", "devices", "dir", "json", "verbose"}, fl.Name) {
			again += " --" + fl.Name + " " + fl.Value.String()
		}
	})
	fmt.Fprintf(w, "repeat the plan with: %s\nlogs: %s\n", again, f.dir)
	switch {
	case errors.Is(err, soak.ErrLost), errors.Is(err, soak.ErrLeaked):
		return cli.Status(cli.Violated)
	case errors.Is(err, soak.ErrStuck), errors.Is(err, context.Canceled):
		return cli.Status(cli.RanOut)
	}
	return cli.Status(cli.Bad)
}
