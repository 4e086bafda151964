package sim

import (
	"math"
	"slices"
	"time"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim/zone"
)

// Time. Config.Timers says what a check assumes about it:
//
// idle: all hosts share one clock, the world's. It stands still while any event can
// happen, and jumps to the earliest deadline when none can.
//
// free: each host has its own clock. A host's timers fire when its clock reaches their deadlines,
// and the rate of the clock is unknown. The possible readings of a clock are a zone: which of the
// host's timers may be next depends on when they were set, and any time may pass between two steps.
//
// skew(r): like free, but the clocks run within a ratio r. Let no clock be slower than real time and none
// faster than r times real time. Then a timer of duration d that was set at real time S fires in [S+d/r,
// S+d]. The timers of all hosts form a second zone, in real time. A timer may fire if both zones allow it.
//
// Both zones lose information, since the relation of one clock to the other is not a difference bound: a clock
// that lost time on one timer cannot have gained time on another that ran at the same time. So skew allows
// everything that clocks within the ratio do, and occasionally more. It is exact for r=1, and on one host.

// within makes a wait expire after timeout; if timeout is negative it never expires.
func (h *Host) within(o op, timeout time.Duration) op {
	if timeout < 0 {
		return o
	}
	o.timed, o.span, o.deadline = true, timeout, h.after(timeout)
	return o
}

// after returns the deadline of a timer that is set now.
func (h *Host) after(d time.Duration) time.Duration {
	now := h.reading()
	if d > math.MaxInt64-now {
		return math.MaxInt64
	}
	return now + d
}

// reading returns what the host's clock shows. It stands still between timers.
func (h *Host) reading() time.Duration {
	if h.w.cfg.Timers.Regime == faults.Idle {
		return h.w.now
	}
	return h.clock
}

// Now implements host.Host.
func (h *Host) Now() time.Duration {
	w := h.w
	w.guard()
	if w.preparing || w.dying() {
		return h.reading()
	}
	w.stats.ClockReads++
	if w.cfg.Timers.Regime == faults.Idle {
		w.touch(worldClock(), Read)
	} else {
		if t := w.cur; t.clocked && w.cfg.Timers.Regime == faults.Skew {
			t.wait(op{kind: opRun}) // the timer of another host may fire between two looks
		} else {
			t.pause() // the timer of another task may fire first
		}
		w.cur.clocked = true
		w.cur.looked = w.cur.looked || w.cfg.Timers.Regime == faults.Skew
		w.cur.touchClock()
		h.look()
	}
	now := h.reading()
	w.cur.obs.seeUint(uint64(now))
	return now
}

func (h *Host) clockObject() Object { return object(objClock, h.node.idx, 0) }

// timer returns the actor of the timer of t.
func (t *task) timer() Actor { return actor(actTimer, t.h.life, t.h.node.idx, t.ord) }

// related reports whether timers of other tasks constrain the timer of t: those of its
// own host, and with skew those of all hosts.
func (t *task) related() bool {
	switch t.w.cfg.Timers.Regime {
	case faults.Free:
		return t.h.live > 1
	case faults.Skew:
		return true
	}
	return false
}

// arm sets the timer of the wait that begins.
func (t *task) arm() {
	o := &t.op
	if !o.timed {
		return
	}
	w := t.w
	w.stats.TimedWaits++
	if w.cfg.Timers.Regime == faults.Idle {
		if w.cfg.Linger || w.announced(faults.Timeout, t.h.node.idx) {
			t.touchClock() // a task that injects a timeout finds this timer or not
		}
		return
	}
	t.touchClock()
	if o.kind == opGather {
		o.gather.arm(o)
		return
	}
	o.armed = true
	lo, hi := ratioOf(w.cfg.Timers).span(o.span)
	t.h.timers.Set(t.zoneID(), lo.own, hi)
	if w.cfg.Timers.Regime == faults.Skew {
		w.skew.Set(t.h.inAll(t.zoneID()), lo.real, hi)
		t.h.acted = true // other clocks are compared with this one, even if the host dies now
	}
}

