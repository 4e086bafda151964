package siftcheck

import (
	"cmp"
	"fmt"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/model"
	"github.com/verbatim-rdma/verbatim/protocol/sift"
	"github.com/verbatim-rdma/verbatim/protocol/sift/kv"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// spec is the table form of an explore.Scenario.
type spec struct {
	name, doc, faults, timers, bounds string
	profile                           string // default strong
	load                              workload
	meets                             []string
}

// workload is what the nodes of a world do.
type workload struct {
	nodes   int  // memory nodes; default 3
	cut     bool // the second CPU node does not reach the first memory node
	returns bool // a memory node that has crashed starts again
	beyond  bool // more memory nodes may be lost than the group tolerates
	coded   bool // memory nodes have chunks of blocks, of a word each
	slots   int  // of the log; default 4
	blocks  int  // of the memory; default 3
	direct  int
	durable bool // the group has a store
	missed  int  // default 1
	lease   time.Duration
	cpus    []func(r *run) // what each CPU node does
	kv      *kv.Config     // the key-value store that the memory has room for; nil: none
	gate    func(w *world) scenario.Gate
}

// Sizes and times of the worlds.
const (
	block  = 8
	period = 10 * time.Millisecond
)

// world is what the checks of a scenario share.
type world struct {
	*scenario.Kit
	load  *workload
	rec   *scenario.Recorder
	known *known
}

// known is what the checks remember besides the operations.
type known struct {
	Won     map[uint16]string // who won the election of a term
	Led     int               // how many coordinators have begun to serve
	Open    bool              // a write was called, and not acknowledged
	Pending string            // its data
	Addr    int
	Direct  []string  // acknowledged and begun direct writes
	Began   []string  // who has begun a round of an election, in order
	Writing int       // how many tasks write
	Stored  persisted // what the store has
	Wrote   string    // what was written, block by block
	Anew    bool      // a write was acknowledged after the group had started again
	Struck  bool      // crashes may strike
	Joined  bool      // all memory nodes that had failed were brought back
	KV      kvKnown
}

func build(s spec) *explore.Scenario {
	return &explore.Scenario{
		Name: "sift/" + s.name, Doc: s.doc, Profile: cmp.Or(s.profile, "strong"), Faults: s.faults, Timers: s.timers, Bounds: s.bounds, Sometimes: s.meets,
		Build: func(c *explore.Case) (sim.Config, error) {
			k := scenario.New(c)
			w := &world{Kit: k, load: &s.load, rec: k.Record(s.load.model()), known: scenario.Memory[known](k)}
			return w.config(), nil
		},
	}
}

// model is the specification of what the CPU nodes do.
func (l *workload) model() model.Spec {
	if l.kv != nil {
		return model.KV{}
	}
	return model.Memory{Bytes: l.layout().Size}
}

func (l *workload) layout() sift.Layout {
	if l.coded {
		chunks := len(l.memory())/2 + 1
		coded := chunks * block
		return sift.Layout{Size: cmp.Or(l.blocks, 2) * coded, Direct: l.direct, Block: coded, Chunks: chunks, Slots: cmp.Or(l.slots, 4), Entry: 2 * (8 + coded)}
	}
	if l.kv != nil {
		return l.kv.Layout(cmp.Or(l.slots, 4))
	}
	return sift.Layout{Size: block * cmp.Or(l.blocks, 3), Direct: l.direct, Block: block, Slots: cmp.Or(l.slots, 4), Entry: 2 * (8 + block)}
}

func (l *workload) memory() (out []string) {
	for i := range cmp.Or(l.nodes, 3) {
		out = append(out, fmt.Sprint("mem", i+1))
	}
	return out
}

func (w *world) config() sim.Config {
	cfg := w.World()
	for i, script := range w.load.cpus {
		client := w.rec.Client(fmt.Sprint("cpu", i+1))
		cfg.Nodes = append(cfg.Nodes, scenario.StayDown(w.Host(fmt.Sprint("cpu", i+1), func(h host.Host) error {
			r := &run{world: w, h: h, id: uint16(i + 1), client: client}
			script(r)
			return nil
		}))...)
	}
	for _, name := range w.load.memory() {
		node := sim.Node{Name: name, Daemon: true, Main: func(h host.Host, life int) {
			w.Fail(sift.ServeMemory(h, sift.MemoryConfig{Layout: w.load.layout(), New: life == 0}))
		}}
		if !w.load.returns {
			scenario.StayDown(node)
			node.Again = func(int, bool) bool { return false }
		}
		cfg.Nodes = append(cfg.Nodes, node)
	}
	if w.load.gate != nil {
		cfg.Gate = w.load.gate(w)
	}
	return cfg
}
