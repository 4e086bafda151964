package main

import (
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/cmd/verbatim-run/internal/resp"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/sift"
	"github.com/verbatim-rdma/verbatim/protocol/sift/kv"
)

// cpunodeFlags are the flags of the command cpunode.
type cpunodeFlags struct {
	store  storeFlags
	device cardFlags
	host   hostFlags
	node   sift.Config
	number int
	memory []string
	cuts   bool
	resp   string
	coord  bool
	ttl    time.Duration
}

// newSiftCPUNode is the command that runs a CPU node.
func newSiftCPUNode() *cobra.Command {
	f := &cpunodeFlags{}
	c := &cobra.Command{
		Use:   "cpunode",
		Short: "Run a CPU node, which leads and serves clients, or follows",
		Long: `Cpunode watches the leader, and takes its place when it has missed --missed heartbeats. The one
that leads serves clients, and brings memory nodes back that have failed. A CPU node keeps nothing, so it can
be killed and started again at any time. All CPU nodes of a group need the same --memory, in the same
order, and a --node of their own.

It answers gets without asking the memory nodes until its --lease has run out, which is safe if the clocks
of two CPU nodes run equally fast, up to the ratio of --missed times --period to --lease. With --lease 0 each
get takes a heartbeat, and no clock matters.

With --resp it also speaks RESP, so that clients and tools of Redis can use the store. A node that does not lead answers
them with an error that begins with NOTLEADING; others are UNKNOWN, TOOLONG, FULL and ERR.
Anyone who can reach that address can use the store: there are no passwords, and no TLS.

With --coord it is a coordinator for others, as 'verbatim-run ncl coord' is, and as many memory nodes may fail
without losing it; 'verbatim-run ncl' and others take --sift with the CPU nodes. The store then belongs to it: nobody
else may put keys.

It prints one line when it is ready, with its addresses, and one whenever its role or what it knows of the memory
nodes changes: 'leads in term T: memory M1 M2; failed M3', 'serves' with the same if clients are
served, or 'follows'.`,
		Example: `  verbatim-run sift cpunode --node 1 --listen 10.0.0.4:7031 \
    --memory m1=10.0.0.1:7021 --memory m2=10.0.0.2:7021 --memory m3=10.0.0.3:7021`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return siftEnded(runSiftCPUNode(c, f), c.ErrOrStderr()) },
	}
	fl := c.Flags()
	fl.IntVar(&f.number, "node", 0, "unique `number` of this CPU node, from 1 (required)")
	fl.StringVar(&f.host.name, "name", "", "`name` of this CPU node; default: cpu and its number, such as cpu1")
	fl.StringVar(&f.host.listen, "listen", "127.0.0.1:7031", "`address` to listen on; port 0 picks a free one")
	fl.StringArrayVar(&f.memory, "memory", nil, "memory node, as `NAME=ADDRESS`; 2f+1 of them (required)")
	fl.DurationVar(&f.node.Period, "period", 50*time.Millisecond, "time between two heartbeats")
	fl.IntVar(&f.node.Missed, "missed", 6, "number of missed heartbeats before a follower stands for election")
	fl.DurationVar(&f.node.Lease, "lease", 150*time.Millisecond, "how long after a heartbeat the leader answers gets by itself; shorter than --missed periods; 0: never")
	fl.DurationVar(&f.node.BackOff, "back-off", 50*time.Millisecond, "unit of the random pause after an election round without a winner")
	fl.DurationVar(&f.node.CallTimeout, "call-timeout", 100*time.Millisecond, "timeout for an attempt to connect to a memory node; it delays heartbeats")
	fl.IntVar(&f.store.cfg.Cache, "cache", 0, "keys in the leader's cache; default: half of --keys")
	fl.StringVar(&f.resp, "resp", "", "`address` on which to serve clients of Redis (RESP): GET, SET, DEL, EXISTS; port 0 picks a free one; default: none")
	fl.BoolVar(&f.coord, "coord", false, "keep track of files and peers for other processes, in the store")
	fl.DurationVar(&f.ttl, "session-ttl", sessionTTL, "with --coord: how long a session lives without a heartbeat")
	fl.BoolVar(&f.cuts, "cuts", false, "for tests: take lines 'cut NAME' and 'heal NAME' from standard input, and cut the node off from a memory node")
	_ = fl.MarkHidden("cuts") // cannot fail: the flag exists
	f.store.define(fl)
	f.device.define(fl)
	f.host.define(fl)
	fl.SortFlags = false
	return c
}

