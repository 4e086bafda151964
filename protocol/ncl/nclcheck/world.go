package nclcheck

import (
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// spec is the table form of an explore.Scenario.
type spec struct {
	name, doc, faults, bounds string
	load                      workload
}

// Conditions that a search may be expected to meet.
const (
	sawTorn       = "a recovery returned a part of an unacknowledged write"
	sawUnacked    = "a recovery returned a whole unacknowledged write"
	sawBehind     = "a recovery returned without an unacknowledged write"
	sawRejected   = "a write was acknowledged although a peer had failed"
	sawReplaced   = "a failed peer was replaced"
	sawLate       = "a write was acknowledged to an instance that was believed dead"
	sawFenced     = "an instance that was believed dead could not write"
	sawUnfinished = "an application crashed while it created the file"
	sawReleasing  = "an application crashed while it released the file"
	sawStopped    = "a write failed because more than f peers were gone"
	sawRevived    = "writing continued after more than f peers had been gone"
	sawDuel       = "an instance lost the file to an earlier instance that recovered it, and recovered it again"
	sawLeftBehind = "a recovery finished without a peer that had answered"
	sawUnheard    = "an operation failed because the controller was out of reach"
	sawOusted     = "an instance found its session expired"
	sawAnew       = "a recovery failed, and was repeated"
	sawShort      = "an operation failed because an allocation failed"
	sawRivalHas   = "another instance took the file while this one created, recovered or deleted it"
	sawRivalLost  = "this instance took the file from another instance that had recovered it meanwhile"
	sawOverdue    = "a write that had failed counted as acknowledged after a replacement"
)

// afterCrash are the conditions of scenarios with crashes of the application and of a
// peer.
var afterCrash = []string{sawUnacked, sawBehind, sawRejected}

func build(s spec) *explore.Scenario {
	return &explore.Scenario{
		Name: "ncl/" + s.name, Doc: s.doc, Profile: "strong", Faults: s.faults, Bounds: s.bounds,
		Sometimes: s.load.meets,
		Build: func(c *explore.Case) (sim.Config, error) {
			app := newApp(scenario.New(c), s.load)
			return newWorld(app, app.main)
		},
	}
}

// newWorld has an application that runs main, its peers, and a controller. Each operation
// of the controller is one step.
func newWorld(app *app, main func(host.Host, int)) (sim.Config, error) {
	load := &app.load
	app.Remember(app.reset, app.remembered)
	cfg := app.World(app.Lives.Node("app", main))
	cfg.Gate = app.gate()
	cfg.Injects = faults.Budget{{Kind: faults.Revoke, Hosts: []string{"peer*"}}}
	if load.collectAt != "" {
		cfg.Nodes = append(cfg.Nodes, app.Host("clock", func(h host.Host) error {
			_, err := ncl.Collect(h, load.collectAt, ncl.DefaultCallTimeout)
			h.Logf("%v", err)
			return nil
		}))
	}
	known := map[string][]byte{}
	for _, name := range load.names() {
		if load.registered { // before the run
			known["peers/"+name] = []byte{7: 255}
		} else {
			app.peers = append(app.peers, name)
		}
		// Peers are interchangeable as long as the ap-map names all of them, and nothing
		// visits them one by one. The collection at the end does, and so do writes that wait
		// for one peer after the other while a timer may end the wait.
		node := app.Server(name, peer(load, name))
		node.Symmetric = len(load.peers) == 0 && !load.collects && load.patience == 0
		if load.stayDown {
			node = scenario.StayDown(node)[0]
		}
		cfg.Nodes = append(cfg.Nodes, node)
	}
	controller, err := scenario.SeededController(known)
	cfg.Services = []sim.Service{controller}
	return cfg, err
}

// peer lends memory for a few copies of a file, unless it refuses.
func peer(load *workload, name string) func(host.Host) error {
	if name == load.hangs {
		return hang
	}
	return func(h host.Host) error {
		cfg := ncl.PeerConfig{Memory: load.memory(name), CollectEvery: load.every}
		if load.collects || load.registered {
			cfg.Coord, cfg.Unlisted = scenario.Dial(h), !load.registered
		}
		if name == load.mishears {
			once := &scenario.Once{By: h, Answers: true, Spare: 2} // the first two calls are its registration
			cfg.Coord = once.Losing(cfg.Coord)
		}
		if name == load.scarce {
			h = &scenario.Short{Host: h, Once: &scenario.Once{By: h, Spare: 2}} // the first two allocations are for all files
		}
		if name == load.garbles {
			h = garbler{h, &scenario.Once{By: h}}
		}
		if load.wornOut {
			h = wornPeer{h, new([]host.Region)}
		}
		return ncl.ServePeer(h, cfg)
	}
}

// memory returns the number of bytes that a peer may lend.
func (l *workload) memory(peer string) int {
	switch {
	case peer == l.refuses:
		return 2*(l.size+8) - 1
	case l.tight:
		return 2 * (l.size + 8)
	}
	return 8 * (l.size + 64)
}

// hang is a peer that accepts requests and never answers.
func hang(h host.Host) error {
	lis, err := h.Listen("ncl")
	for err == nil {
		_, err = lis.Accept(verbs.Forever)
	}
	return err
}
