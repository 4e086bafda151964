package nclcheck

import (
	"fmt"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// scenario is the table form of an explore.Scenario.
type scenario struct {
	name, doc, faults, bounds string
	load                      workload
}

// The conditions that a search is expected to meet.
const (
	sawTorn = iota
	sawUnacked
	sawBehind
	sawRejected
	conditions
)

var conditionNames = [conditions]string{
	sawTorn:     "a recovery returned part of an unacknowledged write",
	sawUnacked:  "a recovery returned an unacknowledged write whole",
	sawBehind:   "a recovery returned without an unacknowledged write",
	sawRejected: "a write was acknowledged although a peer had failed",
}

func build(s scenario) *explore.Scenario {
	return &explore.Scenario{
		Name: "ncl/" + s.name, Doc: s.doc, Profile: "strong", Faults: s.faults, Bounds: s.bounds,
		Sometimes: conditionNames[:],
		Build: func(c *explore.Case) (sim.Config, error) {
			return newWorld(c, s.load), nil
		},
	}
}

// newWorld is an application, 2f+1 interchangeable peers, and a controller whose
// every operation is one step.
func newWorld(c *explore.Case, load workload) sim.Config {
	app := newApp(c, load)
	return newWorldOf(c, app, app.main)
}

func newWorldOf(c *explore.Case, app *app, main func(host.Host, int)) sim.Config {
	store, load := &coord.Store{}, app.load
	c.OnReset(app.reset)
	c.Shows(app.operations)
	cfg := sim.Config{Profile: c.Profile, Budget: c.Budget}
	cfg.Services = []sim.Service{{Host: "coord", Name: "coord", Apply: store.Apply, ReadOnly: coord.ReadOnly,
		Hash: store.Hash, Reset: store.Reset}}
	cfg.Nodes = []sim.Node{{Name: "app", Main: main, Again: app.again, Immortal: app.immortal}}
	if load.cutBetween {
		cfg.Gate = app.gate
	}
	for i := range 2*load.f + 1 {
		name := fmt.Sprint("peer", i+1)
		app.peers = append(app.peers, name)
		n := sim.Node{Name: name, Main: peer(load.size), Daemon: true, Symmetric: true}
		if load.stayDown {
			n.Again = func(int, bool) bool { return false }
		}
		cfg.Nodes = append(cfg.Nodes, n)
	}
	return cfg
}

// peer lends memory for a few copies of a file.
func peer(size int) func(host.Host, int) {
	return func(h host.Host, _ int) {
		if err := ncl.ServePeer(h, ncl.PeerConfig{Memory: 8 * (size + 64)}); err != nil {
			panic(err)
		}
	}
}
