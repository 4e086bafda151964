package mirror_test

import (
	"testing"

	"github.com/verbatim-rdma/verbatim/examples/mirror"
	"github.com/verbatim-rdma/verbatim/explore"
)

func TestWrite(t *testing.T) {
	explore.Test(t, mirror.Scenario("write", (*mirror.Register).Write))
}

// What is wrong is caught, by runs that a person can follow: so many steps and
// decisions at most.
func TestWrongIsCaught(t *testing.T) {
	const short = 30
	for _, tt := range []struct {
		name    string
		write   func(*mirror.Register, uint64) error
		profile string
	}{
		{"one completion is enough", (*mirror.Register).WriteOne, "strong"},
		{"all at once", (*mirror.Register).WriteAll, "strong"},
		{"a card that promises less", (*mirror.Register).Write, "relaxed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := mirror.Scenario("wrong", tt.write)
			r, err := explore.Check(s, explore.Options{Profile: tt.profile, Workers: 1}) // so that it is always the same run
			if err != nil {
				t.Fatal(err)
			}
			if r.Verdict != explore.Violated || r.Counterexample.Class != "not-linearizable" {
				t.Fatalf("%s: %v %+v", r.Verdict, r.Reason, r.Counterexample)
			}
			again, err := r.Counterexample.Replay(s)
			if err != nil {
				t.Fatal(err)
			}
			steps := again.Events[len(again.Events)-1].Step
			if n := steps + len(r.Counterexample.Decisions); n > short {
				t.Errorf("%d steps and decisions; at most %d are short", n, short)
			}
		})
	}
}
