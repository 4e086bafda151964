package raftrcheck_test

import (
	"testing"

	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/protocol/raftr/raftrcheck"
)

func TestScenariosAreVerified(t *testing.T) {
	for _, s := range raftrcheck.Scenarios() {
		t.Run(s.Name, func(t *testing.T) { scenario.Verify(t, s) })
	}
}
