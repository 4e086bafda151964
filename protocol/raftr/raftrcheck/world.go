package raftrcheck

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/model"
	"github.com/verbatim-rdma/verbatim/protocol/raftr"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// spec is the table form of an explore.Scenario.
type spec struct {
	name, doc, faults, timers, bounds string
	strategy                          string // default exhaustive
	runs                              uint64 // of a random one
	load                              workload
	meets                             []string
}

// workload is the workload of the hosts of a world.
type workload struct {
	nodes      []func(r *run) // the script of each node; nil: the node only answers others
	client     func(r *run)   // the script of another host; nil: none
	lease      time.Duration
	persistent bool
	open       bool // the first node answers others too
	returns    bool // a node that has crashed starts again
	beyond     bool // more nodes may be lost than the group tolerates
	gate       func(w *world) scenario.Gate
}

// Times of the worlds.
const election = 10 * time.Millisecond

// Classes of violations, besides those of the recorder.
const (
	TwoLeaders  = "two-leaders"
	Unavailable = "unavailable"
)

// Conditions that a search may be expected to meet.
const (
	sawUnacked  = "a new leader had a write that was not acknowledged"
	sawBehind   = "a new leader did not have a write that was not acknowledged"
	sawTakeover = "two nodes led, one after the other"
	sawFewer    = "a write was acknowledged although a node had failed"
	sawDeposed  = "a leader found that another one had been elected"
	sawStuck    = "a replaced leader reached no majority"
	sawUnknown  = "a write had no answer, and may have been carried out"
	sawServed   = "a leader answered a read while another node stood for election"
	sawSplit    = "an election that nobody won"
	sawLost     = "a candidate lost to another node"
	sawOutsider = "a node had restarted, and took no part"
	sawAgain    = "a node had restarted with its log, and took part"
)

// world is the state that the checks of a scenario share.
type world struct {
	*scenario.Kit
	load  *workload
	rec   *scenario.Recorder
	known *known
}

// known is what the checks remember besides the operations.
type known struct {
	Won     map[uint64]string // the winner of the election of each term
	Led     int               // the number of leaders that have begun to serve
	Pending string            // a value whose write was begun but not acknowledged
	Wrote   bool              // a write was begun
	Began   []string          // the candidates, in order
}

func build(s spec) *explore.Scenario {
	return &explore.Scenario{
		Name: "raftr/" + s.name, Doc: s.doc, Profile: "strong", Faults: s.faults, Timers: s.timers, Bounds: s.bounds, Sometimes: s.meets,
		Strategy: s.strategy, MaxRuns: s.runs,
		Build: func(c *explore.Case) (sim.Config, error) {
			k := scenario.New(c)
			w := &world{Kit: k, load: &s.load, rec: k.Record(model.KV{}), known: scenario.Memory[known](k)}
			return w.config(), nil
		},
	}
}

func (l *workload) names() (out []string) {
	for i := range l.nodes {
		out = append(out, fmt.Sprint("n", i+1))
	}
	return out
}

func (w *world) config() sim.Config {
	cfg := w.World()
	for i, name := range w.load.names() {
		script := w.load.nodes[i]
		client := w.rec.Client(name)
		node := sim.Node{Name: name, Daemon: script == nil, Main: func(h host.Host, life int) {
			(&run{world: w, h: h, client: client, life: life}).main(script)
		}}
		if !w.load.returns {
			node.Again = func(int, bool) bool { return false }
		}
		cfg.Nodes = append(cfg.Nodes, node)
	}
	if w.load.client != nil {
		client := w.rec.Client("client")
		cfg.Nodes = append(cfg.Nodes, scenario.StayDown(w.Host("client", func(h host.Host) error {
			w.load.client(&run{world: w, h: h, client: client})
			return nil
		}))...)
	}
	if w.load.lease > 0 && w.Timers.Regime == faults.Free {
		// A node gives up a connection although its peer is alive. That peer does not probe, since these
		// scenarios are about timers, and waits forever for the answer to a request that was received. The
		// scenarios only check the values of reads.
		cfg.Hung = func([]string) {}
	}
	if w.load.gate != nil {
		cfg.Gate = w.load.gate(w)
	}
	return cfg
}

// run is a host of a world.
type run struct {
	*world
	h      host.Host
	life   int
	client *scenario.Client
	since  int // the number of elections when this node stood: a later one may replace it
	node   *raftr.Node
}

// main starts a node, and runs its script beside the tasks that answer others.
func (r *run) main(script func(r *run)) {
	timeout, keepAlive := election, time.Duration(0)
	if r.load.lease > 0 { // the scenario is about its timers; see config
		timeout = verbs.Forever
	}
	if r.load.returns { // a node may have stopped after it received a request: only a probe shows that it has stopped
		keepAlive = election
	}
	var err error
	r.node, err = raftr.Start(r.h, raftr.Config{Nodes: r.load.names(), New: r.life == 0, Persistent: r.load.persistent, Log: 8, Value: 8,
		Election: election, Lease: r.load.lease, CallTimeout: timeout, KeepAlive: keepAlive})
	if errors.Is(err, raftr.ErrOutsider) {
		r.outside()
		return
	}
	if !r.Check(err) {
		return
	}
	if script == nil {
		r.Fail(r.node.Serve())
		return
	}
	if r.life > 0 {
		r.Meet(sawAgain)
	}
	if r.load.open || r.h.Name() != "n1" {
		r.h.Go("serve", func() { r.Fail(r.node.Serve()) })
	}
	if script(r); r.load.lease == 0 {
		r.quiet() // others may need its answers
	}
}

