package litmus_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/litmus"
	"github.com/verbatim-rdma/verbatim/litmus/lang"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// pointed returns the kind and the line of the test for each event of a run that has a line.
func pointed(t *testing.T, text, outcome string) []string {
	t.Helper()
	test, err := litmus.Parse("x", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s, err := litmus.Compile(test, outcome)
	if err != nil {
		t.Fatal(err)
	}
	r, err := explore.Check(s, explore.Options{Profile: "relaxed", Workers: 1})
	if err != nil || r.Counterexample == nil {
		t.Fatal(r, err)
	}
	re, err := r.Counterexample.ReplayFull(s)
	if err != nil {
		t.Fatal(err)
	}
	if err := litmus.PointAtLines(re, s.Text, "file"); err != nil {
		t.Fatal(err)
	}
	var out []string
	lines := strings.Split(text, "\n")
	for i := range re.Events {
		e := &re.Events[i]
		_, number, ok := strings.Cut(e.Source, ":")
		if !ok || e.Kind == "log" {
			continue
		}
		if e.File != "file" || !strings.HasPrefix(e.Source, test.Name+lang.Ext+":") {
			t.Errorf("event %d points at %s in %s", i, e.Source, e.File)
		}
		n, _ := lineNumber(number)
		out = append(out, e.Kind+": "+strings.TrimSpace(lines[n-1]))
	}
	return out
}

func lineNumber(s string) (n int, ok bool) {
	for _, c := range s {
		n = 10*n + int(c-'0')
	}
	return n, s != ""
}

const twoHosts = `litmus mp
doc    A flag after data.
source test 1
rule   placement-order
hosts  A B
dram   B: d f

thread A
  write d <- 1
  write f <- 1

thread B
  r1 = load f
  r2 = load d

exists r1 == 1 && r2 == 0
  * Y
`

// Each event of a run points at its statement, and the violation points at the outcome.
func TestPointsAtLines(t *testing.T) {
	want := []string{"post: write d <- 1", "post: write f <- 1", "land: r1 = load f", "load: r1 = load f", "load: r2 = load d", "violation: exists r1 == 1 && r2 == 0"}
	if diff := cmp.Diff(want, pointed(t, twoHosts, "exists")); diff != "" {
		t.Error(diff)
	}
	if err := litmus.PointAtLines(&explore.Replay{}, "no test", "file"); err == nil {
		t.Error("PointAtLines accepts a text that is not a test")
	}
}

// An event points at no line if it may belong to another thread, to the machine or to another life.
func TestPointsAtNoLine(t *testing.T) {
	text := strings.Replace(twoHosts, "exists", "thread B2 on B\n  r3 = load f\n\nexists", 1)
	note := func(host, text string, step int) sim.TraceEvent {
		return sim.TraceEvent{Host: host, Kind: "log", Text: text, Step: step, Source: "exec.go:1"}
	}
	event := func(host, kind string, step int) sim.TraceEvent {
		return sim.TraceEvent{Host: host, Kind: kind, Step: step, Source: "exec.go:2"}
	}
	crash := event("A", "crash", 4)
	crash.Source = ""
	re := &explore.Replay{Events: []sim.TraceEvent{note("A", "9: write d <- 1", 1), event("A", "post", 1), event("A", "completion", 3), crash,
		event("A", "start", 5), event("A", "alloc", 5), note("B", "13: r1 = load f", 6), event("B", "load", 6), event("B", "land", 7)}}
	if err := litmus.PointAtLines(re, text, "file"); err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range re.Events {
		got = append(got, re.Events[i].Kind+" "+re.Events[i].Source)
	}
	want := []string{"log mp.litmus:9", "post mp.litmus:9", "completion mp.litmus:9", "crash ", "start ", "alloc ", "log mp.litmus:13", "load mp.litmus:13", "land "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// If two threads run on a host, an event in a later step may belong to either, so it points at no line. An event that no
// code caused has no line either, and an event at the start or the end of a host has none, because the last statement
// has finished.
func TestPointsNowhere(t *testing.T) {
	for threads, want := range map[string][]string{
		"thread B\n": {"mp:14", "mp:14", "mp:14", "", "", "", "mp:18", "mp:18"},
		"thread W on B\n  r3 = load d\n\nthread B\n": {"mp:14", "mp:14", "", "", "", "", "mp:18", ""},
	} {
		events := []sim.TraceEvent{{Kind: "log", Text: "14: r1 = load f"}, {Kind: "load"}, {Kind: "load", Step: 1}, {Kind: "land"}, {Kind: "end"}, {Kind: "load"},
			{Kind: "log", Text: "18: r2 = load d"}, {Kind: "load", Step: 1}}
		for i := range events {
			if events[i].Host = "B"; events[i].Kind != "land" {
				events[i].Source = "code.go:1"
			}
		}
		if err := litmus.PointAtLines(&explore.Replay{Events: events}, strings.Replace(twoHosts, "thread B\n", threads, 1), "file"); err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range events {
			got = append(got, strings.Replace(events[i].Source, lang.Ext, "", 1))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", threads, diff)
		}
	}
}
