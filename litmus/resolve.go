package litmus

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/verbatim-rdma/verbatim/internal/mistake"
	"github.com/verbatim-rdma/verbatim/litmus/lang"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// program is a test with all names resolved, ready to run.
type program struct {
	t       *lang.Test
	hosts   []*hostProg
	blocks  []*blockProg
	mrs     []*mrProg
	qps     []*qpProg
	cqs     []*cqProg // the named ones, then those of the ends of queue pairs
	labels  []*labelProg
	regs    []*regProg
	threads []*threadProg
	msgs    map[string]int // host that hears a message
	asked   []item         // what a final state holds
	conds   []func(*env) bool
	untils  []string // the loops, for the report
}

type hostProg struct {
	name    string
	idx     int
	blocks  []*blockProg
	mrs     []*mrProg
	locs    map[string]*locProg
	threads []*threadProg
	listens []string
	again   bool // it starts again after a crash
	mortal  bool // faults may end it
}

type blockProg struct {
	idx, at    int // of all, and of the host's
	host       *hostProg
	name       string
	persistent bool
	size       int
	access     verbs.Access
	locs       []*locProg
}

type locProg struct {
	block     *blockProg
	name      string
	off, size int
	init      uint64
}

// mrProg is a registration; at is its place among those of its host.
type mrProg struct {
	at     int
	name   string
	host   *hostProg
	block  *blockProg
	access verbs.Access
}

type qpProg struct {
	idx     int
	name    string
	named   bool
	ends    [2]endProg
	service string // where its ends meet to connect anew
}

// endProg is one end of a queue pair.
type endProg struct {
	host       *hostProg
	cfg        verbs.QPConfig
	send, recv *cqProg
	connector  *threadProg // the thread that connects it anew
}

// cqProg is a completion queue; only one thread takes from it.
type cqProg struct {
	idx   int
	name  string
	host  *hostProg
	depth int
	taker *threadProg
}

type labelProg struct {
	idx    int
	name   string
	host   *hostProg
	thread *threadProg
	cq     *cqProg
	cell   cell // where the value comes to, if it has one
	silent bool
	recv   bool
}

// cell is a piece of a thread's private memory.
type cell struct{ off, n int }

type regKind uint8

const (
	kindValue regKind = iota
	kindStatus
	kindPosted
	kindLabel
	kindState
)

var kindNames = [...]string{"a value", "a status", "the result of a post", "a label", "the state of a queue pair"}

type regProg struct {
	idx    int
	name   string
	thread *threadProg
	kind   regKind
	size   int
	line   int
	asked  bool // final states hold it
}

type threadProg struct {
	idx     int
	spec    *lang.Thread
	host    *hostProg
	regs    map[string]*regProg
	steps   []step
	scratch int              // bytes of private memory
	consts  []constCell      // what it holds from the start
	ready   map[*qpProg]bool // of a recover thread: what it has connected
	asked   bool             // final states hold whether it is done
}

type constCell struct {
	cell cell
	v    uint64
}

// step is a statement made ready; line and text are for the timeline.
type step struct {
	line int
	text string
	do   func(x *exec) bool // false ends the thread
}

// resolver turns a test into a program.
type resolver struct {
	*program
	cur *threadProg
}

// resolve checks what the parser alone cannot.
func resolve(t *lang.Test) (prog *program, err error) {
	r := &resolver{program: &program{t: t, msgs: map[string]int{}}}
	defer func() {
		if x := recover(); x != nil {
			b, ok := x.(failure)
			if !ok {
				panic(x)
			}
			prog, err = nil, t.ErrorAt(b.at, b.text, b.hint)
		}
	}()
	r.resolveHosts()
	for i := range t.Memory {
		r.resolveMemory(&t.Memory[i])
	}
	r.resolveMRs()
	r.resolveCQs()
	for i := range t.QPs {
		r.resolveQP(&t.QPs[i])
	}
	r.resolveThreads()
	r.resolveOutcomes()
	r.resolveFaults()
	return r.program, nil
}

// failure carries the first error out of the resolver.
type failure struct {
	at         lang.Pos
	text, hint string
}

