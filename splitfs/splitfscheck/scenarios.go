package splitfscheck

import (
	"slices"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// spec is the table form of an explore.Scenario.
type spec struct {
	name, doc, faults, bounds string
	load                      workload
}

// workload is the workload of the application, and its faults.
type workload struct {
	program []one
	// calm is the number of steps before crashes and failed calls are possible.
	calm int
	// steady: no crash happens while the file system is mounted.
	steady bool
	// script replaces the program of a life.
	script func(*run)
	// meets are the conditions that a search is expected to meet.
	meets []string
	// blind: files are checked after mounts only, so that they are not open in between.
	blind bool
	// again: after a crash the interrupted step may be repeated.
	again bool
	// grain is the size of the smallest piece of a torn Record, and tears the largest number of pieces.
	grain, tears int
	// maxRegion is Config.MaxRegion; 0: as the region of a new file.
	maxRegion int
	// failures is the number of calls of the directory or the store that may fail.
	failures             int
	dirFails, storeFails bool
	// tasks: several tasks use the file system at once.
	tasks bool
	// peers is the number of real peers that replace the store.
	peers int
}

// Conditions that a search may be expected to meet.
const (
	sawBefore     = "after a crash an operation in progress had not happened"
	sawAfter      = "after a crash an operation in progress had happened"
	sawPart       = "after a crash a file was overwritten in part"
	sawTorn       = "a Record landed in part"
	sawLeftover   = "a mount found what a crash had left over"
	sawMountCrash = "the application crashed while it mounted"
	sawGrown      = "a region was replaced by another one"
	sawNoSpace    = "a file was refused for its size"
	sawFailure    = "an operation failed since a call of the directory or the store had failed"
	sawRefusing   = "a file accepted no more writes after a write had failed"
	sawShaken     = "a file that was open while a rename or a removal failed could not grow"
)

func build(s spec) *explore.Scenario {
	return &explore.Scenario{
		Name: "splitfs/" + s.name, Doc: s.doc, Profile: "strong", Faults: s.faults, Bounds: s.bounds, Sometimes: s.load.meets,
		Build: func(c *explore.Case) (sim.Config, error) {
			m := newMemory(scenario.New(c), &s.load)
			cfg := m.World(sim.Node{Name: "app", Main: m.main,
				Again:    func(life int, crashed bool) bool { return crashed || life%2 == 1 },
				Immortal: func(life int) bool { return life%2 == 1 }})
			cfg.Gate = scenario.When(m.mayCrash)
			m.withPeers(&cfg)
			return cfg, nil
		},
	}
}

// mayCrash reports whether a crash may happen now; if calls may fail, only after the last failure.
func (m *memory) mayCrash() bool {
	return m.exposed && m.failures == 0 && !(m.mounting && m.load.steady)
}

// DeepScenarios returns the scenarios that take long.
func DeepScenarios() []*explore.Scenario { return deepPeerScenarios() }

// Scenarios returns the built-in scenarios of splitfs.
func Scenarios() []*explore.Scenario {
	return slices.Concat(layoutScenarios(), nameScenarios(), failureScenarios(), directoryScenarios(), refusalScenarios(), peerScenarios(), taskScenarios())
}
