package clustercheck_test

import (
	"testing"

	"github.com/verbatim-rdma/verbatim/cluster/clustercheck"
	"github.com/verbatim-rdma/verbatim/explore"
)

// The documents promise no more than the package guarantees for a controller that restarts empty:
// a file that is created again can be lost. Asking before each change leaves only one
// moment at which the process must be stopped. If this is verified some day, the
// documents can promise it.
func TestForgotten(t *testing.T) {
	for _, guarded := range []bool{false, true} {
		r, err := explore.Check(clustercheck.Forgotten(guarded), explore.Options{Workers: 1})
		if err != nil || r.Verdict != explore.Violated || r.Counterexample.Class != "lost-acknowledged-write" {
			t.Fatalf("guarded %v: %+v, %v", guarded, r, err)
		}
		t.Logf("guarded %v: %d runs, %v", guarded, r.Runs, r.Elapsed)
	}
}
