package programs_test

import (
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/programs"
)

// Whether a task pauses before an operation depends on whether another task of its host has ended. Both ways end in the
// same state, so both must be the same observation; otherwise each state after the operation is there twice.
func TestPausingIsNoState(t *testing.T) {
	for text, most := range map[string]uint64{ //lint:ordered each is searched
		"strong linger | a: go {}; lock; unlock; deaf; counter | b:":            45,
		"strong | a daemon: go {}; acceptconn; counter; counter | b: connect a": 56,
		"strong timers=free | a: go {}; counter; taccept 1; counter | b:":       51,
	} {
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
}
