package sim

import (
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/verbs/sim/zone"
)

// The timer of a Gather in the regimes free and skew. The calls set it, and every Wait uses it. While no task
// waits, it is in the zones like a look (look.go): it never fires, and its age is the time since the calls.

// zoneID returns the ID of g's timer in the zone of its host.
func (g *gather) zoneID() uint64 { return 1<<23 | uint64(g.ord) }

// age sets the timer. No task waits for it yet.
func (g *gather) age() {
	w := g.h.w
	if !g.timed || w.preparing || w.cfg.Timers.Regime == faults.Idle {
		return
	}
	g.aged = true
	lo, _ := ratioOf(w.cfg.Timers).span(g.span)
	g.h.timers.Set(g.zoneID(), lo.own, zone.Inf)
	if w.cfg.Timers.Regime == faults.Skew {
		w.skew.Set(g.h.inAll(g.zoneID()), lo.real, zone.Inf)
		g.h.acted = true // as in arm
	}
	w.cur.touchClock()
}

// arm starts a wait for the timer. It decides whether the timer has expired already: if
// so, the wait returns at once; if not, the timer fires when it reaches its age.
func (g *gather) arm(o *op) {
	w := g.h.w
	if !g.aged {
		return // every answer has arrived, or none will
	}
	lo, hi := ratioOf(w.cfg.Timers).span(g.span)
	least, most := g.h.timers.Age(g.zoneID())
	over, runs := most >= lo.own, least <= hi
	skew := w.cfg.Timers.Regime == faults.Skew
	if skew {
		least, most := w.skew.Age(g.h.inAll(g.zoneID()))
		over, runs = over && most >= lo.real, runs && least <= hi
	}
	if g.began == w.steps {
		over = false
	}
	if over && (!runs || w.choose(ChooseTimer, 2, func(i int) string { return overNames[i] }) == 1) {
		g.h.timers.Bound(g.zoneID(), lo.own, zone.Inf)
		if skew {
			w.skew.Bound(g.h.inAll(g.zoneID()), lo.real, zone.Inf)
		}
		if !g.h.looked { // as in fire
			g.h.clock = max(g.h.clock, g.deadline)
		}
		o.fired = true
		return
	}
	o.armed = true
	g.waiting++
	g.h.timers.Bound(g.zoneID(), 0, hi)
	g.h.timers.Window(g.zoneID(), lo.own, hi)
	if skew {
		w.skew.Bound(g.h.inAll(g.zoneID()), 0, hi)
		w.skew.Window(g.h.inAll(g.zoneID()), lo.real, hi)
	}
}

var overNames = [...]string{"its timeout has not expired", "its timeout has expired"}

// disarm ends a wait before the timer fires. The timer keeps running, and fires if another task waits for it.
func (g *gather) disarm() {
	if !g.aged { // the host's life is over, or no call is pending
		return
	}
	if g.waiting--; g.waiting > 0 {
		return
	}
	w := g.h.w
	lo, _ := ratioOf(w.cfg.Timers).span(g.span)
	g.h.timers.Window(g.zoneID(), lo.own, zone.Inf)
	if w.cfg.Timers.Regime == faults.Skew {
		w.skew.Window(g.h.inAll(g.zoneID()), lo.real, zone.Inf)
	}
}

// forget removes the timer from the zones. No task will wait for it again.
func (g *gather) forget() {
	if !g.aged {
		return
	}
	w := g.h.w
	g.aged = false
	w.touch(g.h.clockObject(), Write)
	g.h.timers.Drop(g.zoneID())
	if w.cfg.Timers.Regime == faults.Skew {
		w.skew.Drop(g.h.inAll(g.zoneID()))
	}
}