// disarm removes the timer from the zones; from now on it does not hold up time.
func (t *task) disarm() {
	if !t.op.armed {
		return
	}
	t.op.armed = false
	t.touchClock()
	if t.op.kind == opGather {
		t.op.gather.disarm()
		return
	}
	t.h.timers.Drop(t.zoneID())
	if t.w.cfg.Timers.Regime == faults.Skew {
		t.w.skew.Drop(t.h.inAll(t.zoneID()))
	}
}

// touchClock records that the step uses the bounds on time: the timers of the host and,
// where clocks are related, those of all hosts.
func (t *task) touchClock() {
	t.w.touch(t.h.clockObject(), Write)
	if t.w.cfg.Timers.Regime == faults.Skew {
		t.w.touch(allClocks(), Write)
	}
}

// zoneID returns the ID, in the zone of its host, of the timer that t waits for.
func (t *task) zoneID() uint64 {
	if t.op.kind == opGather {
		return t.op.gather.zoneID()
	}
	return uint64(t.ord)
}

// inAll returns the ID of a timer of h in the zone of all hosts.
func (h *Host) inAll(id uint64) uint64 {
	return uint64(h.node.idx)<<48 | uint64(h.life)<<24 | id
}

// ratio is the ratio by which clocks may differ, num/den. All times are in units of
// 1/num of a nanosecond, so that d/r is a whole number.
type ratio struct{ num, den int64 }

func ratioOf(t faults.Timers) ratio {
	if t.Regime != faults.Skew {
		return ratio{1, 1}
	}
	return ratio{t.Num, t.Den}
}

// earliest is the age from which a timer may fire, on its own clock and in real time.
type earliest struct{ own, real int64 }

// span returns the ages at which a timer of duration d may fire. A timer too long for
// the numbers may fire at any age from some age on: that allows more, never less.
func (r ratio) span(d time.Duration) (lo earliest, hi int64) {
	hi = zone.Inf
	if limit := zone.Max / r.num; int64(d) <= limit {
		hi = int64(d) * r.num
	} else {
		d = time.Duration(limit)
	}
	return earliest{int64(d) * r.num, int64(d) * r.den}, hi
}

// idle reports whether time can pass in the regime idle, as far as tasks are concerned:
// no task listed so far is certain to continue.
func (w *World) idle() bool {
	return w.cfg.Timers.Regime == faults.Idle && !slices.ContainsFunc(w.events, func(ev Event) bool { return !ev.task.perhaps() })
}

// perhaps reports whether t continues only after a receive for a request that is never sent
// again and may never arrive. In eager mode its arrival is an event that does not hold up time.
func (t *task) perhaps() bool { return t.goesOnWith(mayVanish) }

func mayVanish(o outcome) bool {
	return o.recv && !o.kept && o.status != verbs.StatusWRFlushErr && o.q.peer != nil && o.q.peer.vanishing() >= 0
}

// goesOnWith reports whether t can continue only because of completions that f accepts.
func (t *task) goesOnWith(f func(outcome) bool) bool {
	switch o := &t.op; {
	case o.fired:
		return false
	case o.kind == opCQ:
		return o.cq.hasOnly(f)
	case o.kind == opChan:
		return !o.ch.gone && !slices.ContainsFunc(o.ch.cqs, func(c *cq) bool { return c.canComplete() && !c.hasOnly(f) })
	case o.kind == opAll:
		return slices.ContainsFunc(o.cqs, func(c verbs.CQ) bool { return c.(*cq).hasOnly(f) })
	}
	return false
}

// hasOnly reports whether f accepts every completion that may come next in c.
func (c *cq) hasOnly(f func(outcome) bool) bool {
	var buf [24]outcome
	return !c.gone && !slices.ContainsFunc(c.outcomes(buf[:0]), func(o outcome) bool { return !f(o) })
}

