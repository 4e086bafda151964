package sim

import (
	"time"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/verbs/sim/zone"
)

// Looks at clocks, in the regimes free and skew. Between two looks of a host, any time may have passed that its own
// timers allow, and with skew the timers of all hosts. A look tries the shortest and the longest of these times:
// code compares the elapsed time with one bound, and these two lie on its two sides if any do. Code that compares
// with several bounds may behave differently in between. That is not tried, and every verdict reports this.
//
// A look is a timer that never fires: its age in the zones is the time since the look.
// It is taken at a whole nanosecond of the host's clock.

// Long is how much later than necessary a look finds a clock that nothing bounds.
const Long = 24 * time.Hour

// lookID is the ID of a look in the zone of its host.
const lookID = 1<<24 - 1

// lookZoneID returns its ID in the zone of all hosts.
func (h *Host) lookZoneID() uint64 { return h.inAll(lookID) }

// look advances the clock to where a look finds it.
func (h *Host) look() {
	w := h.w
	lo, hi := h.passed()
	if lo > hi {
		// The zones have lost information, and no clocks reach this state.
		w.Abandon()
		return
	}
	d := lo
	if hi = min(hi, lo+h.long()); w.choose(ChooseClock, 1+boolInt(hi > lo), func(i int) string { return lookNames[i] }) == 1 {
		d = hi
	}
	h.passes(d)
}

var lookNames = [...]string{"as early as it can be", "as late as it can be"}

// long returns Long, reduced so that a thousand times as much fits the zones.
func (h *Host) long() int64 { return min(int64(Long), zone.Max>>10/ratioOf(h.w.cfg.Timers).num) }

// passed returns how much time may have passed on the host's clock since the last look.
// Before the first look that may be any time.
func (h *Host) passed() (lo, hi int64) {
	if !h.looked {
		return 0, zone.Inf
	}
	r := ratioOf(h.w.cfg.Timers)
	own, late := h.timers.Age(lookID)
	lo, hi = ceil(own, r.num), floor(late, r.num)
	if h.w.cfg.Timers.Regime == faults.Skew {
		real, late := h.w.skew.Age(h.lookZoneID())
		lo, hi = max(lo, ceil(real, r.num)), min(hi, floor(late, r.den))
	}
	return lo, hi
}

func ceil(x, by int64) int64 { return (x + by - 1) / by }

func floor(x, by int64) int64 {
	if x >= zone.Inf {
		return zone.Inf
	}
	return x / by
}

// passes records that d has passed on the host's clock since the last look.
func (h *Host) passes(d int64) {
	r := ratioOf(h.w.cfg.Timers)
	h.clock += time.Duration(d)
	h.timers.Look(lookID, d*r.num, d*r.num)
	if h.w.cfg.Timers.Regime == faults.Skew {
		h.w.skew.Look(h.lookZoneID(), d*r.den, d*r.num)
	}
	h.looked = true
}

// lookAway forgets the last look of a host that has terminated. It records no use of the
// zone of all hosts: a timer that never fires bounds only itself, so forgetting it
// commutes with every event of other hosts, and nothing else reads it.
func (h *Host) lookAway() {
	for _, g := range h.gaths {
		g.forget()
	}
	if !h.looked {
		return
	}
	h.w.touch(h.clockObject(), Write)
	if h.w.cfg.Timers.Regime == faults.Skew {
		h.w.skew.Drop(h.lookZoneID())
	}
	h.timers.Drop(lookID)
	h.looked = false
}
