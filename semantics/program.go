package semantics

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/litmus/lang"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// ErrUnsupported is wrapped by the error about a program with an act that the machine
// does not have yet; the error names the act.
var ErrUnsupported = errors.New("semantics: the reference machine does not have this yet")

func unsupported(act string) error { return fmt.Errorf("%w: %s", ErrUnsupported, act) }

// place is a piece of a block of memory.
type place struct{ block, off, n int }

// block is memory that is allocated and registered as a unit.
type block struct {
	host       int
	persistent bool
	size       int
	init       string
	locs       map[string]place
}

// region is a registration of a block: what its key permits.
type region struct {
	host, block int
	name        string
	access      verbs.Access
}

// endpoint is one end of a queue pair; the peer of end i is end i^1.
type endpoint struct {
	host             int
	depth, rdepth    int
	rdAtomic, rnr    int
	signalAll        bool
	access           verbs.Access
	sendQueue, rcvCQ int // completion queues
	qp               string
	named, psn       bool // it has a name, a sequence number
	next             int  // the end in the next connection; 0: there is none
}

// label is a request that a statement posts; its number identifies the statement.
type label struct {
	name         string
	thread, host int
	cq           int
	bytes        int // of the value that it brings into private memory
}

type program struct {
	test    *lang.Test
	profile faults.Profile
	budget  faults.Budget // of faults that strike anywhere
	hosts   []string
	blocks  []block
	regions []region
	ends    []endpoint
	cqs     []string
	labels  []label
	threads []code
	asked   []item
}

// code is the program of a thread.
type code struct {
	name     string
	host     int
	recovers bool // runs in each life of its host but the first
	steps    []op
}

// op is a statement with its names resolved. Which fields matter depends on stmt.
type op struct {
	stmt   lang.Stmt
	end    int // of the queue pair
	label  int
	cq     int
	at     place
	region int // of the key; -1: a bad one
	pieces []piece
	then   []op // of if and maybe
	host   int
}

// piece is an entry of a scatter/gather list: memory, or a value.
type piece struct {
	mem   bool
	at    place
	value lang.Expr
	n     int
}

// compile resolves the names of a test that litmus.Parse accepts.
func compile(t *lang.Test, profile faults.Profile) (*program, error) {
	p := &program{test: t, profile: profile, hosts: t.Hosts}
	if err := p.budgeted(t.Faults); err != nil {
		return nil, err
	}
	for _, m := range t.Memory {
		p.memory(m)
	}
	for _, m := range t.MRs {
		h := p.host(m.Host)
		at, _ := p.find(h, m.Loc)
		r := region{host: h, block: at.block, name: m.Name, access: lang.AllAccess}
		if m.Access != nil {
			r.access = *m.Access
		}
		p.regions = append(p.regions, r)
	}
	for _, c := range t.CQs {
		p.cqs = append(p.cqs, c.Name)
	}
	for _, q := range t.QPs {
		p.declare(q)
	}
	for _, again := range []bool{false, true} {
		for i, th := range t.Threads {
			if th.Recover != again {
				continue
			}
			c := compiler{p, len(p.threads), p.host(th.Host)}
			p.threads = append(p.threads, code{name: th.Name, host: c.host, recovers: th.Recover})
			for _, s := range t.Threads[i].Body {
				o, err := c.statement(s)
				if err != nil {
					return nil, err
				}
				at := len(p.threads) - 1
				p.threads[at].steps = append(p.threads[at].steps, o)
			}
		}
	}
	p.ask()
	return p, nil
}

// budgeted reads the budget of faults.
func (p *program) budgeted(text string) (err error) {
	if p.budget, err = faults.ParseBudget(text); err != nil {
		return err
	}
	for _, r := range p.budget {
		if err := supported(r.Kind); err != nil {
			return err
		}
	}
	return nil
}

func (p *program) host(name string) int { return slices.Index(p.hosts, name) }

