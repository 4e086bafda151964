package sim

import (
	"time"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// opKind is the kind of event that a task waits for.
type opKind uint8

const (
	opRun    opKind = iota // nothing: it may continue
	opCQ                   // a completion on a CQ
	opChan                 // a completion on any CQ of a channel
	opAll                  // a completion on each of some CQs
	opAccept               // a request
	opGather               // answers
	opLock                 // a mutex
	opCond                 // a signal
	opSleep                // the clock
)

var opNames = [...]string{"run", "CQ.Wait", "CompChannel.Wait", "CompChannel.Gather", "Listener.Accept", "Gather.Wait", "Mutex.Lock",
	"Cond.Wait", "Sleep"}

func (k opKind) String() string { return opNames[k] }

// op is the operation that a task is about to do; its condition decides whether it can.
type op struct {
	kind     opKind
	cq       *cq
	ch       *channel
	cqs      []verbs.CQ
	lis      *listener
	gather   *gather
	need     int
	mutex    *mutex
	cond     *cond
	timed    bool
	deadline time.Duration // on the clock of the host
	span     time.Duration // from the setting of the timer to the deadline
	armed    bool          // the timer is in the host's zone
	fired    bool          // its timer went off
	signaled bool
}

// task is a coroutine of a host.
type task struct {
	w     *World
	h     *Host
	ord   int
	name  string
	co    *coro
	op    op
	obs   obs
	alive bool
	main  bool
	// dirty is set if the task, since it was last scheduled, did something to which
	// others may react, so that its next look may depend on them.
	dirty bool
	looks int // how often it has looked since it was last scheduled
	// looked is set if the task observed something that others may change.
	looked  bool
	clocked bool // it has looked at its clock in this step
	fresh   bool // other tasks could run since its report, and it has not paused since
	sb      storeBuffer
	vain    int // how often in a row it has polled and found nothing, up to maxVain
	// heldUp is set if the task is about to call a service at place svc, and the link to it is cut.
	heldUp bool
	svc    int
	visits int               // visits that have begun and not ended
	wide   wideLook          // a load of several cells that has begun
	apart  bool              // a load looks at each cell in a step of its own
	report fingerprint.Print // its reports to the checks, as they are in the sum of its node
}

func (t *task) actor() Actor { return actor(actTask, t.h.life, t.h.node.idx, t.ord) }

// spawn starts a task on h. It runs when it is first picked.
func (w *World) spawn(h *Host, name string, f func()) *task {
	w.bound("tasks of a host", h.ntasks, maxOrd)
	var t *task
	if n := len(w.tasks); n < cap(w.tasks) {
		w.tasks = w.tasks[:n+1]
		t = w.tasks[n]
	} else {
		w.tasks = append(w.tasks, nil)
	}
	if t == nil {
		t = &task{}
		w.tasks[len(w.tasks)-1] = t
	}
	*t = task{sb: storeBuffer{t: t, flushing: t.sb.flushing[:0]}, w: w, h: h, ord: h.ntasks, name: name, alive: true, main: h.ntasks == 0, co: w.coro()}
	h.ntasks++
	h.live++
	t.co.start(f)
	return t
}

func (w *World) coro() *coro {
	if n := len(w.spare); n > 0 {
		c := w.spare[n-1]
		w.spare = w.spare[:n-1]
		return c
	}
	c := newCoro()
	w.coros = append(w.coros, c)
	return c
}

// wait returns control to the world until op can be done and the task is picked. It
// returns false if the timer ended the wait.
func (t *task) wait(o op) bool {
	if t.w.preparing {
		t.w.unprepared(o)
		return true
	}
	t.fresh = false
	if o.kind == opAccept || o.kind == opGather || o.kind == opLock || o.kind == opSleep {
		t.drain() // these enter the kernel
	}
	switch {
	case !o.timed || o.kind == opGather:
	case t.related():
		t.wait(op{kind: opRun}) // other timers may fire between its earlier actions and the start of its own
		o.deadline = t.h.after(o.span)
	default:
		t.passes()
	}
	t.op = o
	t.arm()
	t.obs.main = t.obs.main.Uint(uint64(o.kind)) // the task has got this far
	t.co.yield()
	t.disarm()
	ok := !t.op.fired
	t.op = op{}
	t.dirty, t.looked, t.looks, t.clocked = false, false, 0, false
	if !ok {
		// The timer cannot wait for timers of others, faults or failures, but the task's next actions
		// can. The passing of time shows even if the host dies before the task does anything.
		t.dirty, t.looked, t.clocked = true, true, true
		t.w.touchDeath(t.h.node)
		t.h.acted = t.h.acted || t.w.mayDie(t.h.node)
	}
	return ok
}

// others lets other tasks run before the next operation. After a report they could run already:
// if the task has done and observed nothing since, a second pause would change nothing.
func (t *task) others() {
	if t.fresh && !t.dirty && !t.looked {
		t.fresh = false
		t.passes()
		return
	}
	t.wait(op{kind: opRun})
}

// passes updates the task's observations like a pause. The position of a task in its code must be a
// function of its observations, and whether it pauses may depend on state that it has not observed.
func (t *task) passes() { t.obs.main = t.obs.main.Uint(uint64(opRun)) }

// pause makes the next operation a step of its own if the operation could see the actions of others:
// on a host with several tasks, or after the task did something to which others may have reacted.
func (t *task) pause() {
	t.looks++
	if t.looks > maxLooks || t.dirty || t.h.live > 1 || t.w.machine.stepwise() || t.mayTell() {
		t.others()
		return
	}
	t.passes()
}

// pauseLook is like pause, for a look at state that others can reach: between this look
// and an earlier one, they may do something that both looks show.
func (t *task) pauseLook() {
	if t.looked {
		t.others()
		return
	}
	t.pause()
}

// maxLooks bounds how often a task looks at something in one step: a loop that waits for
// a change of memory must let others continue, and meets the limit on steps.
const maxLooks = 256

// pauseDirty is like pause, for an operation that takes effect at once, such as a revocation or a
// store that others can read. If the task earlier did something to which others may react, or saw
// something that others may change, they may come in between. Other tasks of its own host always may.
func (t *task) pauseDirty() {
	if t.w.machine.stepwise() {
		t.others()
		return
	}
	t.pauseAfter()
}

// mayTell reports whether t has done or observed something in this step, and may report its next
// operation to the checks. A report belongs to the operation before it (SetHistory), so other
// tasks must be able to run between the two operations, even if only the checks can notice.
func (t *task) mayTell() bool {
	return (t.dirty || t.looked) && !t.h.node.spec.Daemon
}

// pauseAfter is like pauseDirty, for preparations: if the task did nothing earlier in this step and observed
// nothing, the operation may as well have come later. That holds in eager mode too. Destroying something counts as
// an action here: another host may see its own operation fail and inform a third one, which then comes in between.
func (t *task) pauseAfter() {
	if t.dirty || t.looked || t.h.live > 1 {
		t.others()
		return
	}
	t.passes()
}

// pauseShared is like pause, for an operation that only other tasks of the host can notice: see doc.go.
func (t *task) pauseShared() {
	if t.h.live > 1 && !t.w.dying() {
		t.others()
		return
	}
	t.passes()
}

// seam is called before an operation that need not pause, since nobody can notice whether others came
// between it and the earlier actions of the task in this step. Only the checks can, if the task reports
// the operation to them at once: see [World.Seams]. It counts as an observation even where the task
// continues, because whether the task would have paused may depend on the other tasks of its host.
func (t *task) seam() {
	w := t.w
	if w.preparing || w.dying() {
		return
	}
	if t.mayTell() {
		if w.seams++; w.seams == w.stopAt {
			t.others()
			return
		}
	}
	t.passes()
}

// makes notes the number of an object that t creates. The number follows from the observations
// of t, unless other tasks of the host create such objects too, or t visits hosts.
func (t *task) makes(kind, ord int) {
	if t.h.ntasks > 1 {
		t.obs.seeUint(uint64(ord))
	}
	t.obs.makes(kind, ord)
}

// reach notes that t did something to which others may react.
func (t *task) reach() {
	t.dirty, t.h.acted = true, true
	t.h.tells++
}

// ends notes that t destroyed or stopped something that others use.
func (t *task) ends() { t.dirty, t.h.acted = true, true }

// resume runs t until it waits again or terminates.
func (w *World) resume(t *task) {
	w.cur = t
	t.co.resume()
	w.cur = nil
	if err := t.co.err; err != nil {
		t.co.err = nil
		w.cur = t
		w.Fail(err)
		w.cur = nil
	}
	if t.co.idle && t.alive {
		main, h := t.main, t.h
		w.endTask(t)
		if main && w.fail == nil && !w.cfg.Linger && h.alive { // the task did not crash its own host
			w.mainDone(h)
		}
	}
}

// endTask stops t where it stands. A process that dies runs no deferred functions, so
// its coroutine stays as it is until the run is over: unwind terminates it.
func (w *World) endTask(t *task) {
	if !t.alive {
		return
	}
	t.disarm()
	t.alive = false
	t.h.live--
	if t.co.idle {
		w.release(t)
	}
}

// unwind terminates the coroutine of a task after the run.
func (w *World) unwind(t *task) {
	if t.co == nil {
		return
	}
	w.cur, w.dead = t, 0
	t.co.abort()
	w.cur = nil
	w.release(t)
}

// release releases the coroutine of t.
func (w *World) release(t *task) {
	w.spare = append(w.spare, t.co)
	t.co = nil
}

// ready reports whether t's operation can be done now.
func (w *World) ready(t *task) bool {
	o := &t.op
	if o.fired {
		return true
	}
	switch o.kind {
	case opRun:
		return true
	case opCQ:
		return o.cq.gone || o.cq.canComplete()
	case opChan:
		return o.ch.gone || o.ch.canComplete()
	case opAll:
		return anyGone(o.cqs) || allComplete(o.cqs)
	case opAccept:
		return o.lis.closed || o.lis.h.node.hasMail(o.lis)
	case opGather:
		return o.gather.ready(o.need)
	case opLock:
		return o.mutex.owner == nil
	case opCond:
		return o.signaled && o.cond.m.owner == nil
	}
	return false
}

// enabled lists the events that can happen next, in the order that a run without
// surprises prefers: the task that ran last, other tasks, failures of queue pairs (in
// eager mode wires and acknowledgements), restarts, timers, heals, faults.
func (w *World) enabled() {
	w.events = w.events[:0]
	for _, t := range w.tasks {
		if t.alive && w.ready(t) {
			w.events = append(w.events, Event{Actor: t.actor(), task: t})
			if n := len(w.events); n > 1 && t.actor() == w.last {
				w.events[0], w.events[n-1] = w.events[n-1], w.events[0]
			}
		}
	}
	idle := w.machine.steps(w.idle()) // nobody waits for a failure that nobody looks at
	for _, n := range w.nodes {
		if n.wantsLife {
			w.events = append(w.events, Event{Actor: actor(actRestart, n.life, n.idx, 0), a: n.idx})
		}
	}
	w.enabledTimers(idle)
	for _, c := range w.cuts {
		if c.heals && (w.cfg.Gate == nil || w.cfg.Gate(faults.Partition, true)) {
			w.events = append(w.events, Event{Actor: heal(c.a, c.b), a: c.a, b: c.b})
		}
	}
	w.enabledFaults()
}

// step makes ev happen.
func (w *World) step(ev Event) {
	w.foot, w.shown, w.private = w.foot[:0], false, false
	w.seams, w.toldAt = 0, 0
	w.steps++
	w.stats.Steps++
	w.last = ev.Actor
	switch ev.Actor.kind() {
	case actTask, actTimer:
		t := ev.task
		if ev.Actor.Timer() {
			w.fire(t)
			w.last = t.actor() // the task continues
		}
		w.alone(t)
	case actRestart:
		n := w.nodes[ev.a]
		w.touchRestart(n)
		w.boot(n)
	case actHeal:
		w.healLink(ev.a, ev.b)
	case actFault:
		w.inject(ev)
	case actWire:
		w.stepWire(w.qps[ev.a])
	case actAck:
		w.stepAck(w.qps[ev.a])
	case actFail:
		w.touchAll()
		w.stepFail(ev)
	}
	w.stopAt = 0
	if w.cfg.Linger {
		w.endIfOver()
	} else if w.cfg.Hung != nil {
		w.hangIfStuck()
	}
	if w.finished() || w.over {
		w.touchAll()
	}
}
