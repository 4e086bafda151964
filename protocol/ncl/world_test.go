package ncl_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// first is the run without surprises.
type first struct{}

func (first) Pick([]sim.Event) int           { return 0 }
func (first) Choose(sim.ChoiceKind, int) int { return 0 }

// random prefers what the protocol does over faults, so that runs get anywhere.
type random struct{ *rand.Rand }

func (r random) Pick(events []sim.Event) int {
	normal := len(events)
	for normal > 0 && events[normal-1].Fault {
		normal-- // faults come last
	}
	if normal == 0 || normal < len(events) && r.IntN(40) == 0 {
		return normal + r.IntN(len(events)-normal)
	}
	return r.IntN(normal)
}

func (r random) Choose(_ sim.ChoiceKind, n int) int { return r.IntN(n) }

func peerMain(h host.Host, _ int) {
	err := ncl.ServePeer(h, ncl.PeerConfig{Memory: 1 << 12})
	panic(fmt.Sprint("the peer ends: ", err))
}

// newWorld has an application that runs l, and n peers.
func newWorld(tb testing.TB, l *log, n int, profile, budget string) *sim.World {
	tb.Helper()
	cfg := config(tb, n, profile, budget, l.run)
	cfg.Reset = func() { *l = log{fail: l.fail} }
	w, err := sim.New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(w.Close)
	l.fail = w.Fail
	return w
}

func config(tb testing.TB, n int, profile, budget string, app func(h host.Host, cfg ncl.Config, life int)) sim.Config {
	tb.Helper()
	store := new(coord.Store)
	c := sim.Config{Services: []sim.Service{{Host: "coord", Name: "coord", Apply: store.Apply, ReadOnly: coord.ReadOnly,
		Hash: store.Hash, Reset: store.Reset}}}
	var peers []string
	for i := range n {
		peers = append(peers, fmt.Sprint("peer", i+1))
	}
	c.Nodes = []sim.Node{{Name: "app", Again: func(life int, _ bool) bool { return life < lives-1 }, Main: func(h host.Host, life int) {
		app(h, ncl.Config{App: "db", Peers: peers, F: n / 2, Coord: coord.NewClient(h, "coord", "coord")}, life)
	}}}
	for _, p := range peers {
		c.Nodes = append(c.Nodes, sim.Node{Name: p, Main: peerMain, Daemon: true, Symmetric: true})
	}
	var err error
	if c.Profile, err = faults.ProfileByName(profile); err != nil {
		tb.Fatal(err)
	}
	if c.Budget, err = faults.ParseBudget(budget); err != nil {
		tb.Fatal(err)
	}
	return c
}

const (
	fileSize = 16
	records  = 3
	lives    = 3 // of the application, crashed or not
)

// log is the workload and its check: an append-only log of bytes, each life of the
// application goes on where it finds the log.
type log struct {
	acked   int // how many bytes were acknowledged
	written int // how many were ever written
	fail    func(error)
	ended   []string // how lives ended that did not crash
}

func (l *log) run(h host.Host, cfg ncl.Config, life int) {
	var err error
	if life == 0 {
		err = l.write(ncl.Create(h, cfg, "wal", fileSize))
	} else {
		err = l.reopen(ncl.Recover(h, cfg, "wal"))
	}
	if err != nil && !errors.Is(err, ncl.ErrUnavailable) && !errors.Is(err, ncl.ErrNotFound) {
		l.fail(err)
	}
	l.ended = append(l.ended, kind(err))
}

func (l *log) ending() string {
	if len(l.ended) == 0 {
		return "crashed"
	}
	return l.ended[len(l.ended)-1]
}

func kind(err error) string {
	for _, e := range []error{ncl.ErrUnavailable, ncl.ErrNotFound} {
		if errors.Is(err, e) {
			return e.Error()
		}
	}
	return fmt.Sprint(err)
}

func (l *log) reopen(f *ncl.File, err error) error {
	if err != nil {
		if errors.Is(err, ncl.ErrNotFound) && l.acked > 0 {
			l.fail(err)
		}
		return err
	}
	b := make([]byte, fileSize)
	if _, err := f.ReadAt(b, 0); err != nil {
		return err
	}
	n := 0
	for n < len(b) && b[n] == byte(n+1) {
		n++
	}
	if n < l.acked {
		l.fail(fmt.Errorf("%d writes were acknowledged, and %d are there: %v, stamp %v", l.acked, n, b, f.Stamp()))
	}
	if n > l.written {
		l.fail(fmt.Errorf("%d writes were made, and %d are there", l.written, n))
	}
	l.acked = n // what was returned may not vanish either
	return l.write(f, nil)
}

func (l *log) write(f *ncl.File, err error) error {
	if err != nil {
		return err
	}
	for i, end := l.acked, min(l.acked+records, fileSize); i < end; i++ {
		l.written = max(l.written, i+1)
		if err := f.Record(i, []byte{byte(i + 1)}); err != nil {
			return err
		}
		l.acked = i + 1
	}
	return nil
}
