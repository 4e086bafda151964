package bench

import (
	"context"
	"errors"
	"fmt"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// NCLApp is an application that has three log peers.
type NCLApp struct {
	// Do calls f in a task that may use NCL: on cards any task, in the simulator the
	// task of the application, one call at a time.
	Do func(f func(h host.Host, cfg ncl.Config)) error
	// Peers is the number of peers.
	Peers int
}

// WithNCL runs f with three log peers, on cards or in the simulator. Each lends
// [NCLMemory].
func WithNCL(ctx context.Context, cfg Config, f func(NCLApp) error) error {
	cfg.Wait = true
	cfg, err := cfg.complete()
	if err != nil {
		return err
	}
	if cfg.Backend == Sim {
		return withSimulatedNCL(f)
	}
	return withNCLOnCards(ctx, cfg, f)
}

// controller returns the coordination service of a simulated world.
func controller() sim.Service {
	store := &coord.Store{}
	return sim.Service{Host: "coord", Name: "coord", Apply: store.Apply, ReadOnly: coord.ReadOnly, Hash: store.Hash, Reset: store.Reset}
}

// withSimulatedNCL runs f outside a simulated world and its calls inside. The simulator
// is paused in between.
func withSimulatedNCL(f func(NCLApp) error) error {
	profile, err := faults.ProfileByName("strong")
	if err != nil {
		return err
	}
	calls, ended := make(chan func(host.Host)), make(chan struct{})
	once := func(int, bool) bool { return false }
	cfg := sim.Config{Profile: profile, MaxSteps: 1 << 40, MaxPieces: 1,
		Services: []sim.Service{controller()},
		Nodes: []sim.Node{{Name: "bench", Again: once, Main: func(h host.Host, _ int) {
			h.Sleep(0) // a timer goes off when nothing else can happen: the peers are ready
			for c := range calls {
				c(h)
			}
		}}}}
	for i := range nclPeers {
		cfg.Nodes = append(cfg.Nodes, sim.Node{Name: PeerName(i), Daemon: true, Main: mustServe(func(h host.Host) error {
			return ncl.ServePeer(h, ncl.PeerConfig{Memory: NCLMemory})
		})})
	}
	w, err := sim.New(cfg)
	if err != nil {
		return err
	}
	defer w.Close()
	var ran error
	go func() {
		defer close(ended)
		_, ran = w.Run(straight{})
	}()
	err = f(NCLApp{Peers: nclPeers, Do: func(f func(h host.Host, cfg ncl.Config)) error {
		done := make(chan struct{})
		call := func(h host.Host) {
			defer close(done)
			f(h, nclConfig(h, "coord"))
		}
		for sent := false; ; {
			to := calls
			if sent {
				to = nil
			}
			select {
			case to <- call:
				sent = true
			case <-done:
				return nil
			case <-ended:
				return fmt.Errorf("%w: the simulation has stopped: %w", ErrPeer, ran)
			}
		}
	}})
	close(calls)
	<-ended
	return errors.Join(err, ran)
}