func (p *program) memory(m lang.Memory) {
	for _, b := range m.Blocks {
		n := block{host: p.host(m.Host), persistent: m.Persistent, locs: map[string]place{}}
		var mem []byte
		for _, l := range b.Locs {
			at := place{len(p.blocks), (len(mem) + 7) &^ 7, l.Size}
			if at.n == 0 {
				at.n = 8
			}
			if l.At >= 0 {
				at.off = l.At
			}
			n.locs[l.Name] = at
			end := (at.off + at.n + 7) &^ 7
			for len(mem) < end {
				mem = append(mem, 0)
			}
			copy(mem[at.off:], fill(l.Init, at.n))
		}
		n.size, n.init = len(mem), string(mem)
		r := region{host: n.host, block: len(p.blocks), name: b.Locs[0].Name, access: lang.AllAccess}
		if m.Access != nil {
			r.access = *m.Access
		}
		p.blocks, p.regions = append(p.blocks, n), append(p.regions, r)
	}
}

// find returns the place of a location of a host.
func (p *program) find(host int, name string) (place, bool) {
	for _, b := range p.blocks {
		if at, ok := b.locs[name]; ok && b.host == host {
			return at, true
		}
	}
	return place{}, false
}

// declare adds a queue pair with its options.
func (p *program) declare(q lang.QP) {
	i := p.connect(p.host(q.A), p.host(q.B))
	for e := i; e < i+2; e++ {
		end := &p.ends[e]
		if q.Name != "" {
			end.qp, end.named = q.Name, true
		}
		for _, o := range q.Options {
			if o.Host == "" || p.host(o.Host) == end.host {
				p.option(end, o)
			}
		}
	}
}

func (p *program) option(e *endpoint, o lang.Option) {
	n, _ := strconv.Atoi(o.Value)
	switch o.Key {
	case "depth":
		e.depth = n
	case "rdepth":
		e.rdepth = n
	case "rd_atomic":
		e.rdAtomic = n
	case "psn":
		e.psn = true
	case "rnr":
		e.rnr = n
	case "signal_all":
		e.signalAll = n != 0
	case "access":
		e.access = lang.ParseAccess(o.Value)
	case "cq":
		e.sendQueue = slices.Index(p.cqs, o.Value)
		e.rcvCQ = e.sendQueue
	}
}

// connect adds a queue pair of two hosts, and returns its first end.
func (p *program) connect(a, b int) int {
	first := len(p.ends)
	for _, h := range []int{a, b} {
		e := endpoint{host: h, depth: 64, rdepth: 64, rdAtomic: p.profile.MaxRdAtomic, rnr: 7, access: lang.AllAccess, qp: p.hosts[a] + "-" + p.hosts[b]}
		e.sendQueue, e.rcvCQ = len(p.cqs), len(p.cqs)+1
		p.cqs = append(p.cqs, fmt.Sprintf("%s of %d", e.qp, h), fmt.Sprintf("%s.recv of %d", e.qp, h))
		p.ends = append(p.ends, e)
	}
	return first
}

// again adds one more connection of an end.
func (p *program) again(e int) {
	for p.ends[e].next != 0 {
		e = p.ends[e].next
	}
	n := len(p.ends)
	p.ends = append(p.ends, p.ends[e&^1], p.ends[e|1])
	p.ends[e&^1].next, p.ends[e|1].next = n, n+1
	p.ends[n].next, p.ends[n+1].next = 0, 0
}

// endNamed is the end on host h of the queue pair with a name.
func (p *program) endNamed(name string, h int) int {
	for i, e := range p.ends {
		a, b := p.hosts[p.ends[i&^1].host], p.hosts[p.ends[i|1].host]
		if e.host == h && (e.qp == name || !e.named && (a+"-"+b == name || b+"-"+a == name)) {
			return i
		}
	}
	if a, b, ok := strings.Cut(name, "-"); ok {
		return p.endOn(p.connect(p.host(a), p.host(b)), h)
	}
	return -1
}

func (p *program) endOn(first, h int) int {
	if p.ends[first].host == h {
		return first
	}
	return first + 1
}

// endTo is the end on host h of the named or only queue pair to a peer.
func (p *program) endTo(name string, h, peer int) int {
	if name != "" {
		return p.endNamed(name, h)
	}
	for i, e := range p.ends {
		if e.host == h && p.ends[i^1].host == peer {
			return i
		}
	}
	return p.connect(h, peer)
}
