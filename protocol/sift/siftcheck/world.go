package siftcheck

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/model"
	"github.com/verbatim-rdma/verbatim/protocol/sift"
	"github.com/verbatim-rdma/verbatim/protocol/sift/kv"
	"github.com/verbatim-rdma/verbatim/verbs"
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
	slots   int  // of the log; default 4
	direct  int
	missed  int // default 1
	lease   time.Duration
	cpus    []func(r *run) // what each CPU node does
	kv      *kv.Config     // the key-value store that the memory has room for; nil: none
	gate    func(w *world) scenario.Gate
}

// Sizes and times of the worlds.
const (
	block  = 8
	blocks = 3
	period = 10 * time.Millisecond
)

// Classes of violations, besides those of the recorder.
const (
	TwoCoordinators = "two-coordinators"
	Disagree        = "nodes-disagree"
	Stray           = "stray-write"
	Unavailable     = "unavailable"
	Direct          = "direct-write-lost"
)

// Conditions that a search may be expected to meet.
const (
	sawUnacked  = "a recovery returned an unacknowledged write"
	sawBehind   = "a recovery returned without an unacknowledged write"
	sawDiffer   = "a recovery found logs that differ"
	sawCopied   = "a recovery copied the memory of a node"
	sawFewer    = "a write was acknowledged although a memory node had failed"
	sawSplit    = "an election that nobody won"
	sawLost     = "a candidate lost to another node"
	sawAgain    = "a node won after a round that it had not won"
	sawDeposed  = "a coordinator found that it had been replaced"
	sawFenced   = "a replaced coordinator could not write"
	sawLate     = "a coordinator wrote while another node stood for election"
	sawServed   = "a coordinator answered a read while another one stood for election"
	sawRefused  = "a node won, and was replaced before it could serve"
	sawTakeover = "two nodes led one after the other"
	sawHalf     = "a direct write was found on some nodes only"
	sawOutsider = "a memory node had restarted, and took no part"
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
	Direct  []string // acknowledged and begun direct writes
	Began   []string // who has begun a round of an election, in order
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
	return model.Memory{Bytes: block * blocks}
}

func (l *workload) layout() sift.Layout {
	slots := l.slots
	if slots == 0 {
		slots = 4
	}
	if l.kv != nil {
		return l.kv.Layout(slots)
	}
	return sift.Layout{Size: block * blocks, Direct: l.direct, Block: block, Slots: slots, Entry: 2 * (8 + block)}
}

