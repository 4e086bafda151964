package nclcheck_test

import (
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/protocol/ncl/nclcheck"
)

func TestScenarios(t *testing.T) {
	for _, s := range nclcheck.Scenarios() {
		t.Run(s.Name, func(t *testing.T) {
			r, err := explore.Check(s, explore.Options{MaxTime: 20 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s: runs %d states %d edges %d choices %d depth %d in %v eager 10^%.1f remaining %.0f outcomes %d reason %v", r.Verdict, r.Runs, r.States, r.Edges,
				r.Choices, r.MaxDepth, r.Elapsed, r.EagerLog10, r.Remaining, len(r.Outcomes), r.Reason)
			t.Logf("%+v", r.Sometimes)
			if r.Counterexample != nil {
				t.Logf("%+v", r.Counterexample)
				rep, err := r.Counterexample.Replay(s)
				t.Log(err)
				if rep != nil {
					for _, e := range rep.Events {
						t.Logf("%3d %-6s %-6s %-10s %s %s", e.Step, e.Host, e.Peer, e.Kind, e.Text, e.Source)
					}
				}
			}
		})
	}
}