// outside is a node that takes no part.
func (r *run) outside() {
	r.Meet(sawOutsider)
	r.quiet()
}

// quiet waits until nothing else can happen.
func (r *run) quiet() { r.h.Sleep(100 * election) }

// campaign stands for election once.
func (r *run) campaign() raftr.Outcome {
	r.known.Began = append(r.known.Began, r.h.Name())
	r.since = len(r.known.Began)
	r.History()
	o, err := r.node.Campaign()
	if !r.Check(err) {
		return 0
	}
	switch o {
	case raftr.Split:
		r.Meet(sawSplit)
	case raftr.Lost:
		r.Meet(sawLost)
	case raftr.Won:
		r.won()
	}
	return o
}

// won checks that a term has one leader.
func (r *run) won() {
	term := r.node.Term()
	if other := r.known.Won[term]; other != "" {
		r.Failf(TwoLeaders, "%s and %s have both won the election of term %d", other, r.h.Name(), term)
	}
	if r.known.Won == nil {
		r.known.Won = map[uint64]string{}
	}
	r.known.Won[term] = r.h.Name()
	r.History()
}

// elected stands for election until the node has won, or has lost to another node, at most three times: once
// more because others may have voted in the first term, and once more because a node may have a later term.
func (r *run) elected() bool {
	for range 3 {
		switch r.campaign() {
		case raftr.Won:
			return r.lead()
		case raftr.Lost:
			return false
		}
	}
	return false
}

// connect connects to the other nodes.
func (r *run) connect() bool {
	r.node.Connect()
	return true
}

// must is elected for a node that must win: nothing prevents its election.
func (r *run) must() bool {
	if r.elected() {
		return true
	}
	if r.Look(); !r.rivaled() && !r.load.beyond {
		r.Failf(Unavailable, "no more than F nodes have failed, but %s is not elected", r.h.Name())
	}
	return false
}

// lead makes the winner of an election serve.
func (r *run) lead() bool {
	if err := r.node.Lead(); err != nil {
		return r.tolerates(err)
	}
	if r.known.Led++; r.known.Led > 1 {
		r.Meet(sawTakeover)
	}
	r.History()
	return true
}

// rivaled reports whether another node has stood for election since this one has.
func (r *run) rivaled() bool {
	return slices.ContainsFunc(r.known.Began[r.since:], func(name string) bool { return name != r.h.Name() })
}

// tolerates reports false, and fails the run unless the leader may have been replaced, or more
// nodes may have been lost than the group tolerates.
func (r *run) tolerates(err error) bool {
	r.Look()
	switch {
	case errors.Is(err, raftr.ErrUnknown):
		r.Meet(sawUnknown)
	case errors.Is(err, raftr.ErrNotLeader):
		r.Meet(sawDeposed)
	}
	if errors.Is(err, raftr.ErrUnavailable) && r.rivaled() {
		r.Meet(sawStuck)
	}
	if r.rivaled() || r.load.beyond && errors.Is(err, raftr.ErrUnavailable) {
		return false
	}
	r.Fail(scenario.Failed(Unavailable, "no more than F nodes have failed: %w", err))
	return false
}

// put writes a value.
func (r *run) put(key, value string) bool {
	r.known.Pending, r.known.Wrote = value, true
	err := r.client.Do(model.KVPut{Key: key, Value: value}, func() (any, error) { return model.Done{}, r.node.Put(key, value) })
	if err != nil {
		return r.tolerates(err)
	}
	if r.load.open && r.node.Linked() < len(r.load.nodes)-1 {
		r.Meet(sawFewer)
	}
	r.known.Pending = ""
	r.History()
	return true
}

// get reads a value.
func (r *run) get(key string) bool {
	r.Look()
	pending := r.known.Pending
	var found model.KVValue
	err := r.client.Do(model.KVGet{Key: key}, func() (any, error) {
		var err error
		found.Value, found.Found, err = r.node.Get(key)
		return found, err
	})
	if err != nil {
		return r.tolerates(err)
	}
	r.Look()
	if r.rivaled() {
		r.Meet(sawServed)
	}
	switch pending {
	case "":
	case found.Value:
		r.Meet(sawUnacked)
	default:
		r.Meet(sawBehind)
	}
	return true
}

// cut cuts the link between this node and another, for good.
func (r *run) cut(other string) bool { return r.Check(r.Inject(faults.Cut, r.h.Name(), other)) }

// vacancy waits until the node should stand for election.
func (r *run) vacancy() bool {
	for {
		vacant, err := r.node.Watch()
		if !r.Check(err) {
			return false
		}
		if vacant {
			return true
		}
		r.h.Sleep(election)
	}
}

// serveClients answers clients from now on.
func (r *run) serveClients() { r.h.Go("clients", func() { r.Fail(r.node.ServeClients()) }) }

// repeat writes a value as a client that asks the first node, and then the second node.
func (r *run) repeat(key, value string) {
	c, err := raftr.Dial(r.h, raftr.ClientConfig{Nodes: []string{"n1", "n2"}, Timeout: verbs.Forever, Rounds: 2, Pause: 2 * election})
	if !r.Check(err) {
		return
	}
	r.known.Pending = value
	err = r.client.Do(model.KVPut{Key: key, Value: value}, func() (any, error) { return model.Done{}, c.Put(key, value) })
	if err != nil {
		r.Fail(scenario.Failed(Unavailable, "%w", err))
		return
	}
	r.known.Pending = ""
	r.History()
}

// finish waits until the client has its answer, or nothing else can happen.
func (r *run) finish() { r.h.Sleep(10 * election) }
