package sim

import (
	"fmt"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim/zone"
)

// Host is one life of a node: the machine, or the process, that protocol code runs on. It implements host.Host.
type Host struct {
	w      *World
	node   *node
	life   int
	alive  bool
	ntasks int
	live   int // tasks that have not ended
	card   *card
	regs   []*region
	lis    []*listener
	gaths  []*gather
	mail   []*request
	muts   []*mutex
	mrs    int           // registrations so far, for the keys
	made   print         // the objects that it has made and keeps, and which of them are destroyed
	bank   *bank         // of its machine
	clock  time.Duration // in the regimes free and skew
	looked bool          // it has looked at its clock, in these regimes: its zones include the time since then
	timers zone.Zone     // the bounds on its pending timers, on its own clock, in these regimes
	// acted is set if the host's last step did something that others, or the checks, can notice. A crash after a step
	// that only looked adds nothing to a crash before it: what the step saw was already there, and need not be known.
	acted bool
	tells int // how often its tasks have done something to which others may react
}

var _ host.Host = (*Host)(nil)

func newHost(w *World, n *node, life int) *Host {
	h := w.pools.hosts.get()
	*h = Host{regs: h.regs[:0], lis: h.lis[:0], gaths: h.gaths[:0], mail: h.mail[:0], muts: h.muts[:0], w: w, node: n, life: life, bank: n.bank,
		alive: true, acted: true, timers: h.timers}
	h.timers.Clear()
	h.card = w.pools.cards.get()
	*h.card = card{mrs: h.card.mrs[:0], qps: h.card.qps[:0], cqs: h.card.cqs[:0], h: h}
	return h
}

// Name implements host.Host.
func (h *Host) Name() string { return h.node.spec.Name }

// Device implements host.Host.
func (h *Host) Device() verbs.Device { return h.card }

// Life returns how often the host has started before.
func (h *Host) Life() int { return h.life }

// Go implements host.Host.
func (h *Host) Go(name string, f func()) {
	h.w.guard()
	if h.w.dying() {
		return // nothing would terminate its coroutine
	}
	if f == nil {
		panic(fmt.Sprintf("sim: Go(%q, nil): a task needs a function", name))
	}
	parent := h.w.cur
	if !h.w.preparing {
		parent.seam()
	}
	parent.drain()
	h.w.touch(object(objSpawn, h.node.idx, 0), Add)
	t := h.w.spawn(h, name, f)
	if parent != nil && parent.h == h {
		t.obs = parent.obs
		t.obs.seeUint(uint64(t.ord))
		parent.reach()
	}
}

// Sleep implements host.Host.
func (h *Host) Sleep(d time.Duration) {
	h.w.guard()
	t := h.w.cur
	t.wait(h.within(op{kind: opSleep}, max(d, 0)))
}

// Rand implements host.Host: in a check every number is a choice.
func (h *Host) Rand(n int) int {
	h.w.guard()
	if n <= 0 {
		panic(fmt.Sprintf("sim: Rand(%d): the number must be positive", n))
	}
	v := h.w.choose(ChooseRand, n, func(i int) string { return itoa(i) })
	h.w.cur.obs.seeUint(uint64(v))
	return v
}

// Logf implements host.Host: the lines appear in the timeline.
func (h *Host) Logf(format string, args ...any) {
	if h.w.tracer != nil {
		h.w.trace(h, "log", format, args...)
	}
}

// NewMutex implements host.Host.
func (h *Host) NewMutex() host.Mutex {
	h.w.guard()
	m := &mutex{h: h, ord: len(h.muts)}
	h.muts = append(h.muts, m)
	h.makes(madeMutex, m.ord, 0)
	return m
}

// NewCond implements host.Host.
func (h *Host) NewCond(m host.Mutex) host.Cond { return &cond{m: m.(*mutex)} }

// Alloc implements host.Host.
func (h *Host) Alloc(size int) (host.Region, error) { return h.newRegion("", size) }

// mutex passes the observations of its last owner to the next, so that the fingerprint
// of a task covers the Go variables that it reads under the mutex.
type mutex struct {
	h     *Host
	ord   int
	owner *task
	obs   obs
}

func (m *mutex) object() Object { return object(objMutex, m.h.node.idx, m.ord) }

func (m *mutex) Lock() {
	w := m.h.w
	w.guard()
	t := w.cur
	if t.co.kill {
		return
	}
	if m.h.live > 1 || m.owner != nil {
		t.wait(op{kind: opLock, mutex: m})
	}
	m.take(t) // an observation without a wait: the position of the task follows from it
}

func (m *mutex) take(t *task) {
	m.h.w.touch(m.object(), Write)
	m.owner = t
	t.obs.join(&m.obs)
}

func (m *mutex) Unlock() {
	w := m.h.w
	w.guard()
	t := w.cur
	if t.co.kill {
		return
	}
	if m.owner != t {
		panic("sim: unlock of a mutex that the task does not hold")
	}
	if m.h.live > 1 {
		t.seam()
	} else {
		t.passes()
	}
	t.drain()
	m.owner = nil
	m.obs = t.obs
	w.touch(m.object(), Write)
	t.reach()
}

type cond struct {
	m       *mutex
	waiters []*task
}

func (c *cond) Wait() {
	c.m.h.w.guard()
	t := c.m.h.w.cur
	if t.co.kill {
		panic(killed{}) // a dead task is never woken, and a loop around this would not terminate
	}
	c.m.Unlock()
	c.waiters = append(c.waiters, t)
	t.wait(op{kind: opCond, cond: c})
	c.m.take(t)
}

func (c *cond) Signal() {
	w := c.m.h.w
	w.guard()
	if w.dying() {
		return
	}
	w.cur.drainShared()
	if len(c.waiters) == 0 {
		return
	}
	i := w.choose(ChooseOrder, len(c.waiters), func(i int) string { return c.waiters[i].name })
	w.cur.obs.seeUint(uint64(c.waiters[i].ord))
	c.wake(i)
}

func (c *cond) Broadcast() {
	c.m.h.w.guard()
	if c.m.h.w.dying() {
		return
	}
	c.m.h.w.cur.drainShared()
	for len(c.waiters) > 0 {
		c.wake(0)
	}
}

func (c *cond) wake(i int) {
	w := c.m.h.w
	w.touch(c.m.object(), Write)
	c.waiters[i].op.signaled = true
	c.waiters = append(c.waiters[:i], c.waiters[i+1:]...)
	w.cur.reach()
}