// fail ends resolving with an error.
func fail(at lang.Pos, hint, format string, args ...any) {
	panic(failure{at, fmt.Sprintf(format, args...), hint})
}

func (r *resolver) resolveHosts() {
	if len(r.t.Hosts) > lang.MaxHosts {
		fail(lang.Pos{}, "", "there are %d hosts; a test has at most %d", len(r.t.Hosts), lang.MaxHosts)
	}
	for i, name := range r.t.Hosts {
		if slices.Contains(r.t.Hosts[:i], name) {
			fail(lang.Pos{}, "", "there are two hosts called %s", name)
		}
		r.hosts = append(r.hosts, &hostProg{name: name, idx: i, locs: map[string]*locProg{}})
	}
}

// host finds a host by name.
func (r *resolver) host(name string, at lang.Pos) *hostProg {
	i := slices.Index(r.t.Hosts, name)
	if i < 0 {
		hint := mistake.Suggest(name, r.t.Hosts)
		if hint == "" {
			hint = "the hosts are " + mistake.OneOf(r.t.Hosts)
		}
		fail(at, hint, "there is no host %s", name)
	}
	return r.hosts[i]
}

func (r *resolver) resolveMemory(m *lang.Memory) {
	h := r.host(m.Host, m.Pos)
	for i := range m.Blocks {
		b := &blockProg{idx: len(r.blocks), at: len(h.blocks), host: h, persistent: m.Persistent, access: lang.AllAccess}
		if m.Access != nil {
			b.access = *m.Access
		}
		for j := range m.Blocks[i].Locs {
			r.place(b, &m.Blocks[i].Locs[j])
		}
		b.name = b.locs[0].name
		b.size = (b.size + 7) &^ 7
		if b.size > lang.MaxSize {
			fail(m.Blocks[i].Locs[0].Pos, "", "the block has %d bytes; at most %d are possible", b.size, lang.MaxSize)
		}
		if len(r.blocks) >= lang.MaxBlocks {
			fail(m.Pos, "", "there are more than %d blocks of memory", lang.MaxBlocks)
		}
		r.blocks, h.blocks = append(r.blocks, b), append(h.blocks, b)
		r.addMR(&mrProg{name: b.name, host: h, block: b, access: b.access})
		h.again = h.again || b.persistent
	}
}

// place puts a location into its block.
func (r *resolver) place(b *blockProg, l *lang.Loc) {
	x := &locProg{block: b, name: l.Name, off: (b.size + 7) &^ 7, size: l.Size, init: l.Init}
	if x.size == 0 {
		x.size = 8
	}
	if l.At >= 0 {
		x.off = l.At
	}
	if lang.Reserved(l.Name) {
		fail(l.Pos, "", "a location cannot be called %s: the word has a meaning of its own", l.Name)
	}
	if b.host.locs[l.Name] != nil {
		fail(l.Pos, "", "%s has two locations called %s", b.host.name, l.Name)
	}
	for _, o := range b.locs {
		if x.off < o.off+o.size && o.off < x.off+x.size {
			fail(l.Pos, "", "%s at %d overlaps %s, which has the bytes %d to %d", l.Name, x.off, o.name, o.off, o.off+o.size-1)
		}
	}
	fits(l.Pos, l.Init, x.size)
	b.size = max(b.size, x.off+x.size)
	b.locs, b.host.locs[l.Name] = append(b.locs, x), x
}

// fits fails if v does not fit into n bytes.
func fits(at lang.Pos, v uint64, n int) {
	if n < 8 && v>>(8*n) != 0 {
		fail(at, "", "%s does not fit into %d bytes", lang.Number(v), n)
	}
}

func (r *resolver) addMR(m *mrProg) {
	m.at = len(m.host.mrs)
	m.host.mrs = append(m.host.mrs, m)
	r.mrs = append(r.mrs, m)
}

func (r *resolver) resolveMRs() {
	for i := range r.t.MRs {
		m := &r.t.MRs[i]
		h := r.host(m.Host, m.Pos)
		if m.Name == "bad" || slices.ContainsFunc(r.mrs, func(x *mrProg) bool { return x.name == m.Name && x.host == h }) {
			fail(m.Pos, "", "%s has a registration called %s already", h.name, m.Name)
		}
		l := r.local(lang.Ref{Pos: m.Pos, Name: m.Loc}, h)
		x := &mrProg{name: m.Name, host: h, block: l.loc.block, access: lang.AllAccess}
		if m.Access != nil {
			x.access = *m.Access
		}
		r.addMR(x)
	}
}

