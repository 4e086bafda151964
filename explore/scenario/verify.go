package scenario

import (
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
)

// Verify checks a scenario in a Go test, like [explore.Test], and requires more: it
// must be verified, and the search must have met each condition of the scenario. A
// search that never met the hard cases proves nothing. At most one Options may be
// given.
func Verify(t testing.TB, s *explore.Scenario, opts ...explore.Options) *explore.Result {
	t.Helper()
	if s == nil || len(opts) > 1 {
		t.Fatalf("scenario.Verify takes a scenario and at most one Options, got %v and %d", s, len(opts))
		return nil
	}
	r, err := explore.Check(s, append(opts, explore.Options{})[0])
	if err != nil {
		t.Fatalf("%s: %v", s.Name, err)
		return nil
	}
	if r.Verdict != explore.Verified {
		t.Errorf("%s: %s: %v %+v", s.Name, r.Verdict, r.Reason, r.Counterexample)
	}
	for _, c := range r.Sometimes {
		if !c.Met {
			t.Errorf("%s never met the condition: %s", s.Name, c.Name)
		}
	}
	t.Logf("%s: %d runs, %d states in %v", s.Name, r.Runs, r.States, r.Elapsed)
	return r
}
