package litmus

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// machine is everything that the interpreter needs from a backend beyond host.Host and
// verbs.
type machine interface {
	// Strike makes a fault happen now.
	Strike(k faults.Kind, hosts ...string) error
	Heal(a, b string)
	// Abandon ends the run without an outcome; the caller returns at once.
	Abandon()
	// Remember sets the contribution of finished threads to the final state.
	Remember(p fingerprint.Print)
	// Step is called before a thread's next statement, and lets others run.
	Step(t *threadProg)
	// Patience is how long a thread waits before it calls Again.
	Patience() time.Duration
	// Again reports whether a thread that found nothing should wait again. If not, what
	// it waits for will never come.
	Again(t *threadProg) bool
	// Alive reports whether the machine is up.
	Alive(h host.Host) bool
	// Fail ends the run: the test cannot be run.
	Fail(err error)
}

// runner runs one program repeatedly, and holds the state of one run.
type runner struct {
	p       *program
	machine machine
	env     env
	lives   [][]*life // by host
	started []*life   // by thread: the last life in which it started
	vain    []vain    // by thread: what it waited for and did not get
	hash    fingerprint.Print
	passed  []bool // by loop: some run got through. Not reset.
	refuse  sync.Mutex
	refused error // why the test cannot be run here. Not reset.
}

// vain is a completion that a thread awaited in vain: that of a label, or any completion of a CQ.
type vain struct {
	cq    *cqProg
	label *labelProg // nil: any
	came  bool       // after the run, once more was posted
}

func newRunner(p *program, m machine) *runner {
	n := len(p.threads)
	r := &runner{p: p, machine: m, lives: make([][]*life, len(p.hosts)), started: make([]*life, n), vain: make([]vain, n), passed: make([]bool, len(p.untils))}
	r.env = env{regs: make([]value, len(p.regs)), asked: make([]value, len(p.asked)), blocked: make([]bool, n), done: make([]bool, n)}
	return r
}

// forget restores the conditions' state from before the run.
func (m *runner) forget() {
	clear(m.env.regs)
	clear(m.env.asked)
	clear(m.env.blocked)
	clear(m.env.done)
	clear(m.started)
	clear(m.vain)
}

// reset restores the state from before the run.
func (m *runner) reset() {
	m.forget()
	for i := range m.lives {
		m.lives[i] = m.lives[i][:0]
	}
	m.hash = fingerprint.Print{}
}

// broken ends the run because the test cannot be run.
func (m *runner) broken(err error) bool {
	m.refuse.Lock()
	if m.refused == nil {
		m.refused = err
	}
	m.refuse.Unlock()
	m.machine.Fail(&refusedError{err})
	return false
}

// refusedError: a statement cannot be carried out.
type refusedError struct{ err error }

func (e *refusedError) Error() string { return e.err.Error() }
func (e *refusedError) Unwrap() error { return e.err }
func (e *refusedError) Class() string { return "refused" }

// exec is one thread of one life.
type exec struct {
	m    *runner
	t    *threadProg
	h    host.Host
	life *life
	seen []seen // by label: the completions that the thread has polled
	wcs  [1]verbs.WC
	dead bool // it does not finish
	sges []verbs.SGE
}

type seen struct {
	ok bool
	wc verbs.WC
}

// main is the first task of a host's life: it starts the threads.
func (m *runner) main(at *hostProg, h host.Host, count int) {
	if count > 0 {
		if err := m.boot(at, h); err != nil {
			m.broken(err)
			return
		}
	}
	l := m.lives[at.idx][len(m.lives[at.idx])-1]
	var own *threadProg
	for _, t := range at.threads {
		if t.spec.Recover != (count > 0) {
			continue
		}
		m.started[t.idx] = l
		if own == nil {
			own = t
			continue
		}
		h.Go(t.spec.Name, func() { m.thread(t, h, l) })
	}
	if own != nil {
		m.thread(own, h, l)
	}
}

// thread runs the statements of a thread.
func (m *runner) thread(t *threadProg, h host.Host, l *life) {
	x := &exec{m: m, t: t, h: h, life: l, seen: make([]seen, len(m.p.labels))}
	for i := range t.steps {
		s := &t.steps[i]
		m.machine.Step(t)
		h.Logf("%d: %s", s.line, s.text)
		if !s.do(x) {
			break // by stop, or the run or the host has ended
		}
	}
	if !x.dead {
		m.env.done[t.idx] = true
		if t.asked {
			m.remember(fingerprint.Print{}, fingerprint.Print{}.String("done").Int(t.idx))
		}
	}
}

// remember replaces a contribution to the final state.
func (m *runner) remember(old, now fingerprint.Print) {
	m.hash = fingerprint.Print{A: m.hash.A - old.A + now.A, B: m.hash.B - old.B + now.B}
	m.machine.Remember(m.hash)
}

// set sets a register; reg may be nil.
func (x *exec) set(reg *regProg, v value) bool {
	if reg == nil {
		return true
	}
	r := &x.m.env.regs[reg.idx]
	old := r.print(reg.idx)
	if *r = v; reg.asked {
		x.m.remember(old, v.print(reg.idx))
	}
	return true
}

// until calls try until it succeeds, and returns false if it never will. try waits for
// the given time, or not at all.
func (x *exec) until(try func(patience time.Duration) (bool, error)) bool {
	for {
		got, err := try(x.m.machine.Patience())
		switch {
		case err != nil && !errors.Is(err, verbs.ErrTimeout) && !errors.Is(err, host.ErrTimeout):
			return x.m.broken(err)
		case got:
			return true
		case !x.m.machine.Again(x.t):
			x.dead = true
			return false
		}
	}
}

// look continues if the loop's condition holds.
func (x *exec) look(loop int, ok bool) bool {
	if !ok {
		x.m.machine.Abandon()
		return false
	}
	x.m.passed[loop] = true
	return true
}

// result records the result of a post or a state change. Without a register it must
// succeed.
func (x *exec) result(reg *regProg, what string, err error) bool {
	if reg == nil && err != nil {
		return x.m.broken(fmt.Errorf("%s: %w (take the result into a register if it may fail)", what, err))
	}
	return x.set(reg, number64(posted(err)))
}

func (x *exec) region(p place) host.Region { return x.life.regions[p.loc.block.at] }

// load loads bytes; unreadable persistent memory is unset.
func (x *exec) load(p place) value {
	r := x.region(p)
	if p.loc.block.persistent {
		b := make([]byte, p.n)
		if err := host.TryLoad(r, p.off, b); err != nil {
			return value{}
		}
		return valueOf(b)
	}
	if p.n == 8 && p.off%8 == 0 {
		return number64(r.Load64(p.off))
	}
	b := make([]byte, p.n)
	r.Load(p.off, b)
	return valueOf(b)
}

func (x *exec) store(p place, b []byte) {
	if p.n == 8 && p.off%8 == 0 {
		x.region(p).Store64(p.off, valueOf(b).num)
		return
	}
	x.region(p).Store(p.off, b)
}

// cell reads a thread's private memory.
func (x *exec) cell(c cell, thread int) value {
	r := x.life.cells[thread]
	if c.n == 8 {
		return number64(r.region.Load64(c.off))
	}
	b := make([]byte, c.n)
	r.region.Load(c.off, b)
	return valueOf(b)
}
