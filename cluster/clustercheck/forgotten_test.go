package clustercheck_test

import (
	"testing"

	"github.com/verbatim-rdma/verbatim/cluster/clustercheck"
	"github.com/verbatim-rdma/verbatim/explore"
)

// What the documents say of a controller that comes back empty is not more than what holds: a
// file that is made again can be lost. The question before each change leaves a moment in which
// the process must have been stopped, and no more. If this is verified some day, the documents
// can promise it.
func TestForgotten(t *testing.T) {
	for _, guarded := range []bool{false, true} {
		r, err := explore.Check(clustercheck.Forgotten(guarded), explore.Options{Workers: 1})
		if err != nil || r.Verdict != explore.Violated || r.Counterexample.Class != "lost-acknowledged-write" {
			t.Fatalf("guarded %v: %+v, %v", guarded, r, err)
		}
		t.Logf("guarded %v: %d runs, %v", guarded, r.Runs, r.Elapsed)
	}
}
