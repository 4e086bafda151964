package nclcheck

import (
	"bytes"
	"slices"
	"time"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
	"github.com/verbatim-rdma/verbatim/verbs"
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
	sawLate
	sawFenced
	sawUnfinished
	sawReleasing
	sawStopped
	sawRevived
	sawDuel
	sawLeftBehind
	sawUnheard
	sawOusted
	sawAnew
	sawShort
	sawRivalHas
	sawRivalLost
	sawOverdue
)

var conditionNames = [...]string{
	sawTorn:       "a recovery returned part of an unacknowledged write",
	sawUnacked:    "a recovery returned an unacknowledged write whole",
	sawBehind:     "a recovery returned without an unacknowledged write",
	sawRejected:   "a write was acknowledged although a peer had failed",
	sawReplaced:   "a failed peer was replaced",
	sawLate:       "a write was acknowledged to an instance that was believed dead",
	sawFenced:     "an instance that was believed dead could not write",
	sawUnfinished: "an application crashed while it created the file",
	sawReleasing:  "an application crashed while it released the file",
	sawStopped:    "a write failed because more than f peers were gone",
	sawDuel:       "an instance lost the file to an earlier one that recovered it, and recovered it again",
	sawLeftBehind: "a recovery finished without a peer that had answered it",
	sawUnheard:    "an operation failed because the controller was out of reach",
	sawOusted:     "an instance found its session over",
	sawShort:      "an operation failed because the host was out of something",
	sawRivalHas:   "another instance took the file while this one created, recovered or deleted it",
	sawRivalLost:  "this instance took the file from another one that had recovered it meanwhile",
	sawOverdue:    "a write that had failed was taken for acknowledged after a replacement",
	sawAnew:       "a recovery failed, and was done again",
	sawRevived:    "writing went on after more than f peers had been gone",
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
	c.Shows(app.operations)
	cfg := sim.Config{Profile: c.Profile, Budget: c.Budget}
	cfg.Services = []sim.Service{controller(load)}
	cfg.Nodes = []sim.Node{{Name: "app", Main: main, Again: app.again, Immortal: app.immortal}}
	if load.cutBetween || load.exposed || load.lateCrash {
		cfg.Gate = app.gate
	}
	if load.collectAt != "" {
		cfg.Nodes = append(cfg.Nodes, sim.Node{Name: "clock", Main: func(h host.Host, _ int) {
			_, err := ncl.Collect(h, load.collectAt, ncl.DefaultCallTimeout)
			h.Logf("%v", err)
		}})
	}
	for _, name := range load.names() {
		if !load.registered {
			app.peers = append(app.peers, name)
		}
		// Peers are interchangeable as long as the ap-map names all of them, and nobody goes
		// from one to the next, as the collection at the end does.
		node := sim.Node{Name: name, Main: peer(load, name), Daemon: true, Symmetric: len(load.peers) == 0 && !load.collects}
		if load.stayDown {
			node.Again = func(int, bool) bool { return false }
		}
		cfg.Nodes = append(cfg.Nodes, node)
	}
	return cfg
}

// expire is a request to the controller that no client sends: it has not heard of the
// caller's earlier lives for too long.
var expire = []byte("expire")

// controller is the coordination service, with sessions that end when a scenario says so.
//
// Peers that register have done so before a run begins.
func controller(load workload) sim.Service {
	store := &coord.Store{}
	reset := func() {
		store.Reset()
		if load.registered {
			for _, name := range load.names() {
				c := coord.NewClient(direct{store: store}, "coord", "coord")
				if err := c.Create("peers/"+name, []byte{7: 255}, coord.NoSession); err != nil {
					panic(err)
				}
			}
		}
	}
	return sim.Service{Host: "coord", Name: "coord", Hash: store.Hash, Reset: reset,
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

// direct is a host whose calls are carried out at once, before a run begins.
type direct struct {
	host.Host
	store *coord.Store
}

func (d direct) Call(_, _ string, req []byte, _ time.Duration) ([]byte, error) {
	return d.store.Apply("direct", req), nil
}

// peer lends memory for a few copies of a file, unless it is to refuse.
func peer(load workload, name string) func(host.Host, int) {
	if name == load.hangs {
		return hang
	}
	return func(h host.Host, _ int) {
		cfg := ncl.PeerConfig{Memory: load.memory(name), CollectEvery: load.every}
		if load.collects || load.registered {
			cfg.Coord, cfg.Unlisted = coord.NewClient(h, "coord", "coord"), !load.registered
		}
		if name == load.mishears {
			cfg.Coord = losing{cfg.Coord, &once{host: h, answers: true, spare: 2}} // the first two are its registration
		}
		if name == load.scarce {
			h = &short{Host: h, once: &once{host: h, spare: 2}} // the first two are for all files
		}
		if name == load.garbles {
			h = garbler{h, &once{host: h}}
		}
		if err := ncl.ServePeer(h, cfg); err != nil {
			panic(err)
		}
	}
}

// memory is how much a peer lends at most.
func (l *workload) memory(peer string) int {
	switch {
	case peer == l.refuses:
		return l.size + 1
	case l.tight:
		return l.size + 8
	}
	return 8 * (l.size + 64)
}

// hang is a peer that takes requests and does not come back to them.
func hang(h host.Host, _ int) {
	lis, err := h.Listen("ncl")
	for err == nil {
		_, err = lis.Accept(verbs.Forever)
	}
	panic(err)
}
