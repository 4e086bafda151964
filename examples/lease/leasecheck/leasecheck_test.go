package leasecheck_test

import (
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/examples/lease"
	"github.com/verbatim-rdma/verbatim/examples/lease/leasecheck"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/audit"
)

func named(t *testing.T, name string) *explore.Scenario {
	t.Helper()
	s := explore.Named(leasecheck.Scenarios(), "lease/"+name)
	if s == nil {
		t.Fatalf("there is no lease/%s", name)
	}
	return s
}

// What is right is so whatever timers do: in the first runs, which meet the hard cases. `verbatim check lease`, a step
// of CI, checks all, with a reader that reads twice.
func TestFenced(t *testing.T) {
	r, err := explore.Check(leasecheck.Locked("fenced", "free", 0, "", (*lease.Lock).Add), explore.Options{MaxRuns: 20_000})
	if err != nil || r.Verdict != explore.RanOut {
		t.Fatalf("%+v, %v", r, err)
	}
	for _, c := range r.Sometimes {
		if !c.Met {
			t.Errorf("never met: %s", c.Name)
		}
	}
}

// A lease that is trusted is verified under idle, and the verdict says what that rests on.
// Under free and skew it is violated.
func TestTrustingIsCaught(t *testing.T) {
	s := named(t, "trusting")
	// CI checks all of lease/trusting, and the test of docs/lease.md that it is verified; here are its first runs.
	r, err := explore.Check(s, explore.Options{MaxRuns: 500})
	if err != nil || r.Verdict != explore.RanOut {
		t.Fatalf("under idle: %+v, %v", r, err)
	}
	if r.Time() != "idle: a timer fires only when nothing else can happen" || r.Warning() == "" {
		t.Errorf("the verdict says %q and warns %q", r.Time(), r.Warning())
	}
	for _, timers := range []string{"free", "skew(1)", "skew(1.1)"} {
		r, err := explore.Check(s, explore.Options{Timers: timers, NoShrink: true})
		if err != nil || r.Verdict != explore.Violated || r.Counterexample.Class != "lost-count" {
			t.Errorf("under %s: %+v, %v", timers, r, err)
		}
	}
}

// The margin is as large as the ratio of the clocks asks for, and not larger than it is.
func TestMargin(t *testing.T) {
	for _, tt := range []struct {
		timers string
		margin time.Duration
		want   explore.Verdict
	}{
		{"", lease.Margin, explore.Verified}, {"skew(1)", lease.Lease, explore.Verified}, {"idle", lease.Lease, explore.Verified},
		{"skew(1.51)", lease.Margin, explore.Violated}, {"skew(1.1)", lease.Lease, explore.Violated}, {"free", lease.Margin, explore.Violated},
	} {
		r, err := explore.Check(leasecheck.Cached("margin", tt.margin), explore.Options{Timers: tt.timers})
		if err != nil || r.Verdict != tt.want {
			t.Errorf("timers %q, margin %v: %+v, %v", tt.timers, tt.margin, r, err)
			continue
		}
		t.Log(r.Timers, tt.margin, r.Verdict, r.Runs, r.States, r.Elapsed, r.Sometimes)
	}
}

// The rules of the search hold in these scenarios: what the checks remember is reported.
func TestAudit(t *testing.T) {
	for _, s := range leasecheck.Scenarios() {
		r := audit.Test(t, s, audit.Options{Runs: 40, Explore: explore.Options{MaxTime: time.Second}})
		if r.Tried[audit.Commute] == 0 || r.Tried[audit.Twins] == 0 {
			t.Errorf("%s: that tests too little: %v", s.Name, r.Tried)
		}
	}
}
