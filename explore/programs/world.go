package programs

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// Scenario is the program as something to check. Its outcomes are what its tasks saw.
//
// Each task keeps its observations in a variable of its own, so that only the simulator's
// own observations distinguish two states. A task makes a report when it finishes, and at
// a "say"; reports do not conflict with each other. A task that blocks forever has
// reported by blocking. The observations of a machine that died are forgotten.
func (p *Program) Scenario() *explore.Scenario {
	q := p.clone()
	acts := q.number()
	return &explore.Scenario{Name: "programs/random", Doc: q.String(), Text: q.String(), Profile: q.Profile,
		Faults: strings.Join(q.Faults, ", "), Timers: q.Timers, Build: func(c *explore.Case) (sim.Config, error) {
			x := &world{p: q, c: c, needs: q.needs(acts)}
			return x.config(), nil
		}}
}

// world is what the hosts of a program share besides the simulator: only what the checks
// read when a run has finished.
type world struct {
	p       *Program
	c       *explore.Case
	needs   needs
	hosts   []hostOf
	setup   []*machine // of the first lives
	tasks   []*task
	counter uint64   // the state of the atomic service
	order   []string // with the setting history: the hosts that reported, in order
}

// hostOf is one host, and the spec of its code.
type hostOf struct {
	*Host
	name string
}

const (
	words    = 4  // of each host's memory
	buffers  = 96 // bytes from one slot of a buffer to the next
	pmemSize = 72 // three words: two in one line, the third in another
)

func (x *world) config() sim.Config {
	cfg := sim.Config{Profile: x.c.Profile, Budget: x.c.Budget, MaxSteps: 2000, Setup: x.prepare, Linger: x.p.Is("linger"), Injects: x.p.announces(),
		Services: []sim.Service{{Host: "services", Name: "counter", Apply: x.apply, ReadOnly: func(req []byte) bool { return len(req) == 0 },
			Hash: func() fingerprint.Print { return fingerprint.Print{}.Uint(x.counter) }, Reset: func() { x.counter = 0 }}}}
	for i := range x.p.Hosts {
		h := &x.p.Hosts[i]
		for _, name := range h.names() {
			x.hosts = append(x.hosts, hostOf{h, name})
			at := len(x.hosts) - 1
			cfg.Nodes = append(cfg.Nodes, sim.Node{Name: name, Daemon: h.Daemon, Symmetric: h.Copies > 0,
				Again: func(life int, crashed bool) bool { return (crashed || h.Again) && life+1 < len(h.Lives) },
				Main:  func(sh host.Host, life int) { x.main(at, sh, life) }})
		}
	}
	for i := range x.hosts {
		for j := range x.hosts[:i] {
			if x.meets(i, j) || x.meets(j, i) {
				x.needs.pairs = append(x.needs.pairs, [2]int{i, j})
			}
		}
	}
	if cfg.Linger {
		cfg.AtEnd = x.settle
	} else {
		cfg.Hung = func([]string) { x.c.Outcome(x.text(true) + " hang") }
	}
	x.c.OnReset(func() {
		x.tasks = x.tasks[:0]
		x.setup = x.setup[:0]
		x.order = x.order[:0]
		x.c.Outcome("nothing")
	})
	return cfg
}

// apply is an atomic service: a counter to which one adds, or which one reads.
func (x *world) apply(_ string, req []byte) []byte {
	old := x.counter
	if len(req) > 0 {
		x.counter += number(req)
	}
	return bytesOf(old)
}

func bytesOf(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }

func number(b []byte) uint64 {
	if len(b) < 8 {
		return 0
	}
	return binary.LittleEndian.Uint64(b)
}

// machine is one life of a host, with everything that it has before its code begins.
type machine struct {
	x     *world
	at    int // in x.hosts
	life  int
	h     host.Host
	pd    verbs.PD
	mem   host.Region // words that others can reach
	pmem  host.Region // the same, persistent; nil if no act names it
	buf   host.Region // what requests send and where responses go
	in    host.Region // where receives go; nil if there are none
	mr    verbs.MR
	pmr   verbs.MR
	bmr   verbs.MR
	imr   verbs.MR
	ch    verbs.CompChannel
	cq    verbs.CQ // with the setting onecq
	ask   host.Listener
	meet  host.Listener
	mu    host.Mutex
	cond  host.Cond
	v     uint64 // under mu
	freed bool   // mem
	links []*link
}