func (r *resolver) resolveCQs() {
	for i := range r.t.CQs {
		c := &r.t.CQs[i]
		if r.cqNamed(c.Name) != nil {
			fail(c.Pos, "", "there are two completion queues called %s", c.Name)
		}
		r.newCQ(c.Name, r.host(c.Host, c.Pos))
	}
}

func (r *resolver) newCQ(name string, h *hostProg) *cqProg {
	c := &cqProg{idx: len(r.cqs), name: name, host: h}
	r.cqs = append(r.cqs, c)
	return c
}

func (r *resolver) cqNamed(name string) *cqProg {
	for _, c := range r.cqs {
		if c.name == name {
			return c
		}
	}
	return nil
}

// resolveQP adds a declared queue pair.
func (r *resolver) resolveQP(q *lang.QP) *qpProg {
	a, b := r.host(q.A, q.Pos), r.host(q.B, q.Pos)
	if a == b {
		fail(q.Pos, "", "a queue pair joins two hosts, and %s is one", q.A)
	}
	x := r.newQP(a, b)
	if x.named = q.Name != ""; x.named {
		for _, o := range r.qps {
			if o != x && o.name == q.Name {
				fail(q.Pos, "", "there are two queue pairs called %s", q.Name)
			}
		}
		x.name = q.Name
	}
	x.service = "connect " + x.name
	for i := range q.Options {
		o := &q.Options[i]
		for e := range x.ends {
			if o.Host == "" || o.Host == x.ends[e].host.name {
				r.applyOption(&x.ends[e], o)
			}
		}
		if o.Host != "" && o.Host != q.A && o.Host != q.B {
			fail(o.Pos, "", "%s is no end of the queue pair", o.Host)
		}
	}
	for e := range x.ends {
		r.endQueues(x, e)
	}
	return x
}

func (r *resolver) newQP(a, b *hostProg) *qpProg {
	q := &qpProg{idx: len(r.qps), name: a.name + "-" + b.name}
	for i, h := range []*hostProg{a, b} {
		q.ends[i] = endProg{host: h, cfg: verbs.QPConfig{Access: lang.AllAccess, MaxSendWR: 64, MaxRecvWR: 64, MaxSGE: 16}}
	}
	r.qps = append(r.qps, q)
	return q
}

func (r *resolver) applyOption(e *endProg, o *lang.Option) {
	n, _ := strconv.Atoi(o.Value)
	switch o.Key {
	case "depth":
		e.cfg.MaxSendWR = n
	case "rdepth":
		e.cfg.MaxRecvWR = n
	case "sge":
		e.cfg.MaxSGE = n
	case "inline":
		e.cfg.MaxInline = n
	case "rd_atomic":
		e.cfg.MaxRdAtomic = n
	case "retry":
		e.cfg.RetryCount = n
	case "rnr":
		e.cfg.RNRRetry = n
	case "psn":
		e.cfg.PSN = uint32(n)
	case "signal_all":
		e.cfg.SignalAll = n != 0
	case "access":
		e.cfg.Access = lang.ParseAccess(o.Value)
	case "cq":
		c := r.cqNamed(o.Value)
		if c == nil || c.host != e.host {
			fail(o.Pos, "declare it with `cq "+o.Value+" on "+e.host.name+"`", "there is no completion queue %s on %s", o.Value, e.host.name)
		}
		e.send, e.recv = c, c
	}
}

// endQueues gives an end the completion queues of its own that it lacks.
func (r *resolver) endQueues(q *qpProg, i int) {
	e := &q.ends[i]
	if e.send == nil {
		e.send = r.newCQ(q.name+" of "+e.host.name, e.host)
		e.recv = r.newCQ(q.name+".recv of "+e.host.name, e.host)
	}
	e.send.depth += e.cfg.MaxSendWR
	e.recv.depth += e.cfg.MaxRecvWR
}
