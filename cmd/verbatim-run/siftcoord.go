package main

import (
	"errors"
	"time"

	"github.com/verbatim-rdma/verbatim/cluster"
	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/sift/kv"
	"github.com/verbatim-rdma/verbatim/protocol/sift/siftcoord"
)

// sessionTTL is how long sessions live by default.
const sessionTTL = 10 * time.Second

// sessionTicks is how many ticks a session may be silent.
const sessionTicks = 10

// coordConfig is the same for all nodes, since it follows from flags that must be. A quarter of the store is for what is
// recorded between two snapshots; two snapshots must fit in the rest.
func (f *cpunodeFlags) coordConfig() siftcoord.Config {
	return siftcoord.Config{Ticks: sessionTicks, Every: max(1, min(f.store.cfg.Blocks/4, 256)),
		Begin: func(c coord.Client) error { return cluster.Announce(c, f.ttl) }}
}

// checkCoord checks the flags of the coordinator.
func (f *cpunodeFlags) checkCoord() error {
	if !f.coord {
		if f.ttl != sessionTTL {
			return errors.New("--session-ttl needs --coord")
		}
		return nil
	}
	if f.resp != "" {
		return errors.New("--coord and --resp exclude each other: with --coord the store belongs to the coordinator")
	}
	cfg := f.coordConfig()
	return errors.Join(checkTTL(f.ttl), cfg.Validate(&f.store.cfg))
}

// serveCoord lets a CPU node be a coordinator while it leads.
func (f *cpunodeFlags) serveCoord(h host.Host, s *kv.Server, failed chan<- error) error {
	c, err := siftcoord.New(h, s, f.store.cfg, f.coordConfig())
	if err != nil {
		return err
	}
	h.Go("coordinator", func() { failed <- c.Serve(coordName) })
	h.Go("sessions", func() { c.Expire(f.ttl / sessionTicks) })
	return nil
}
