package command

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
)

// The list shows for each scenario whether it takes hours, and names the defaults.
func TestListJSON(t *testing.T) {
	useDemo(t)
	code, out, stderr := call("list", "--json")
	for line := range strings.Lines(out) {
		var x listed
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			t.Fatal(err)
		}
		if x.Deep != (x.Name == "demo/deep") || x.Profile != "strong" || x.Faults != "none" || !strings.HasPrefix(x.Timers, "idle") || x.Strategy != "exhaustive" {
			t.Errorf("%+v", x)
		}
	}
	if code != 0 || strings.Count(out, "\n") != 4 {
		t.Errorf("status %d: %s%s", code, out, stderr)
	}
}

// What is not known is null, and what remains is known of a search that ran out.
func TestResultJSON(t *testing.T) {
	for _, x := range []struct {
		r     explore.Result
		wants []string
	}{
		{explore.Result{Verdict: explore.RanOut, Strategy: explore.Exhaustive, Remaining: 0.5, Sampled: 7, EagerLog10: -1, Elapsed: 1500 * time.Millisecond},
			[]string{`"seconds":1.5,`, `"remaining":0.5`, `"eager_log10":null`, `"sampled":7`, `"reason":null`, `"sometimes":[]`}},
		{explore.Result{Verdict: explore.Violated, Strategy: explore.Exhaustive, Remaining: 0.5, EagerLog10: 2, Counterexample: &explore.Counterexample{Class: "lost", Message: "one"}},
			[]string{`"remaining":null`, `"eager_log10":2`, `"reason":"lost: one"`}},
		{explore.Result{Verdict: explore.Unknown, Strategy: explore.Random, EagerLog10: 2, Reason: errors.New("it hangs"), Sometimes: []explore.Condition{{Name: "met", Met: true}}},
			[]string{`"eager_log10":null`, `"reason":"it hangs"`, `"sometimes":[{"name":"met","met":true}]`}},
		{explore.Result{Verdict: explore.RanOut, Remaining: math.NaN(), Strategy: explore.Exhaustive, EagerLog10: math.Inf(1)},
			[]string{`"remaining":null`, `"eager_log10":null`}},
	} {
		var b strings.Builder
		if err := writeJSON(&b, &x.r, nil, ""); err != nil {
			t.Fatal(err)
		}
		for _, want := range x.wants {
			if !strings.Contains(b.String(), want) {
				t.Errorf("no %s in %s", want, &b)
			}
		}
	}
}