func (l *workload) memory() (out []string) {
	n := l.nodes
	if n == 0 {
		n = 3
	}
	for i := range n {
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

// run is a CPU node.
type run struct {
	*world
	h      host.Host
	id     uint16
	client *scenario.Client
	since  int // what others do after this many rounds may replace this node
	node   *sift.Node
	c      *sift.Coordinator
}

// start starts the node, and looks at the words for the first time.
func (r *run) start() bool {
	missed := r.load.missed
	if missed == 0 {
		missed = 1
	}
	var err error
	r.node, err = sift.Start(r.h, sift.Config{Layout: r.load.layout(), Node: r.id, Memory: r.load.memory(), Period: period, Missed: missed,
		Lease: r.load.lease, BackOff: period, CallTimeout: verbs.Forever, QueueDepth: 16})
	if !r.Check(err) {
		return false
	}
	_, err = r.node.Watch()
	return r.available(err)
}

// available reports whether err is nil, and fails the run if it is not.
func (r *run) available(err error) bool {
	if err != nil && r.node != nil && len(r.node.Outsiders()) > 0 {
		r.Meet(sawOutsider)
	}
	if err != nil && !(r.load.beyond && errors.Is(err, sift.ErrUnavailable)) {
		r.Fail(scenario.Failed(Unavailable, "no more than F memory nodes have failed: %w", err))
	}
	return err == nil
}

// vacancy watches until the coordinator is to be replaced.
func (r *run) vacancy() bool {
	for {
		vacant, err := r.node.Watch()
		if !r.available(err) {
			return false
		}
		if vacant {
			return true
		}
		r.h.Sleep(period)
	}
}

// campaign is one round of an election.
func (r *run) campaign() sift.Outcome {
	r.known.Began = append(r.known.Began, r.h.Name())
	r.since = len(r.known.Began)
	r.History()
	o, err := r.node.Campaign()
	if !r.Check(err) {
		return 0
	}
	switch o {
	case sift.Split:
		r.Meet(sawSplit)
	case sift.Lost:
		r.Meet(sawLost)
	case sift.Won:
		r.won()
	}
	return o
}

// won checks P1.
func (r *run) won() {
	term := r.node.Term()
	if other := r.known.Won[term]; other != "" {
		r.Failf(TwoCoordinators, "%s and %s have both won the election of term %d", other, r.h.Name(), term)
	}
	if r.known.Won == nil {
		r.known.Won = map[uint16]string{}
	}
	r.known.Won[term] = r.h.Name()
	r.History()
}

// lead makes the node, which has won, the coordinator. It reports whether to stand again:
// a memory node was lost, and another one was not complete yet. That can happen once.
func (r *run) lead() (again bool) {
	c, err := r.node.Lead()
	r.Look()
	switch {
	case err != nil && r.rivaled():
		r.Meet(sawRefused)
		return false
	case errors.Is(err, sift.ErrUnavailable):
		_, err = r.node.Watch()
		return r.available(err)
	case err != nil:
		r.Fail(err)
		return false
	}
	r.c = c
	found := c.Recovered()
	if found.Repaired > 0 {
		r.Meet(sawDiffer)
	}
	if found.Copied > 0 {
		r.Meet(sawCopied)
	}
	if r.known.Led++; r.known.Led > 1 {
		r.Meet(sawTakeover)
	}
	r.History()
	return false
}

// rivaled reports whether another node has stood for election since this one has.
func (r *run) rivaled() bool {
	return slices.ContainsFunc(r.known.Began[r.since:], func(name string) bool { return name != r.h.Name() })
}

// elected stands and leads. A memory node that fails meanwhile may make it stand again.
func (r *run) elected() bool {
	for range 2 {
		if r.campaign() != sift.Won {
			return false
		}
		if again := r.lead(); !again {
			return r.c != nil
		}
	}
	r.available(sift.ErrUnavailable)
	return false
}

// agree checks P6: the nodes have the same log and the same memory.
func (r *run) agree() ([]sift.Image, bool) {
	images, err := r.c.Inspect()
	if err != nil {
		return nil, r.tolerates(err)
	}
	for _, x := range images {
		a, b := &images[0], &x
		if x.Void || x.Term != r.c.Term() || !bytes.Equal(a.Memory, b.Memory) || ends(a) != ends(b) {
			r.Failf(Disagree, "when the coordinator of term %d begins to serve, %s has %s, memory %q, of term %d, and %s has %s, memory %q, of term %d",
				r.c.Term(), a.Node, ends(a), a.Memory, a.Term, b.Node, ends(b), b.Memory, b.Term)
		}
	}
	return images, true
}

// ends describes the last entry of a log, which determines all before it.
func ends(x *sift.Image) string {
	if len(x.Log.Entries) == 0 {
		return "no entry"
	}
	e := x.Log.Entries[len(x.Log.Entries)-1]
	return fmt.Sprintf("entry %d of term %d", e.Index, e.Term)
}

// tolerates reports false, and fails the run unless the coordinator may have been replaced.
func (r *run) tolerates(err error) bool {
	r.Look()
	if r.rivaled() {
		if errors.Is(err, sift.ErrReplaced) {
			r.Meet(sawDeposed)
		}
		return false
	}
	return r.available(err)
}

// write makes an acknowledged write of a list, one letter for each block from the first.
func (r *run) write(first int, letters string) bool {
	var in model.MemoryWriteAll
	var list []sift.Update
	for i, x := range letters {
		data := bytes.Repeat([]byte(string(x)), block)
		in.List = append(in.List, model.MemoryWrite{Addr: block * (first + i), Data: string(data)})
		list = append(list, sift.Update{Addr: block * (first + i), Data: data})
	}
	r.known.Open, r.known.Pending, r.known.Addr = true, in.List[0].Data, in.List[0].Addr
	err := r.client.Do(in, func() (any, error) { return model.Done{}, r.c.WriteAll(list) })
	if err != nil {
		if r.Look(); r.rivaled() {
			r.Meet(sawFenced)
		}
		return r.tolerates(err)
	}
	if r.Look(); r.rivaled() {
		r.Meet(sawLate)
		return true
	}
	if len(r.c.Live()) < len(r.load.memory()) {
		r.Meet(sawFewer)
	}
	r.known.Open = false
	r.History()
	return true
}

// read reads n blocks.
func (r *run) read(first, n int) bool {
	p := make([]byte, n*block)
	err := r.client.Do(model.MemoryRead{Addr: first * block, N: n * block}, func() (any, error) {
		err := r.c.Read(first*block, p)
		return model.MemoryData{Data: string(p)}, err
	})
	if err != nil {
		return r.tolerates(err)
	}
	r.Look()
	if r.rivaled() {
		r.Meet(sawServed)
	}
	return true
}

// beat sends a heartbeat.
func (r *run) beat() bool {
	if err := r.c.Beat(); err != nil {
		return r.tolerates(err)
	}
	return true
}

// readAll reads everything, as the last coordinator.
func (r *run) readAll() bool {
	r.Look()
	open, pending, addr := r.known.Open, r.known.Pending, r.known.Addr
	p := make([]byte, blocks*block)
	err := r.client.Do(model.MemoryRead{Addr: 0, N: len(p)}, func() (any, error) {
		err := r.c.Read(0, p)
		return model.MemoryData{Data: string(p)}, err
	})
	if err != nil {
		return r.tolerates(err)
	}
	if open && string(p[addr:addr+block]) == pending {
		r.Meet(sawUnacked)
	} else if open {
		r.Meet(sawBehind)
	}
	return true
}

// stable checks P2: nothing changes a memory node from now on.
func (r *run) stable() {
	before, err := r.c.Inspect()
	if err != nil {
		r.tolerates(err)
		return
	}
	r.quiet()
	after, err := r.c.Inspect()
	if err != nil {
		r.tolerates(err)
		return
	}
	for _, x := range before {
		for _, y := range after {
			if a, b := fmt.Sprint(x), fmt.Sprint(y); x.Node == y.Node && a != b {
				r.Failf(Stray, "a memory node had %s, and then %s", a, b)
			}
		}
	}
}

// direct makes a direct write of a block.
func (r *run) direct(i int, letter string) bool {
	data := bytes.Repeat([]byte(letter), block)
	if err := r.c.WriteDirect(i*block, data); err != nil {
		return r.tolerates(err)
	}
	r.known.Direct = append(r.known.Direct, string(data))
	r.History()
	return true
}

// directs checks what the nodes have of the direct writes.
func (r *run) directs() bool {
	copies, err := r.c.Copies(0, 2*block)
	if err != nil {
		return r.tolerates(err)
	}
	r.Look()
	for i, want := range r.known.Direct {
		has := 0
		for _, b := range copies {
			if string(b[i*block:(i+1)*block]) == want {
				has++
			}
		}
		if has == 0 {
			r.Failf(Direct, "a majority has acknowledged %q, and none of %d nodes has it", want, len(copies))
		}
	}
	for i := range 2 {
		for _, b := range copies {
			if !bytes.Equal(b[i*block:(i+1)*block], copies[0][i*block:(i+1)*block]) {
				r.Meet(sawHalf)
			}
		}
	}
	return true
}
