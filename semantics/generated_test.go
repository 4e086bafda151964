package semantics_test

import (
	"errors"
	"flag"
	"testing"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/litmus/generate"
	"github.com/verbatim-rdma/verbatim/semantics"
)

var size = flag.Int("size", 2, "size of the programs of package generate that are compared")

// The two machines reach the same final states in all programs of package generate up to
// a size.
func TestGeneratedProgramsEndAlike(t *testing.T) {
	compared, large := 0, 0
	for _, p := range generate.All(*size) {
		for _, profile := range faults.ProfileNames() {
			if err := alike(t, p.Test(), profile); errors.Is(err, semantics.ErrLimit) {
				large++
			} else {
				compared++
			}
		}
	}
	t.Logf("%d compared, %d too large", compared, large)
	if large > 0 {
		t.Error("raise -limit")
	}
}
