package programs_test

import (
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/programs"
)

// Whether a task pauses before an operation depends on whether another task of its host has ended. Both ways end in the
// same state, so both must be the same observation; otherwise each state after the operation is there twice.
func TestPausingIsNoState(t *testing.T) {
	fewStates(t, "strong linger | a: go {}; lock; unlock; deaf; counter | b:", 45)
	fewStates(t, "strong | a daemon: go {}; acceptconn; counter; counter | b: connect a", 56)
	fewStates(t, "strong timers=free | a: go {}; counter; taccept 1; counter | b:", 51)
}

// What a host that has ended sent is no part of the state when it has been received.
func TestWhatWasReceivedIsNoState(t *testing.T) {
	fewStates(t, "strong | a daemon: recv b; recv b; go {wait b 1}; accept | b daemon: rand 2; ?0 sendimm a 1 z; ?1 sendimm a 2 z; send a 3 z | c:", 105)
}

// fewStates checks that a search of a program finds no more states than there are.
func fewStates(t *testing.T, text string, most uint64) {
	t.Helper()
	p, err := programs.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	r, err := explore.Check(p.Scenario(), explore.Options{EveryOrder: true})
	if err != nil || r.Verdict != explore.Verified {
		t.Fatalf("%s: %v, %v", text, r.Verdict, err)
	}
	if r.States > most {
		t.Errorf("%s: %d states, more than %d", text, r.States, most)
	}
}
