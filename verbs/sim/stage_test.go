package sim

import (
	"slices"
	"testing"
)

// An element that is dropped while it lands, because of others that land with it, stays
// dropped. Whether it had landed stays unknown if its memory is gone.
func TestWhatWasDroppedDoesNotLand(t *testing.T) {
	for name, end := range map[string]func(*elem){"lands": (*elem).lands, "pauses": (*elem).pauses} {
		for _, freed := range []bool{false, true} {
			e := &elem{reg: &region{freed: freed}}
			e.begins()
			e.drops()
			end(e)
			if !e.over() || !e.void() || e.unknown() != freed {
				t.Errorf("%s, memory freed %v: it is at stage %d", name, freed, e.stage)
			}
		}
	}
	e := &elem{}
	e.begins()
	e.pauses()
	if e.stage != pending {
		t.Errorf("the rest of what pauses never lands: it is at stage %d", e.stage)
	}
}

// An Atomic that reads is landing: the elements before it have been decided.
func TestAnAtomicThatReadsIsLanding(t *testing.T) {
	for s, want := range map[stage]bool{pending: false, landing: true, reading: true, landed: false, dropped: false, forgotten: false} {
		if e := (&elem{stage: s}); e.during() != want {
			t.Errorf("stage %d: landing is %v", s, !want)
		}
	}
}

// An element that a power failure tore landed in memory itself, if it landed: only elements in a cache are lost.
func TestTornIsNotLost(t *testing.T) {
	for h, want := range map[harm][2]bool{unharmed: {false, false}, torn: {true, false}, cached: {true, true}} {
		if e := (&elem{harm: h}); e.struck() != want[0] || e.lost() != want[1] {
			t.Errorf("harm %d: struck %v, lost %v", h, e.struck(), e.lost())
		}
	}
}

// An element that was passed over may have to land because of a later one that landed.
// So a sweep restarts after each change, and terminates after a pass without one.
func TestASweepBeginsAnew(t *testing.T) {
	list := []*elem{{}, {}, {}}
	var visits []int
	for all := sweep(&list); all.next(); {
		visits = append(visits, slices.Index(list, all.e))
		// Each element waits for the one behind it.
		if i := len(list) - 1; all.e == list[i] {
			list = list[:i]
			all.again()
		}
	}
	if want := []int{0, 1, 2, 0, 1, 0}; !slices.Equal(visits, want) {
		t.Errorf("it goes to %v, want %v", visits, want)
	}
}