// enabledTimers adds the timers that can fire now. The earliest comes first.
func (w *World) enabledTimers(idle bool) {
	if w.cfg.Timers.Regime == faults.Idle && !idle {
		return
	}
	from := len(w.events)
	first := time.Duration(math.MaxInt64)
	for _, t := range w.tasks {
		if !t.alive || !t.op.timed || t.op.fired || t.op.told() || !w.canFire(t) {
			continue
		}
		w.events = append(w.events, Event{Actor: t.timer(), task: t})
		if n := len(w.events) - 1; t.op.deadline < first {
			first = t.op.deadline
			w.events[from], w.events[n] = w.events[n], w.events[from]
		}
	}
	if w.cfg.Timers.Regime != faults.Idle {
		return
	}
	// All hosts share one clock: keep the timers that are due with the first.
	first = max(first, w.now)
	n := from
	for _, ev := range w.events[from:] {
		if ev.task.op.deadline <= first {
			w.events[n] = ev
			n++
		}
	}
	w.events = w.events[:n]
}

// canFire reports whether the bounds on time let the timer of t fire now.
func (w *World) canFire(t *task) bool {
	switch w.cfg.Timers.Regime {
	case faults.Free:
		return t.h.timers.CanFire(t.zoneID())
	case faults.Skew:
		return t.h.timers.CanFire(t.zoneID()) && w.skew.CanFire(t.h.inAll(t.zoneID()))
	}
	return true
}

// told reports whether a channel has reported the completions that o waits for. Such a
// wait does not time out: they are available, and a wait polls before it gives up.
func (o *op) told() bool {
	switch o.kind {
	case opCQ:
		return o.cq.front.q != nil
	case opChan:
		return slices.ContainsFunc(o.ch.cqs, func(c *cq) bool { return !c.gone && c.front.q != nil })
	case opAll:
		return !slices.ContainsFunc(o.cqs, func(c verbs.CQ) bool { return c.(*cq).front.q == nil })
	}
	return false
}

// touchQueues records that told read these queues.
func (o *op) touchQueues() {
	switch o.kind {
	case opCQ:
		o.cq.touch()
	case opChan:
		for _, c := range o.ch.cqs {
			c.touch()
		}
	case opAll:
		for _, c := range o.cqs {
			c.(*cq).touch()
		}
	}
}

// fire fires the timer of t.
func (w *World) fire(t *task) {
	t.op.touchQueues()
	t.op.fired = true
	if w.cfg.Timers.Regime == faults.Idle {
		w.now = max(w.now, t.op.deadline)
		w.touch(worldClock(), Write)
		for _, n := range w.nodes {
			if n.cur != nil {
				n.cur.acted = true // had a host died earlier, it would have no step left, and time could pass sooner
			}
		}
		return
	}
	t.op.armed = false
	if !t.h.looked { // otherwise the zone includes the time since the look
		t.h.clock = max(t.h.clock, t.op.deadline)
	}
	t.h.timers.Fire(t.zoneID())
	if w.cfg.Timers.Regime == faults.Skew {
		w.skew.Fire(t.h.inAll(t.zoneID()))
	}
	if t.op.kind == opGather {
		t.op.gather.aged = false
	}
	t.touchClock()
}

// outOfTime reports whether timers wait and none can fire. Then the zones have lost
// information: no clocks within the ratio reach this state, so the run proves nothing.
func (w *World) outOfTime() bool {
	return w.cfg.Timers.Regime == faults.Skew && slices.ContainsFunc(w.tasks, func(t *task) bool { return t.op.armed })
}

// zonePrint adds the bounds on timers to a print.
func (w *World) zonePrint(p print, z *zone.Zone) print {
	if z.Len() == 0 {
		return p
	}
	w.fpbuf.words = z.Append(w.fpbuf.words[:0])
	for _, x := range w.fpbuf.words {
		p = p.Uint(x)
	}
	return p
}
