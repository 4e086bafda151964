package nclcheck_test

import (
	"testing"
	"runtime/debug"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/protocol/ncl/nclcheck"
)

func TestProf(t *testing.T) {
	debug.SetGCPercent(800)
	s := nclcheck.Scenarios()[0]
	r, err := explore.Check(s, explore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(r.Runs, r.States, r.Elapsed, float64(r.Runs)/r.Elapsed.Seconds(), r.Steps)
}