// config checks the flags before a card is opened.
func (f *cpunodeFlags) config() (at map[string]string, err error) {
	if f.number < 1 || f.number > sift.MaxNode {
		return nil, fmt.Errorf("--node %d: want a unique number of this CPU node, 1 to %d", f.number, sift.MaxNode)
	}
	f.node.Node = uint16(f.number)
	if f.host.name == "" {
		f.host.name = fmt.Sprint("cpu", f.number)
	}
	if len(f.memory)%2 == 0 || len(f.memory) > 2*sift.MaxF+1 {
		return nil, fmt.Errorf("--memory was given %d times: surviving f failures takes 2f+1 memory nodes, an odd number up to %d", len(f.memory), 2*sift.MaxF+1)
	}
	if f.node.Memory, at, err = addresses("--memory", "m1=10.0.0.1:7021", f.memory, f.host.name); err != nil {
		return nil, err
	}
	if f.node.Layout, err = f.store.complete(); err != nil {
		return nil, err
	}
	if f.node.CallTimeout <= 0 {
		return nil, fmt.Errorf("--call-timeout %v: it must be positive", f.node.CallTimeout)
	}
	if err := f.checkCoord(); err != nil {
		return nil, err
	}
	return at, f.node.Validate()
}

func runSiftCPUNode(c *cobra.Command, f *cpunodeFlags) error {
	at, err := f.config()
	if err != nil {
		return err
	}
	f.host.repeat = repeatEvery
	h, err := f.host.open(&f.device, at, c.ErrOrStderr())
	if err != nil {
		return err
	}
	var on host.Host = h
	if f.cuts {
		severed := newSevered(h)
		on = severed
		go func() {
			if err := severed.obey(c.InOrStdin()); err != nil {
				h.Logf("%v", err)
			}
		}()
	}
	s, err := kv.NewServer(on, f.store.cfg)
	if err != nil {
		return err
	}
	s.KeepAlive = askAfter
	failed := make(chan error, 3)
	if f.coord {
		if err := f.serveCoord(on, s, failed); err != nil {
			return err
		}
	}
	front := ""
	if f.resp != "" {
		l, err := net.Listen("tcp", f.resp)
		if err != nil {
			return fmt.Errorf("--resp %s: %w", f.resp, err)
		}
		front = fmt.Sprintf(", RESP at %s", l.Addr())
		go func() { failed <- fmt.Errorf("--resp %s: %w", f.resp, resp.Serve(l, frontOf(s))) }()
	}
	go func() { failed <- s.Run(f.node) }()
	out := c.OutOrStdout()
	fmt.Fprintf(out, "ready: %s at %s is CPU node %d of %s on %s%s\n", f.host.name, h.Addr(), f.number, strings.Join(f.node.Memory, " "), h.Device().Attr().Name, front)
	ctx, look, last := untilSignal(c.Context()), time.NewTicker(lookEvery), ""
	defer look.Stop()
	for {
		select {
		case err := <-failed:
			return err
		case <-ctx.Done():
			return h.Close() // the node has no durable state: its tasks end with the process
		case <-look.C:
			if role := roleOf(s.State()); role != last {
				fmt.Fprintln(out, role)
				last = role
			}
		}
	}
}

// frontOf is the front end of a node. It has a store while the node leads.
func frontOf(s *kv.Server) resp.Config {
	return resp.Config{Role: func() string { return roleOf(s.State()) }, Store: func() resp.Store {
		if store := s.Store(); store != nil {
			return store
		}
		return nil
	}}
}

const (
	// repeatEvery is the interval at which a node may repeat a line of its log: it tries to reach a dead memory node
	// many times a second.
	repeatEvery = 10 * time.Second
	// askAfter is how long a client may be silent before the node probes its card.
	askAfter = 10 * time.Second
	// lookEvery is the interval at which the node checks whether its role has changed.
	lookEvery = 20 * time.Millisecond
)

// roleOf returns the line about the role of a node.
func roleOf(s kv.State) string {
	if s.Term == 0 {
		return "follows"
	}
	does := "leads"
	if s.Serves {
		does = "serves"
	}
	text := fmt.Sprintf("%s in term %d: memory %s", does, s.Term, strings.Join(s.Live, " "))
	if len(s.Failed) > 0 {
		text += "; failed " + strings.Join(s.Failed, " ")
	}
	return text
}
