package bench

import (
	"context"
	"fmt"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// The number of operations in a run of the simulator. Data that nothing has read stays
// undecided, and more undecided data costs more time; the runs of a check are short.
const (
	perRun    = 1000
	nclPerRun = 16
)

// straight always takes the first choice.
type straight struct{}

func (straight) Pick([]sim.Event) int           { return 0 }
func (straight) Choose(sim.ChoiceKind, int) int { return 0 }

// simulated is a client in the simulator: f is its code, given a round to time.
type simulated struct {
	world *sim.World
	round *round
	err   error
}

// newSimulated makes a world of a client and others.
func newSimulated(perRun, iters int, f func(h host.Host, r *round) error, services []sim.Service, others ...sim.Node) (*simulated, error) {
	profile, err := faults.ProfileByName("strong")
	if err != nil {
		return nil, err
	}
	s := &simulated{round: newRound(min(iters, perRun))}
	once := func(int, bool) bool { return false }
	client := sim.Node{Name: "bench", Again: once, Main: func(h host.Host, _ int) { s.err = f(h, s.round) }}
	s.world, err = sim.New(sim.Config{Profile: profile, MaxSteps: 1 << 30, Services: services, Nodes: append([]sim.Node{client}, others...)})
	return s, err
}

// measure fills in row. The first run warms the world up and does not count.
func (s *simulated) measure(ctx context.Context, row *Row) error {
	defer s.world.Close()
	total := newTally()
	for i := -1; i < row.Rounds; i++ {
		for left := row.Iters; left > 0; left -= len(s.round.lat) {
			if err := ctx.Err(); err != nil {
				return err
			}
			s.round.lat = s.round.lat[:min(left, cap(s.round.lat))]
			s.round.ops = len(s.round.lat)
			if _, err := s.world.Run(straight{}); err != nil {
				return err
			}
			if s.err != nil {
				return s.err
			}
			if i < 0 {
				continue
			}
			if _, err := total.add(s.round); err != nil {
				return err
			}
		}
	}
	total.fill(row)
	return nil
}

// verbsInSimulator is Verbs in the simulator.
func verbsInSimulator(ctx context.Context, cfg Config, emit func(Row) error) error {
	for _, s := range cfg.specs() {
		cfg.progress("%s of %d bytes, depth %d", s.op, s.size, s.depth)
		row := Row{Bench: "verbs", Backend: Sim, Op: s.op, Measure: s.measure, Size: s.size, Depth: s.depth, Iters: cfg.Iters,
			Rounds: cfg.Rounds, Reap: reap(true)}
		f := func(h host.Host, r *round) error {
			e, err := newEnd(h, s, cfg.Inline, true)
			if err != nil {
				return err
			}
			row.Inline = e.inlined
			peer := &remote{h, PeerName(0)}
			if err := e.open(peer); err != nil {
				return err
			}
			row.MTU = e.mtu
			if s.measure != HalfRoundTrip {
				return r.time(func(lat []uint64) error { return e.closedLoop(lat, s.depth) })
			}
			if err := e.start(peer, r.ops); err != nil {
				return err
			}
			return r.time(e.ping)
		}
		x, err := newSimulated(perRun, cfg.Iters, f, nil, sim.Node{Name: PeerName(0), Daemon: true, Main: func(h host.Host, _ int) {
			_ = Serve(ctx, h) // returns at the end of the run
		}})
		if err == nil {
			err = x.measure(ctx, &row)
		}
		if err != nil {
			return fmt.Errorf("%s of %d bytes, depth %d: %w", s.op, s.size, s.depth, err)
		}
		if err := emit(row); err != nil {
			return err
		}
	}
	return nil
}

// mustServe runs a daemon that must not return before the end of the run.
func mustServe(f func(h host.Host) error) func(host.Host, int) {
	return func(h host.Host, _ int) {
		if err := f(h); err != nil {
			panic(err)
		}
	}
}
