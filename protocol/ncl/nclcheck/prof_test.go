package nclcheck_test

import (
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/protocol/ncl/nclcheck"
)

func TestProf(t *testing.T) {
	s := nclcheck.Scenarios()[0]
	r, err := explore.Check(s, explore.Options{Faults: "crash(peer*)<=1", Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(r.Runs, r.States, r.Elapsed, float64(r.Runs)/r.Elapsed.Seconds(), r.Steps)
	r, err = explore.Check(s, explore.Options{Faults: "crash(peer*)<=1", Workers: 1, Strategy: "random", MaxRuns: 20000})
	t.Log(r.Runs, r.States, r.Elapsed, float64(r.Runs)/r.Elapsed.Seconds(), r.Steps)
}
