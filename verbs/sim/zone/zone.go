// Package zone holds the bounds on the time since some timers were set: a conjunction of bounds on
// their ages and on the differences of their ages, as a difference-bound matrix (Dill, CAV 1989).
// Together with the rules that a timer fires while its age is in [Lo, Hi], and that no age passes its
// Hi, this is a timed automaton (Alur and Dill, TCS 126, 1994) whose states are explored by zones.
//
// The package is a leaf: numbers in, numbers out, and no clock.
package zone

import "slices"

// Inf means that there is no bound. A timer with a Hi of Inf may fire at any later time.
const Inf = int64(1) << 62

// Max bounds the other numbers, so that sums of two do not overflow.
const Max = int64(1) << 60

// timer is a pending timer; its age is the clock of the matrix with the same index.
type timer struct {
	id     uint64
	lo, hi int64
}

// Zone is a set of ages of the pending timers. It is always closed under the passing of time:
// between two events any time may pass that no timer forbids. The zero value has no timers.
//
// m[i*(n+1)+j] bounds age i minus age j, where index 0 stands for the constant 0 and timer k has index
// k+1. It is canonical: no bound follows more tightly from others, so equal sets have equal matrices.
type Zone struct {
	timers []timer
	m      []int64
	spare  []int64
}

// Clear forgets all timers.
func (z *Zone) Clear() { z.timers, z.m = z.timers[:0], z.m[:0] }

// Len returns the number of pending timers.
func (z *Zone) Len() int { return len(z.timers) }

func (z *Zone) at(i, j int) *int64 { return &z.m[i*(len(z.timers)+1)+j] }

func (z *Zone) index(id uint64) (int, bool) {
	return slices.BinarySearchFunc(z.timers, id, func(t timer, id uint64) int {
		switch {
		case t.id < id:
			return -1
		case t.id > id:
			return 1
		}
		return 0
	})
}

// Set starts a timer now, replacing one with the same ID if there is one. It fires at an age in [lo, hi].
func (z *Zone) Set(id uint64, lo, hi int64) {
	z.Drop(id)
	k, _ := z.index(id)
	z.resize(func() { z.timers = slices.Insert(z.timers, k, timer{id, lo, hi}) }, k, -1)
	z.start(k)
}

// start sets the age of a timer to 0, and lets time pass.
func (z *Zone) start(k int) {
	for j := range len(z.timers) + 1 {
		if j != k+1 {
			*z.at(k+1, j) = *z.at(0, j)
			*z.at(j, k+1) = *z.at(j, 0)
		}
	}
	*z.at(k+1, k+1) = 0
	z.elapse()
}

// Drop forgets a timer: it never fires, and no longer holds up time.
func (z *Zone) Drop(id uint64) {
	k, ok := z.index(id)
	if !ok {
		return
	}
	z.resize(func() { z.timers = slices.Delete(z.timers, k, k+1) }, -1, k)
	z.elapse()
}

// CanFire reports whether the timer may fire now.
func (z *Zone) CanFire(id uint64) bool {
	k, ok := z.index(id)
	return ok && *z.at(k+1, 0) >= z.timers[k].lo
}

// Fire fires a timer that may fire (CanFire), and removes it.
func (z *Zone) Fire(id uint64) {
	k, ok := z.index(id)
	if !ok {
		return
	}
	b := z.at(0, k+1)
	*b = min(*b, -z.timers[k].lo)
	z.close()
	z.Drop(id)
}

// Age returns the bounds on the age of a timer.
func (z *Zone) Age(id uint64) (lo, hi int64) {
	k, ok := z.index(id)
	if !ok {
		return 0, Inf
	}
	return -*z.at(0, k+1), *z.at(k+1, 0)
}

// Look selects the moment at which the age of a timer is in [lo, hi], which must be possible,
// and restarts the timer. It is for timers that never fire and measure elapsed time.
func (z *Zone) Look(id uint64, lo, hi int64) {
	k, ok := z.index(id)
	if !ok {
		z.Set(id, 0, Inf)
		return
	}
	*z.at(0, k+1) = min(*z.at(0, k+1), -lo)
	*z.at(k+1, 0) = min(*z.at(k+1, 0), hi)
	z.close()
	z.start(k) // at this very moment: Drop would let time pass
}

// Bound restricts the age of a timer to [lo, hi]. The zone must allow such an age.
func (z *Zone) Bound(id uint64, lo, hi int64) {
	k, ok := z.index(id)
	if !ok {
		return
	}
	*z.at(0, k+1) = min(*z.at(0, k+1), -lo)
	*z.at(k+1, 0) = min(*z.at(k+1, 0), hi)
	z.close()
}

// Window makes a timer fire at an age in [lo, hi]. Its age must not exceed hi yet.
func (z *Zone) Window(id uint64, lo, hi int64) {
	k, ok := z.index(id)
	if !ok {
		return
	}
	z.timers[k].lo, z.timers[k].hi = lo, hi
	z.elapse()
}

// Append appends the canonical form to out: equal zones append equal numbers.
func (z *Zone) Append(out []uint64) []uint64 {
	for _, t := range z.timers {
		out = append(out, t.id, uint64(t.lo), uint64(t.hi))
	}
	if len(z.timers) > 0 {
		for _, b := range z.m {
			out = append(out, uint64(b))
		}
	}
	return out
}

// resize changes the timers and moves the bounds of those that stay. The timer with
// index added is new, or the one with index removed is gone.
func (z *Zone) resize(change func(), added, removed int) {
	old, was := append(z.spare[:0], z.m...), len(z.timers)+1
	if len(old) == 0 {
		old = append(old, 0)
		was = 1
	}
	change()
	n := len(z.timers) + 1
	z.m = slices.Grow(z.m[:0], n*n)[:n*n]
	from := func(i int) int {
		switch {
		case added >= 0 && i > added+1:
			return i - 1
		case removed >= 0 && i > removed:
			return i + 1
		}
		return i
	}
	for i := range n {
		for j := range n {
			if added < 0 || i != added+1 && j != added+1 {
				z.m[i*n+j] = old[from(i)*was+from(j)]
			}
		}
	}
	z.spare = old
}

// elapse lets time pass as far as the timers allow.
func (z *Zone) elapse() {
	for k, t := range z.timers {
		*z.at(k+1, 0) = t.hi
	}
	z.close()
}

// close makes the matrix canonical by shortest paths (Floyd and Warshall).
func (z *Zone) close() {
	n := len(z.timers) + 1
	for k := range n {
		for i := range n {
			ik := z.m[i*n+k]
			if ik >= Inf {
				continue
			}
			for j := range n {
				if kj := z.m[k*n+j]; kj < Inf && ik+kj < z.m[i*n+j] {
					z.m[i*n+j] = max(ik+kj, -Max) // forgetting a bound allows more behaviour, never less
				}
			}
		}
	}
}
