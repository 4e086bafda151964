package leasecheck_test

import (
	"os"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/examples/lease/leasecheck"
	"github.com/verbatim-rdma/verbatim/explore"
)

func TestX(t *testing.T) {
	for _, leasecheck.Times = range []int{1, 2} {
		for _, s := range leasecheck.Scenarios() {
			for _, timers := range []string{"idle", "free", "skew(1.1)"} {
				r, err := explore.Check(s, explore.Options{Timers: timers, MaxTime: 100 * time.Second, Faults: os.Getenv("F")})
				if err != nil {
					t.Fatal(err)
				}
				t.Log(s.Name, timers, r.Verdict, r.Runs, r.States, r.Elapsed, r.Sometimes, r.Reason)
				if r.Counterexample != nil {
					t.Log(r.Counterexample.Message)
				}
			}
		}
	}
}
