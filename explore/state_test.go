package explore

import (
	"slices"
	"testing"
	"unsafe"

	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// A search keeps every state: what one takes is what bounds it.
func TestStateIsSmall(t *testing.T) {
	if n := unsafe.Sizeof(state{}); n > 32 {
		t.Errorf("a state takes %d bytes, where 32 did", n)
	}
}

func newStates() *states {
	s := &states{}
	s.init(false)
	return s
}

// States are told apart by all bits of their fingerprints, and found again however much the
// table has grown.
func TestStatesAreKnownByTheWholePrint(t *testing.T) {
	s := newStates()
	var all []fingerprint.Print
	for i := range uint64(3000) {
		all = append(all, fingerprint.Print{A: 64 * i, B: 7}, fingerprint.Print{A: 7, B: i}, fingerprint.Print{A: i << 32, B: i << 40})
	}
	ids := map[fingerprint.Print]stateID{}
	for _, p := range all {
		id, known, _, _ := s.enter(state{print: p, parent: noState})
		if _, met := ids[p]; met != known {
			t.Fatalf("%v: known is %v", p, known)
		}
		ids[p] = id
	}
	for _, p := range all {
		if id, known, _, _ := s.enter(state{print: p, parent: noState}); !known || id != ids[p] {
			t.Fatalf("%v is state %d, and is found as %d (%v)", p, ids[p], id, known)
		}
	}
	if s.len() != uint64(len(ids)) {
		t.Errorf("%d states of %d fingerprints", s.len(), len(ids))
	}
}

// Who sleeps at a state is who slept for all its visitors: each visit wakes those who slept
// until then and do not for this visitor, and nobody twice.
func TestVisitorsWakeWhoSleepsNoLonger(t *testing.T) {
	s := newStates()
	for i, x := range []struct{ asleep, wake, left []sim.Actor }{
		{[]sim.Actor{1, 2, 3, 4}, nil, nil},
		{[]sim.Actor{2, 3, 4, 5}, []sim.Actor{1}, []sim.Actor{2, 3, 4}},
		{[]sim.Actor{1, 4}, []sim.Actor{2, 3}, []sim.Actor{4}},
		{[]sim.Actor{2, 4}, nil, []sim.Actor{4}},
		{nil, []sim.Actor{4}, nil},
		{nil, nil, nil},
	} {
		_, known, wake, left := s.enter(state{parent: noState, asleep: s.sleepID(slices.Clone(x.asleep))})
		if known != (i > 0) || !slices.Equal(wake, x.wake) {
			t.Errorf("visit %d: %v wake, %v sleep on; want %v, %v", i, wake, left, x.wake, x.left)
		}
		if r := s.row(0); i > 0 && !slices.Equal(s.sleeps.at(r.asleep), x.left) {
			t.Errorf("visit %d: %v sleep from now on, want %v", i, s.sleeps.at(r.asleep), x.left)
		}
	}
}
