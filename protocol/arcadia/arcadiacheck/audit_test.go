package arcadiacheck_test

import (
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/audit"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia/arcadiacheck"
)

// The rules by which the search omits steps hold in the scenarios of this protocol.
func TestSearchRulesHold(t *testing.T) {
	for _, s := range arcadiacheck.Scenarios() {
		t.Run(s.Name, func(t *testing.T) {
			r := audit.Test(t, s, audit.Options{Runs: 10, Explore: explore.Options{MaxTime: time.Millisecond}})
			t.Log(r.Tried)
		})
	}
}
