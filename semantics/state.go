package semantics

import (
	"encoding/binary"
	"slices"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// state is everything that distinguishes two moments of a run. A rule changes a copy.
type state struct {
	*program
	threads []thread
	up      []bool
	zombie  []bool   // by host: presumed dead; its name belongs to another machine
	memory  []string // by block: the content that CPUs and cards see
	durable []string // by block: the durable content; empty if it is not persistent memory
	valid   []bool   // by registration
	cut     []link   // by pair of hosts
	ends    []end
	current []int // by end of a first connection: the same end in the current one
	queues  [][]completion
	private []string // by label: the private memory for its value
	inbox   []note
	spent   faults.Spent // of the budget of faults
}

// thread is a CPU that runs the program of a thread.
type thread struct {
	pc      int
	done    bool
	ended   bool // its host went down
	chosen  bool // of maybe: it is executed
	waiting bool // the statement has begun
	partial string
	sampled []bool // the words of a load that were loaded
	regs    []register
	seen    []completion // the completions that it has polled
	buffer  []store
	flushed []place // words flushed and not yet written back
}

type register struct {
	name string
	value
}

// store is an entry of a store buffer, or a clwb, which flushes a line after the stores before it.
type store struct {
	at   place
	data string
	clwb bool
}

type note struct {
	from int
	host int
	name string
	v    uint64
}

// end is an end of a queue pair.
type end struct {
	state          verbs.QPState
	destroyed      bool
	psn            bool // its sequence numbers are those of the program
	broken         bool // acknowledgements are lost
	orphan         bool // its peer's host has ended
	last           int  // of a broken connection: no request from this one on arrives
	access         verbs.Access
	sends          []work    // not completed
	wire           []message // left the card, and may have more effects
	receives       []receive
	posted, freed  int // slots of the send queue: posted ever, freed ever
	rposted, rfree int // of the receive queue
}

// work is an entry of a send queue.
type work struct {
	message
	signaled, fence bool
	issued          bool
	responded       bool         // the response is in memory
	local           verbs.Status // a bad local key
}

// message is a request on its way, and at the responder.
type message struct {
	id, label    int
	op           verbs.Opcode
	at           place
	region       int
	scope        verbs.Access // of a Flush
	data         string
	fetch        []cell // parts of the source that were not fetched
	sinks        []place
	operand      [2]uint64 // compare and swap, or add
	imm          uint32
	pushes       []ref // acknowledged before it was posted
	opened       bool  // accepted by the responder
	refused      verbs.Status
	executed     bool // one that is answered: all of it
	half         bool // an Atomic has read
	acknowledged bool
	early        bool // a part of it has overtaken an earlier request
	dead         bool // no more of its packets arrive
	gone         bool // its requester does not wait for it
	taken        int  // the receive, 1 + its number
	answer       string
	cells        []cell
}

// link is the state of a link.
type link uint8

const (
	whole link = iota
	cut
	healing // cut, and heals at some time
)

// ref is a message of an end.
type ref struct{ end, id int }

// cell is a piece of a message that is never torn.
type cell struct {
	at   place
	off  int // in the message
	step step
}

// step is the progress of a cell.
type step uint8

const (
	absent step = iota
	arrived
	placed
	torn // failed; whether it lands is not decided yet
	lost
)

// receive is an entry of a receive queue.
type receive struct {
	id, label int
	into      []place
	fails     verbs.Status // the error with which it completes
	behind    int          // the message before the one that it could not take
}

// completion is an entry of a completion queue.
type completion struct {
	end, id, label int
	recv           bool
	status         verbs.Status
	n              int
	hasImm         bool
	imm            uint32
}

// clone is a copy that shares nothing that changes.
func (s *state) clone() *state {
	c := *s
	c.threads = slices.Clone(s.threads)
	for i := range c.threads {
		t := &c.threads[i]
		t.sampled, t.regs, t.seen = slices.Clone(t.sampled), slices.Clone(t.regs), slices.Clone(t.seen)
		t.buffer, t.flushed = slices.Clone(t.buffer), slices.Clone(t.flushed)
	}
	c.current = slices.Clone(s.current)
	c.zombie = slices.Clone(s.zombie)
	c.up, c.valid, c.cut = slices.Clone(s.up), slices.Clone(s.valid), slices.Clone(s.cut)
	c.memory, c.durable, c.private = slices.Clone(s.memory), slices.Clone(s.durable), slices.Clone(s.private)
	c.inbox = slices.Clone(s.inbox)
	c.queues = slices.Clone(s.queues)
	for i := range c.queues {
		c.queues[i] = slices.Clone(s.queues[i])
	}
	c.ends = slices.Clone(s.ends)
	for i := range c.ends {
		e := &c.ends[i]
		e.sends, e.wire, e.receives = slices.Clone(e.sends), slices.Clone(e.wire), slices.Clone(e.receives)
		for j := range e.wire {
			e.wire[j].cells, e.wire[j].fetch = slices.Clone(e.wire[j].cells), slices.Clone(e.wire[j].fetch)
		}
	}
	return &c
}

// text is the canonical string of a state: two states are the same if it is.
func (s *state) text() string {
	var w writer
	for i := range s.threads {
		s.threads[i].write(&w)
	}
	w.flags(s.up...)
	w.flags(s.zombie...)
	w.flags(s.valid...)
	for _, l := range s.cut {
		w.int(int(l))
	}
	for _, list := range [][]string{s.memory, s.durable, s.private} {
		for _, b := range list {
			w.string(b)
		}
	}
	for _, q := range s.queues {
		w.completions(q)
	}
	w.int(len(s.inbox))
	for _, n := range s.inbox {
		w.int(n.from)
		w.int(n.host)
		w.string(n.name)
		w.int(int(n.v))
	}
	for i := range s.ends {
		s.ends[i].write(&w)
	}
	for _, e := range s.current {
		w.int(e)
	}
	for i := range s.budget {
		w.int(int(s.spent[i]))
	}
	return string(w)
}

type writer []byte

func (w *writer) int(v int) { *w = binary.AppendVarint(*w, int64(v)) }
func (w *writer) string(b string) {
	w.int(len(b))
	*w = append(*w, b...)
}

func (w *writer) flags(list ...bool) {
	for _, b := range list {
		if b {
			*w = append(*w, 1)
		} else {
			*w = append(*w, 0)
		}
	}
}

func (w *writer) place(p place) {
	w.int(p.block)
	w.int(p.off)
	w.int(p.n)
}

func (w *writer) cells(list []cell) {
	w.int(len(list))
	for _, c := range list {
		w.place(c.at)
		w.int(c.off)
		*w = append(*w, byte(c.step))
	}
}

func (w *writer) completions(list []completion) {
	w.int(len(list))
	for _, c := range list {
		w.int(c.end)
		w.int(c.id)
		w.int(c.label)
		w.flags(c.recv, c.hasImm)
		w.int(int(c.status))
		w.int(c.n)
		w.int(int(c.imm))
	}
}

func (t *thread) write(w *writer) {
	w.int(t.pc)
	w.flags(t.done, t.ended, t.chosen, t.waiting)
	w.string(t.partial)
	w.int(len(t.sampled))
	w.flags(t.sampled...)
	w.int(len(t.regs))
	for _, r := range t.regs {
		w.string(r.name)
		w.flags(r.set)
		w.string(r.b)
		w.string(r.word)
	}
	w.completions(t.seen)
	w.int(len(t.buffer))
	for _, b := range t.buffer {
		w.place(b.at)
		w.string(b.data)
		w.flags(b.clwb)
	}
	w.int(len(t.flushed))
	for _, p := range t.flushed {
		w.place(p)
	}
}

func (e *end) write(w *writer) {
	w.int(int(e.state))
	w.int(int(e.access))
	w.flags(e.psn, e.destroyed, e.broken, e.orphan)
	for _, n := range []int{e.last, e.posted, e.freed, e.rposted, e.rfree, len(e.sends), len(e.wire), len(e.receives)} {
		w.int(n)
	}
	for i := range e.sends {
		x := &e.sends[i]
		w.flags(x.signaled, x.fence, x.issued, x.responded)
		w.int(int(x.local))
		x.message.write(w)
	}
	for i := range e.wire {
		e.wire[i].write(w)
	}
	for _, r := range e.receives {
		w.int(r.id)
		w.int(r.label)
		w.int(int(r.fails))
		w.int(r.behind)
	}
}

func (m *message) write(w *writer) {
	for _, n := range []int{m.id, m.label, int(m.refused), m.taken} {
		w.int(n)
	}
	w.flags(m.opened, m.executed, m.half, m.acknowledged, m.early, m.dead, m.gone)
	w.string(m.data)
	w.string(m.answer)
	w.int(int(m.operand[0]))
	w.int(int(m.operand[1]))
	w.cells(m.fetch)
	w.cells(m.cells)
	w.int(len(m.pushes))
	for _, r := range m.pushes {
		w.int(r.end)
		w.int(r.id)
	}
}
