package nclcheck

import (
	"bytes"
	"fmt"
	"slices"
	"time"

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

// condition is one that a search may be expected to meet.
type condition int

const (
	sawTorn condition = iota
	sawUnacked
	sawBehind
	sawRejected
	sawReplaced
	sawShort
	sawReturned
	sawLate
	sawFenced
	sawUnfinished
	sawCollected
	sawReleased
)

var conditionNames = [...]string{
	sawTorn:       "a recovery returned part of an unacknowledged write",
	sawUnacked:    "a recovery returned an unacknowledged write whole",
	sawBehind:     "a recovery returned without an unacknowledged write",
	sawRejected:   "a write was acknowledged although a peer had failed",
	sawReplaced:   "a failed peer was replaced",
	sawShort:      "a failed peer could not be replaced, and writing went on",
	sawReturned:   "a peer that had failed became a peer of the file again",
	sawLate:       "a write was acknowledged to an instance that was believed dead",
	sawFenced:     "an instance that was believed dead could not write",
	sawUnfinished: "an application crashed while it created the file",
	sawCollected:  "a peer had a region that nobody claimed, and freed it",
	sawReleased:   "an application crashed while it released the file",
}

// afterCrash are the conditions of scenarios with crashes of the application and a
// peer.
var afterCrash = []condition{sawUnacked, sawBehind, sawRejected}

func names(cs []condition) []string {
	var out []string
	for _, c := range cs {
		out = append(out, conditionNames[c])
	}
	return out
}

// meet notes that the search has met a condition, if it is one of the scenario's.
func (a *app) meet(c condition) {
	if i := slices.Index(a.load.meets, c); i >= 0 {
		a.c.Sometimes(i)
	}
}

func build(s scenario) *explore.Scenario {
	return &explore.Scenario{
		Name: "ncl/" + s.name, Doc: s.doc, Profile: "strong", Faults: s.faults, Bounds: s.bounds,
		Sometimes: names(s.load.meets),
		Build: func(c *explore.Case) (sim.Config, error) {
			return newWorld(c, s.load), nil
		},
	}
}

// newWorld is an application, its peers, and a controller whose every operation is
// one step.
func newWorld(c *explore.Case, load workload) sim.Config {
	app := newApp(c, load)
	return newWorldOf(c, app, app.main)
}

func newWorldOf(c *explore.Case, app *app, main func(host.Host, int)) sim.Config {
	load := app.load
	c.OnReset(app.reset)
	cfg := sim.Config{Profile: c.Profile, Budget: c.Budget}
	cfg.Services = []sim.Service{controller()}
	cfg.Nodes = []sim.Node{{Name: "app", Main: main, Again: app.again, Immortal: app.immortal}}
	switch {
	case load.gate != nil:
		cfg.Gate = load.gate(app)
	case load.cutBetween:
		cfg.Gate = app.gate
	}
	n := load.peers
	if n == 0 {
		n = 2*load.f + 1
	}
	for i := range n {
		name := fmt.Sprint("peer", i+1)
		app.peers = append(app.peers, name)
		// Peers are interchangeable as long as the ap-map names all of them.
		node := sim.Node{Name: name, Main: peer(load), Daemon: true, Symmetric: load.peers == 0 && !load.registered}
		if load.stayDown {
			node.Again = func(int, bool) bool { return false }
		}
		cfg.Nodes = append(cfg.Nodes, node)
	}
	if load.registered {
		app.peers = nil
	}
	return cfg
}

// expire is a request to the controller that no client sends: it has not heard of the
// caller's earlier lives for too long.
var expire = []byte("expire")

// controller is the coordination service, with sessions that end when a scenario says so.
func controller() sim.Service {
	store := &coord.Store{}
	return sim.Service{Host: "coord", Name: "coord", Hash: store.Hash, Reset: store.Reset,
		Apply: func(from string, req []byte) []byte {
			if bytes.Equal(req, expire) {
				store.ExpireHost(from)
				return nil
			}
			return store.Apply(from, req)
		},
		ReadOnly: func(req []byte) bool { return !bytes.Equal(req, expire) && coord.ReadOnly(req) },
	}
}

// peer lends memory for a few copies of a file.
func peer(load workload) func(host.Host, int) {
	return func(h host.Host, _ int) {
		cfg := ncl.PeerConfig{Memory: 8 * (load.size + 64)}
		if load.collects || load.registered {
			cfg.Coord = coord.NewClient(h, "coord", "coord")
		}
		if load.collects {
			cfg.CollectEvery = time.Hour
		}
		if err := ncl.ServePeer(h, cfg); err != nil {
			panic(err)
		}
	}
}