// link is a connection to a peer.
type link struct {
	peer        string
	qp          verbs.QP
	cq          verbs.CQ
	base, pbase uint64
	key, pkey   uint32
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Errorf("programs: %w", err))
	}
	return v
}

// needs is what machines need for a program: what no act uses is not made.
type needs struct {
	history              bool
	pmem, recv, channel  bool
	linger, final, onecq bool
	buffer               []byte // what the buffers of requests hold before the first step
	registrations        int    // keys that a machine takes when it is made
	pairs                [][2]int
}

func (p *Program) needs(acts int) needs {
	n := needs{history: p.Is("history"), linger: p.Is("linger"), final: p.Is("final"), onecq: p.Is("onecq"), buffer: make([]byte, buffers*max(acts, 1)), registrations: 2}
	p.acts(func(_ *Host, a *Act) {
		k := table[a.Do]
		n.pmem = n.pmem || k.pmem || strings.ContainsAny(a.Flags, string([]rune{flagPMEM, flagOwnPMEM}))
		n.recv = n.recv || a.Do == "recv"
		n.channel = n.channel || k.channel || p.isGroup(a.To)
		for i := range maxPeers {
			if k.sends {
				copy(n.buffer[slot(a, i)+sources:], append(bytesOf(a.spread(uint64(a.V))), bytesOf(uint64(a.V))...))
			}
		}
	})
	if n.pmem {
		n.registrations++
	}
	if n.recv {
		n.registrations++
	}
	return n
}

const (
	everything = verbs.LocalWrite | verbs.RemoteWrite | verbs.RemoteRead | verbs.RemoteAtomic
	flushing   = verbs.FlushGlobal | verbs.FlushPersistent
)

func (x *world) access() verbs.Access {
	if x.c.Profile.FlushOps {
		return everything | flushing
	}
	return everything
}

func (x *world) machine(at int, h host.Host, life int) *machine {
	m := &machine{x: x, at: at, life: life, h: h}
	size := len(x.needs.buffer)
	m.mem, m.buf = must(h.Alloc(8*words)), must(h.Alloc(size))
	m.buf.Store(0, x.needs.buffer)
	m.pd = must(h.Device().AllocPD())
	m.mr, m.bmr = must(m.pd.RegisterMR(m.mem, x.access())), must(m.pd.RegisterMR(m.buf, verbs.LocalWrite))
	if x.needs.pmem {
		m.pmem = must(h.OpenPMEM("log", pmemSize))
		m.pmr = must(m.pd.RegisterMR(m.pmem, x.access()))
	}
	if x.needs.recv {
		m.in = must(h.Alloc(size))
		m.imr = must(m.pd.RegisterMR(m.in, verbs.LocalWrite))
	}
	if x.needs.channel {
		m.ch = must(h.Device().CreateCompChannel())
	}
	if x.needs.onecq {
		m.cq = must(h.Device().CreateCQ(64, m.ch))
	}
	m.ask, m.meet = must(h.Listen("ask")), must(h.Listen("meet"))
	m.mu = h.NewMutex()
	m.cond = h.NewCond(m.mu)
	return m
}

// A slot of a buffer belongs to one act. Responses go to its first part, and the data that
// is sent comes from the rest.
const (
	sources  = 16
	maxPeers = 3
)

func slot(a *Act, peer int) int { return buffers*a.id + peer*buffers/maxPeers }

// isGroup reports whether a name is that of interchangeable hosts.
func (p *Program) isGroup(to string) bool {
	return slices.ContainsFunc(p.Hosts, func(h Host) bool { return h.Copies > 0 && h.Name == to })
}

// peers returns the hosts that a word of the program means, for one that is at a host.
func (x *world) peers(self int, to string) []string {
	var out []string
	for _, name := range strings.Split(to, "+") {
		for i, h := range x.hosts {
			if i != self && (h.Name == name || h.name == name) {
				out = append(out, h.name)
			}
		}
	}
	return out
}

