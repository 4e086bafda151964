package ncl_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// first chooses the run without surprises.
type first struct{}

func (first) Pick([]sim.Event) int           { return 0 }
func (first) Choose(sim.ChoiceKind, int) int { return 0 }

// random prefers steps of the protocol over faults, so that runs make progress.
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
	c := sim.Config{Services: []sim.Service{scenario.Controller()}}
	var peers []string
	for i := range n {
		peers = append(peers, fmt.Sprint("peer", i+1))
	}
	c.Nodes = []sim.Node{{Name: "app", Again: func(life int, _ bool) bool { return life < lives-1 }, Main: func(h host.Host, life int) {
		app(h, ncl.Config{App: "db", Peers: peers, F: n / 2, Coord: scenario.Dial(h)}, life)
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

// log is the workload and its check: an append-only log, to which each life of the
// application appends records of its own after the recovered ones.
type log struct {
	acked []byte // acknowledged, or returned by a recovery
	fail  func(error)
	ended []string // how lives ended that did not crash
}

func (l *log) run(h host.Host, cfg ncl.Config, life int) {
	var f *ncl.File
	var err error
	if life == 0 {
		f, err = ncl.Create(h, cfg, "wal", fileSize)
	} else if f, err = ncl.Recover(h, cfg, "wal"); err == nil {
		l.compare(f)
	} else if errors.Is(err, ncl.ErrNotFound) && len(l.acked) > 0 {
		l.fail(err)
	}
	if err == nil {
		err = l.write(f, life)
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

// compare looks for the acknowledged bytes in the recovered ones.
func (l *log) compare(f *ncl.File) {
	b := make([]byte, fileSize)
	if _, err := f.ReadAt(b, 0); err != nil {
		l.fail(err)
	}
	if !bytes.HasPrefix(b, l.acked) {
		l.fail(fmt.Errorf("acknowledged %v, recovered %v with stamp %v", l.acked, b, f.Stamp()))
	}
	l.acked, _, _ = bytes.Cut(b, []byte{0}) // returned bytes may not vanish either
}

func (l *log) write(f *ncl.File, life int) error {
	for range min(records, fileSize-len(l.acked)) {
		b := []byte{byte(10*(life+1) + len(l.acked))}
		if err := f.Record(len(l.acked), b); err != nil {
			return err
		}
		l.acked = append(l.acked, b...)
	}
	return nil
}
