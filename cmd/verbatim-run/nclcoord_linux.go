package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/host"
)

// newNCLCoord is the command that runs the coordinator.
func newNCLCoord() *cobra.Command {
	f := &hostFlags{name: coordName, conns: 1 << 14} // each process keeps one, for its heartbeats
	var ttl time.Duration
	c := &cobra.Command{
		Use:   "coord",
		Short: "Run the coordinator, which knows the files",
		Long: `Coord knows which peers there are and what they lend, which files there are, which
peers hold them and in which epoch each is: the ap-map of the protocol. It needs no
card. An application that it has not heard of for --session-ttl has ended. The others
learn this time from it, and let it hear of them often enough. A short one lets the next
instance begin soon after a crash; but a process that stands still for so long, because
its machine is busy, is taken for dead.

It is one process, and keeps all of it in memory. It outlives the crash of any
writer and of any peer. It is not replicated and writes nothing to a disk. While it
is gone, writers that have their file go on, and what needs it fails: new files,
recoveries, peers in the place of failed ones. One that is started again knows nothing
of before: files that the one before knew cannot be recovered, and peers take back their
memory (--collect-every); writers and mounts find that their session is over, and write
no more; peers must be started again to be found. For more, take an etcd cluster: --etcd.

It prints one line when it is ready, with its address.`,
		Example: "  verbatim-run ncl coord --listen 10.0.0.9:7000",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return runNCLCoord(c, f, ttl) },
	}
	c.Flags().SortFlags = false
	c.Flags().StringVar(&f.listen, "listen", "127.0.0.1:7000", "`address` to take calls at; port 0 takes a free one")
	c.Flags().DurationVar(&ttl, "session-ttl", 10*time.Second, "how long a session outlives its process")
	f.define(c.Flags())
	return c
}

func runNCLCoord(c *cobra.Command, f *hostFlags, ttl time.Duration) error {
	if err := checkTTL(ttl); err != nil {
		return err
	}
	h, err := f.open(nil, nil, c.ErrOrStderr())
	if err != nil {
		return err
	}
	ctx := untilSignal(c.Context())
	context.AfterFunc(ctx, func() { _ = h.Close() }) // Accept says that it is closed
	l, err := h.Listen(coordName)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.OutOrStdout(), "ready: %s at %s\n", f.name, h.Addr())
	return unlessEnded(ctx, coordinate(h, l, ttl))
}

// coordinate answers requests, and ends sessions, until the host is closed.
func coordinate(h host.Host, l host.Listener, ttl time.Duration) error {
	const ticks = 10
	k := &coord.Keeper{Ticks: ticks, After: coord.Session(time.Now().UnixNano())}
	if err := announceTTL(h, k, ttl); err != nil {
		return err
	}
	next := h.Now() + ttl/ticks
	for {
		r, err := l.Accept(max(next-h.Now(), 0))
		switch {
		case err == nil:
			r.Reply(k.Apply(r.From(), r.Body()))
		case !errors.Is(err, host.ErrTimeout):
			return err
		}
		if h.Now() < next {
			continue
		}
		for _, s := range k.Tick() {
			h.Logf("session %d of %s is over", s.ID, s.Host)
		}
		next = h.Now() + ttl/ticks
	}
}

// leastTTL is the shortest session. A busy machine lets a process stand still for a part
// of it now and then, and four heartbeats have to fit in.
const leastTTL = 400 * time.Millisecond

func checkTTL(ttl time.Duration) error {
	if ttl < leastTTL {
		return fmt.Errorf("--session-ttl %v: at least %v; of a shorter session a busy machine would miss the heartbeats, and end it under a process that lives",
			ttl, leastTTL)
	}
	return nil
}

// ttlKey is where a coordinator says how long its sessions are.
const ttlKey = "session-ttl"

// sessionTTL is how long sessions are at the controller c if they take heartbeats of
// ours, and 0 if they do not: the client of etcd sends them by itself.
func sessionTTL(c coord.Client) (time.Duration, error) {
	text, _, err := c.Get(ttlKey)
	if errors.Is(err, coord.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	ttl, err := time.ParseDuration(string(text))
	if err != nil || ttl < leastTTL {
		return 0, fmt.Errorf("the controller has %q for the time that sessions last: is it a 'verbatim-run ncl coord' of this release?", text)
	}
	return ttl, nil
}

// asksEvery is how often to ask for a session of that length: at least every most.
func asksEvery(ttl, most time.Duration) time.Duration {
	if ttl == 0 {
		return most
	}
	return min(ttl/4, most)
}

func announceTTL(h host.Host, k *coord.Keeper, ttl time.Duration) error {
	return coord.NewClient(itself{h, k}, coordName, coordName).Create(ttlKey, []byte(ttl.String()), coord.NoSession)
}

// itself is the coordinator's host, which calls its own service.
type itself struct {
	host.Host
	k *coord.Keeper
}

func (s itself) Call(_, _ string, req []byte, _ time.Duration) ([]byte, error) {
	return s.k.Apply(s.Name(), req), nil
}