// queues prepares a queue pair.
func (m *machine) queues() (verbs.PreparedQP, verbs.CQ) {
	cq := m.cq
	if cq == nil {
		cq = must(m.h.Device().CreateCQ(16, m.ch))
	}
	rcq := cq
	if m.x.p.Is("recvcq") {
		rcq = must(m.h.Device().CreateCQ(16, m.ch))
	}
	cfg := verbs.QPConfig{SendCQ: cq, RecvCQ: rcq, Access: m.x.access(), MaxInline: m.h.Device().Attr().MaxInline, SignalAll: m.x.p.Is("sigall")}
	if m.x.p.Is("short") {
		cfg.MaxSendWR, cfg.MaxRecvWR = 1, 1
	}
	if m.x.p.Is("rnr") {
		cfg.RNRRetry = 1
	}
	if m.x.p.Is("rd1") {
		cfg.MaxRdAtomic = 1
	}
	if m.x.p.Is("psn") {
		cfg.PSN = 7
	}
	return must(m.pd.CreateQP(cfg)), cq
}

func (m *machine) link(peer string, qp verbs.QP, cq verbs.CQ, r remote) *link {
	return &link{peer: peer, qp: qp, cq: cq, base: r.base, pbase: r.pbase, key: r.key, pkey: r.pkey}
}

// remote is what the other end must know of a machine's memory.
type remote struct {
	base, pbase uint64
	key, pkey   uint32
}

func (m *machine) lends() remote {
	r := remote{base: m.mr.Addr(), key: m.mr.RKey()}
	if m.pmr != nil {
		r.pbase, r.pkey = m.pmr.Addr(), m.pmr.RKey()
	}
	return r
}

func (r remote) append(b []byte) []byte {
	for _, v := range []uint64{r.base, r.pbase, uint64(r.key), uint64(r.pkey)} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}

func readRemote(b []byte) remote {
	return remote{number(b), number(b[8:]), uint32(number(b[16:])), uint32(number(b[24:]))}
}

// prepare makes the machines of the first lives and connects those that have something
// to do with each other, before the first step: connecting is not part of a program
// unless its text has it.
func (x *world) prepare(hosts []*sim.Host) {
	for i, h := range hosts {
		x.setup = append(x.setup, x.machine(i, h, 0))
	}
	for _, pair := range x.needs.pairs {
		i, j := pair[0], pair[1]
		a, b := x.setup[i], x.setup[j]
		p, pcq := a.queues()
		q, qcq := b.queues()
		a.links = append(a.links, a.link(x.hosts[j].name, must(p.Connect(q.Endpoint())), pcq, b.lends()))
		b.links = append(b.links, b.link(x.hosts[i].name, must(q.Connect(p.Endpoint())), qcq, a.lends()))
	}
}

// meets reports whether the code of host i names host j in an act of a connection.
func (x *world) meets(i, j int) bool {
	found := false
	for _, l := range x.hosts[i].Lives {
		eachAct(l, func(a *Act) {
			if k := table[a.Do]; k.link {
				found = found || slices.Contains(x.peers(i, a.To), x.hosts[j].name)
			}
		})
	}
	return found
}

// main is the code of one life of a host.
func (x *world) main(at int, h host.Host, life int) {
	spec := x.hosts[at]
	var m *machine
	if life == 0 {
		m = x.setup[at]
		m.h = h
	} else {
		m = x.machine(at, h, life)
	}
	if life < len(spec.Lives) {
		m.start("", m.links, spec.Lives[life], task{})
	}
}

// start runs acts as a task, the calling one, which has received the handles of another.
func (m *machine) start(path string, links []*link, acts []Act, has task) {
	t := &task{m: m, path: path, links: slices.Clone(links), req: has.req, asked: has.asked, order: has.order}
	m.x.tasks = append(m.x.tasks, t)
	t.run(acts)
	if t.holds {
		m.mu.Unlock()
	}
	t.report(true)
}
