package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/bench"
)

// newBenchPeer is the other side of bench verbs and bench ncl.
func newBenchPeer() *cobra.Command {
	var cfg bench.PeerConfig
	var noPin, withParent bool
	c := &cobra.Command{
		Use:   "peer",
		Short: "Serve as the other side of bench verbs and bench ncl",
		Long: `Peer serves bench verbs and bench ncl on other machines (their --peer) until it is
interrupted. It also runs perftest's servers for them. It trusts everyone who can reach
its address: use it only on an isolated network.

Bench ncl needs three peers, named peer1, peer2 and peer3 in the order of the client's
--peer.`,
		Example: "  verbatim-run bench peer --device mlx5_0 --listen :18600\n  verbatim-run bench peer --name peer2 --listen :18600",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			if withParent { // the parent keeps our standard input open while it lives
				var cancel context.CancelFunc
				ctx, cancel = context.WithCancel(ctx)
				go func() {
					_, _ = io.Copy(io.Discard, os.Stdin)
					cancel()
				}()
			}
			cfg.Pin = !noPin
			cfg.Logf = func(format string, args ...any) { fmt.Fprintf(c.ErrOrStderr(), cfg.Name+": "+format+"\n", args...) }
			cfg.Ready = func(addr string) { fmt.Fprintf(c.OutOrStdout(), "%s listens on %s\n", cfg.Name, addr) }
			return bench.RunPeer(ctx, cfg)
		},
	}
	fl := c.Flags()
	fl.StringVar(&cfg.Name, "name", bench.PeerName(0), "peer1, or for ncl also peer2 and peer3")
	fl.StringVar(&cfg.Listen, "listen", ":18600", "`address` for clients")
	fl.StringVar(&cfg.Device, "device", "", "the `card`; default: the only one")
	fl.IntVar(&cfg.MTU, "mtu", 0, "MTU of the path; 0: the port's")
	fl.BoolVar(&noPin, "no-pin", false, "do not pin the polling thread to a processor")
	fl.BoolVar(&withParent, "with-parent", false, "exit with the process at the other end of standard input")
	_ = fl.MarkHidden("with-parent")
	return c
}

// startPeer starts this program as the other side on this machine. stop terminates it.
func (f *benchFlags) startPeer(ctx context.Context, name, device string) (addr string, stop func() error, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	args := []string{"bench", "peer", "--with-parent", "--listen", "127.0.0.1:0", "--name", name, "--device", device,
		"--mtu", strconv.Itoa(f.cfg.MTU), "--no-pin=" + strconv.FormatBool(!f.cfg.Pin)}
	cmd := exec.CommandContext(ctx, self, args...)
	var said strings.Builder
	cmd.Stderr = &said
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() error {
		_ = in.Close() // makes the peer exit
		if err := cmd.Wait(); err != nil && ctx.Err() == nil {
			return fmt.Errorf("%w: %w: %s", bench.ErrPeer, err, strings.TrimSpace(said.String()))
		}
		return nil
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if _, addr, ok := strings.Cut(strings.TrimSpace(line), " listens on "); ok && err == nil {
		return addr, stop, nil
	}
	if err := stop(); err != nil {
		return "", nil, err
	}
	return "", nil, fmt.Errorf("%w: it printed %q instead of its address", bench.ErrPeer, line)
}
