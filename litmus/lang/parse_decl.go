package lang

import (
	"fmt"
	"strconv"

	"github.com/verbatim-rdma/verbatim/internal/mistake"
)

// memory parses dram HOST [access=FLAGS]: LOC... where LOC is NAME, NAME[SIZE], either
// with =VALUE, or several in parentheses, which form one block.
func (p *parser) memory() {
	m := Memory{Pos: p.pos(), Persistent: p.next().text == "pmem"}
	m.Host = p.name("a host")
	if p.accept("access") {
		p.symbol("=")
		m.Access = p.access()
	}
	p.symbol(":")
	for ok := true; ok; ok = p.peek().kind != tokEnd {
		var b Block
		if p.accept("(") {
			for !p.accept(")") {
				b.Locs = append(b.Locs, p.location(true))
				p.accept(",")
			}
			if len(b.Locs) == 0 {
				p.failAt(p.peek(), "a block without a location", "")
			}
		} else {
			b.Locs = append(b.Locs, p.location(false))
		}
		m.Blocks = append(m.Blocks, b)
		p.accept(",")
	}
	p.test.Memory = append(p.test.Memory, m)
}

// location reads NAME, NAME[SIZE], NAME@OFFSET (in a block), each with =VALUE.
func (p *parser) location(block bool) Loc {
	l := Loc{Pos: p.pos(), At: -1}
	l.Name = p.name("the name of a location")
	if p.accept("[") {
		l.Size = int(p.number("the size in bytes", MaxSize))
		if l.Size == 0 {
			p.failAt(p.peek(), "a location of no bytes", "")
		}
		p.symbol("]")
		if l.Size == 8 {
			l.Size = 0 // the default
		}
	}
	if p.peek().text == "@" {
		if !block {
			p.failAt(p.peek(), "an offset is for locations that share a block", "write (x y@64)")
		}
		p.next()
		l.At = int(p.number("the offset", MaxSize))
	}
	if p.accept("=") {
		l.Init = p.number("the initial value", 1<<64-1)
	}
	return l
}

// mr reads mr NAME on HOST: LOC [access=FLAGS].
func (p *parser) mr() {
	m := MR{Pos: p.pos()}
	p.next()
	m.Name = p.name("the name of a memory region")
	p.word("on")
	m.Host = p.name("a host")
	p.symbol(":")
	m.Loc = p.name("a location")
	if p.accept("access") {
		p.symbol("=")
		m.Access = p.access()
	}
	p.test.MRs = append(p.test.MRs, m)
}

// qpOptions are the properties of a QP, with the range of the numbers. RNR retry and
// retry counts of 0 mean the default of package verbs.
var qpOptions = []struct {
	name       string
	least, max uint64
	doc        string
}{
	{"depth", 1, 1 << 12, "requests that the send queue holds"},
	{"rdepth", 1, 1 << 12, "requests that the receive queue holds"},
	{"sge", 1, 16, "entries of a scatter/gather list"},
	{"inline", 1, 1 << 12, "bytes of an inline payload"},
	{"rd_atomic", 1, 255, "Reads and atomics outstanding"},
	{"retry", 1, 7, "retries without an answer"},
	{"rnr", 1, 7, "retries where no receive is posted; 7 means no limit"},
	{"signal_all", 0, 1, "1: every request is signaled"},
	{"psn", 1, 1<<24 - 1, "first packet sequence number; without it, always a fresh one"},
	{"access", 0, 0, "what the peer may do: write, read, atomic, joined by |, or none or all"},
	{"cq", 0, 0, "the completion queue of both queues"},
}

func optionNames() []string {
	var out []string
	for _, o := range qpOptions {
		out = append(out, o.name)
	}
	return out
}

// qp reads qp [NAME] A -> B [OPTION=VALUE | HOST.OPTION=VALUE]...
func (p *parser) qp() {
	q := QP{Pos: p.pos()}
	p.next()
	q.A = p.name("a host or the name of the queue pair")
	if p.peek().kind == tokName {
		q.Name, q.A = q.A, p.name("a host")
	}
	p.symbol("->")
	q.B = p.name("a host")
	for p.peek().kind != tokEnd {
		q.Options = append(q.Options, p.option())
		p.accept(",")
	}
	if len(p.test.QPs) >= MaxQPs {
		p.failAt(p.l.tokens[0], fmt.Sprintf("there are more than %d queue pairs", MaxQPs), "")
	}
	p.test.QPs = append(p.test.QPs, q)
}

func (p *parser) option() Option {
	o := Option{Pos: p.pos()}
	t := p.peek()
	o.Key = p.name("an option of the queue pair (" + mistake.OneOf(optionNames()) + ")")
	if p.accept(".") {
		o.Host, t = o.Key, p.peek()
		o.Key = p.name("an option of the queue pair")
	}
	for _, k := range qpOptions {
		if k.name != o.Key {
			continue
		}
		p.symbol("=")
		switch k.name {
		case "access":
			o.Value = formatAccess(*p.access())
		case "cq":
			o.Value = p.name("a completion queue")
		default:
			v := p.peek()
			n := p.number(k.name, k.max)
			if n < k.least {
				p.failAt(v, fmt.Sprintf("%s is %d; it is at least %d", k.name, n, k.least), "")
			}
			o.Value = strconv.FormatUint(n, 10)
		}
		return o
	}
	p.failAt(t, fmt.Sprintf("expected an option of a queue pair (%s), found %v", mistake.OneOf(optionNames()), t), mistake.Suggest(t.text, optionNames()))
	return o
}

// thread reads thread NAME [on HOST], or recover NAME on HOST.
func (p *parser) thread(again bool) {
	t := Thread{Pos: p.pos(), Recover: again}
	p.next()
	t.Name = p.name("the name of a thread, which may be its host's")
	t.Host = t.Name
	if p.accept("on") {
		t.Host = p.name("a host")
	} else if again {
		p.failAt(p.peek(), "expected `on`, found "+p.peek().String(), "write recover "+t.Name+"2 on "+t.Name+": what runs after a restart is another thread")
	}
	if len(p.test.Threads) >= MaxThreads {
		p.failAt(p.l.tokens[0], fmt.Sprintf("there are more than %d threads", MaxThreads), "")
	}
	p.test.Threads = append(p.test.Threads, t)
	p.out, p.cur = nil, &p.test.Threads[len(p.test.Threads)-1]
}

// exists reads exists [NAME:] CONDITION.
func (p *parser) exists() {
	o := Outcome{Pos: p.pos()}
	p.next()
	if p.peek().kind == tokName && p.ahead(1).text == ":" && (p.ahead(2).space || p.ahead(2).kind == tokEnd) {
		o.Name = p.name("a name")
		p.next()
	}
	o.Cond = p.cond()
	if len(p.test.Outcomes) >= MaxOutcomes {
		p.failAt(p.l.tokens[0], fmt.Sprintf("there are more than %d outcomes", MaxOutcomes), "")
	}
	p.test.Outcomes = append(p.test.Outcomes, o)
	p.cur, p.out = nil, &p.test.Outcomes[len(p.test.Outcomes)-1]
}
