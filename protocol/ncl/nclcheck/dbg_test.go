package nclcheck_test

import (
	"testing"
	"sort"
	"time"
	"runtime/debug"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/protocol/ncl/nclcheck"
)

func TestDbg(t *testing.T) {
	debug.SetGCPercent(800)
	for _, s := range nclcheck.Scenarios() {
		for _, o := range []explore.Options{{}} {
			explore.DebugHist = map[string]int{}
			o.MaxTime = 40 * time.Second
			r, err := explore.Check(s, o)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s %s: runs %d states %d edges %d choices %d depth %d in %v eager 10^%.1f remaining %.0f outcomes %d reason %v", s.Name, r.Verdict, r.Runs, r.States, r.Edges,
				r.Choices, r.MaxDepth, r.Elapsed, r.EagerLog10, r.Remaining, len(r.Outcomes), r.Reason)
			t.Log(r.Sometimes)
			var ks []string
			for k := range explore.DebugHist { ks = append(ks, k) }
			sort.Slice(ks, func(i,j int) bool { return explore.DebugHist[ks[i]] > explore.DebugHist[ks[j]] })
			for _, k := range ks[:min(12,len(ks))] { t.Log(explore.DebugHist[k], k) }
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
		}
	}
}
