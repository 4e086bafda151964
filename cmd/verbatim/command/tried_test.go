package command

import (
	"strconv"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// A server remembers a bounded number of runs, and reports that it has forgotten others.
func TestTriedIsBounded(t *testing.T) {
	var all tried
	for i := range maxTried + 5 {
		all.add(&explore.Stand{Walk: explore.Walk{Steps: 3, Decisions: []explore.Decision{{At: strconv.Itoa(i)}}}, Replay: &explore.Replay{}, Ended: true})
	}
	if len(all.runs) != maxTried {
		t.Errorf("%d runs are remembered, and the bound is %d", len(all.runs), maxTried)
	}
	tree := all.tree(&explore.Stand{})
	if last := tree[len(tree)-1].Text; len(tree) != maxTried+1 || !strings.Contains(last, "only the first") {
		t.Errorf("%d lines, and the last does not say that some are left out: %s", len(tree), last)
	}
	if text := tree[0].Text; !strings.HasSuffix(text, "(ended after step 3)") {
		t.Errorf("a run that has ended is %q", text)
	}
}

// The description of a choice names the request, and reports whether it succeeds.
func TestDeeds(t *testing.T) {
	re := &explore.Replay{Hosts: []string{"a", "b"}, Record: &sim.Record{Requests: []sim.Request{
		{Op: "Write", Number: 5, Host: 0, Peer: 1, Status: "SUCCESS"}, {Op: "Read", Number: 6, Host: 0, Peer: 1, Status: "RETRY_EXC_ERR"}}}}
	for want, e := range map[string]sim.TraceEvent{
		"a sees the completion of Write #5 to b":         {Host: "a", Kind: "completion", Request: 0},
		"a sees that Read #6 to b failed: RETRY_EXC_ERR": {Host: "a", Kind: "completion", Request: 1},
		"a posts Write #5 to b":                          {Host: "a", Kind: "post", Request: 0},
		"b has a part of Write #5 of a in memory":        {Host: "b", Kind: "land", Request: 0},
		"b crashes": {Host: "b", Kind: "crash", Text: "crashes", Request: -1},
	} {
		if got := deed(re, &e); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}
