package nclcheck_test

import (
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/audit"
	"github.com/verbatim-rdma/verbatim/protocol/ncl/nclcheck"
)

// The premises of the search's reductions hold in NCL's scenarios.
func TestSearchRulesHold(t *testing.T) {
	for _, s := range nclcheck.Scenarios() {
		t.Run(s.Name, func(t *testing.T) {
			r := audit.Test(t, s, audit.Options{Runs: 50, Explore: explore.Options{MaxTime: time.Millisecond}})
			t.Log(r.Tried)
		})
	}
}
