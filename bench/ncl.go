package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// The bench of NCL tolerates one failure, with three peers.
const (
	nclF     = 1
	nclPeers = 2*nclF + 1
	// nclFile is the size of the file, which is written from beginning to end, repeatedly.
	nclFile = 1 << 20
	// NCLMemory is the size of the memory that a peer lends.
	NCLMemory = 64 << 20
)

// NCL measures File.Record by the size of the write, at f=1.
func NCL(ctx context.Context, cfg Config, emit func(Row) error) error {
	if len(cfg.Sizes) == 0 {
		cfg.Sizes = []int{128, 512, 1024, 2048, 4096, 8192}
	}
	if cfg.Backend != RDMA && cfg.Iters == 0 { // runs of 8 kB are slow
		cfg.Iters = nclPerRun
	}
	cfg.Wait = true
	cfg, err := cfg.complete()
	if err != nil {
		return err
	}
	for _, n := range cfg.Sizes {
		if err := within("size", n, 1, nclFile); err != nil {
			return err
		}
	}
	if cfg.Backend == Sim {
		return nclInSimulator(ctx, cfg, emit)
	}
	return nclOnCards(ctx, cfg, emit)
}

func (c *Config) nclRow(size int) Row {
	return Row{Bench: "ncl", Backend: c.Backend, Op: "record", Measure: Recorded, Size: size, Depth: 1, Iters: c.Iters,
		Rounds: c.Rounds, Reap: reap(true)}
}

// nclConfig returns the application of the bench, on host h with the service coord.
func nclConfig(h host.Host, coordHost string) ncl.Config {
	cfg := ncl.Config{App: "bench", F: nclF, Coord: coord.NewClient(unhurried{h}, coordHost, "coord"), CallTimeout: callTimeout}
	for i := range nclPeers {
		cfg.Peers = append(cfg.Peers, PeerName(i))
	}
	return cfg
}

// callTimeout is long enough for machines that lose their processors for a while.
const callTimeout = 20 * time.Second

// unhurried is a host whose calls always have callTimeout.
type unhurried struct{ host.Host }

func (u unhurried) Call(to, service string, body []byte, _ time.Duration) ([]byte, error) {
	return u.Host.Call(to, service, body, callTimeout)
}

// recorder is a file, and the data that is written to it.
type recorder struct {
	f    *ncl.File
	data []byte
	off  int
}

// newRecorder creates a file. It retries until the peers listen.
func newRecorder(ctx context.Context, h host.Host, cfg ncl.Config, size int) (*recorder, error) {
	for {
		f, err := ncl.Create(h, cfg, fmt.Sprint("wal-", size), max(nclFile, size))
		if err == nil {
			return &recorder{f: f, data: make([]byte, size)}, nil
		}
		if !errors.Is(err, host.ErrNoService) || ctx.Err() != nil {
			return nil, err
		}
	}
}

// loop records len(lat) times, one after the other.
func (r *recorder) loop(lat []uint64) error {
	for i := range lat {
		began := ticks()
		if err := r.f.Record(r.off, r.data); err != nil {
			return err
		}
		lat[i] = ticks() - began
		if r.off += len(r.data); r.off+len(r.data) > r.f.Size() {
			r.off = 0
		}
	}
	return nil
}

// nclInSimulator is NCL in the simulator.
func nclInSimulator(ctx context.Context, cfg Config, emit func(Row) error) error {
	for _, size := range cfg.Sizes {
		cfg.progress("records of %d bytes", size)
		row := cfg.nclRow(size)
		f := func(h host.Host, r *round) error {
			w, err := newRecorder(ctx, h, nclConfig(h, "coord"), size)
			if err != nil {
				return err
			}
			return r.time(w.loop)
		}
		services := []sim.Service{controller()}
		var peers []sim.Node
		for i := range nclPeers {
			peers = append(peers, sim.Node{Name: PeerName(i), Daemon: true, Main: mustServe(func(h host.Host) error {
				return ncl.ServePeer(h, ncl.PeerConfig{Memory: NCLMemory})
			})})
		}
		x, err := newSimulated(nclPerRun, cfg.Iters, f, services, peers...)
		if err == nil {
			err = x.measure(ctx, &row)
		}
		if err != nil {
			return fmt.Errorf("records of %d bytes: %w", size, err)
		}
		if err := emit(row); err != nil {
			return err
		}
	}
	return nil
}
