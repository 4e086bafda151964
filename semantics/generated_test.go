package semantics_test

import (
	"errors"
	"flag"
	"testing"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/litmus"
	"github.com/verbatim-rdma/verbatim/litmus/generate"
	"github.com/verbatim-rdma/verbatim/semantics"
)

var size = flag.Int("size", 2, "size of the programs of package generate that are compared")

// The two machines agree on all programs of package generate up to a size.
func TestGeneratedProgramsEndAlike(t *testing.T) {
	compared, large := 0, 0
	for _, p := range generate.All(*size) {
		test := p.Test()
		for _, profile := range faults.ProfileNames() {
			got, err := semantics.Run(test, profile, *limit)
			if errors.Is(err, semantics.ErrLimit) {
				large++
				continue
			}
			want, err2 := litmus.Run(test, profile, litmus.Options{NoRuns: true})
			if err != nil || err2 != nil || want.Reason != nil {
				t.Errorf("%s %s: %v / %v / %v", test.Name, profile, err, err2, want.Reason)
				continue
			}
			compared++
			if d := diff(got.Finals, want.Finals); d != "" {
				t.Errorf("%s under %s:\n%s", test.Name, profile, d)
			}
		}
	}
	t.Log(compared, "compared", large, "too large")
}
