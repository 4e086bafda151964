package explore_test

import (
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
)

// A Send in flight when its sender terminates, or when acknowledgements stop, may never
// arrive. The receiver then waits forever: a deadlock, in both modes.
func TestLostSendIsADeadlock(t *testing.T) {
	for _, x := range []struct{ code, faults string }{
		{"a: send b 0 1 | b: recv a 0; wait a", "break(a,b)<=1"},
		{"a: send b 0 1 | b: recv a 0; wait a", "crash(a)<=1"},
		{"a: send b 0 1 | b: recv a 0; wait a", "cut(a,b)<=1"},
	} {
		for _, eager := range []bool{false, true} {
			r, err := explore.Check(rigScenario(x.code, x.faults, false, 7), explore.Options{Eager: eager, NoShrink: true})
			if err != nil {
				t.Fatal(err)
			}
			if r.Verdict != explore.Violated || r.Counterexample.Class != "deadlock" {
				t.Errorf("%s under %s, eager %v: %v", x.code, x.faults, eager, r.Verdict)
			}
		}
	}
}
