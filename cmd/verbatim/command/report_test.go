package command

import (
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
)

// A stopped search reports what stopped it, and how to continue.
func TestStoppedSearchSaysHowItContinues(t *testing.T) {
	for _, x := range []struct {
		save, strategy     string
		saved, interrupted bool
		want, not          string
	}{
		{"a b", explore.Exhaustive, true, true, "demo/x: RAN OUT: interrupted; nothing was found, and nothing is verified\n", "a limit came first"},
		{"a b", explore.Exhaustive, true, false, "demo/x: RAN OUT: a limit came first", "interrupted"},
		{"a b", explore.Exhaustive, true, true, "  continue    with the same command and --resume 'a b'\n", "--save"},
		{"a b", explore.Exhaustive, false, true, "RAN OUT", "continue"},
		{"", explore.Exhaustive, true, true, "  continue    not possible: the search was not saved; with --save FILE", "--resume"},
		{"", explore.Random, true, true, "RAN OUT", "continue"},
	} {
		f := &checkFlags{}
		f.opt.Save = x.save
		var b strings.Builder
		if err := f.report(&b, &finding{s: &explore.Scenario{Name: "demo/x"}, r: &explore.Result{Verdict: explore.RanOut, Strategy: x.strategy},
			saved: x.saved, interrupted: x.interrupted}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), x.want) || strings.Contains(b.String(), x.not) {
			t.Errorf("%+v:\n%s", x, &b)
		}
	}
}

// The brief report has every assumption and every limitation of a verdict.
func TestBriefReportNamesWhatItRestsOn(t *testing.T) {
	r := &explore.Result{Verdict: explore.Verified, Strategy: explore.Exhaustive, Profile: "strong", Faults: "crash(a)<=1", Bounds: "two hosts",
		Exhausted: true, Runs: 3, States: 4, Sometimes: []explore.Condition{{Name: "both", Met: true}, {Name: "none"}}}
	var b strings.Builder
	if err := (&checkFlags{}).report(&b, &finding{s: &explore.Scenario{Name: "demo/x"}, r: r}); err != nil {
		t.Fatal(err)
	}
	const want = `demo/x: VERIFIED within the bounds below
  assumes     profile strong; faults crash(a)<=1; timers idle
  bounds      two hosts
  search      3 runs, 4 states; 0.0 s; exhausted; 1 of 2 conditions reached
  never       none

`
	if b.String() != want {
		t.Errorf("%s\nwant\n%s", &b, want)
	}
	r.Sometimes = nil
	b.Reset()
	if err := (&checkFlags{}).report(&b, &finding{s: &explore.Scenario{Name: "demo/x"}, r: r, interrupted: true}); err != nil {
		t.Fatal(err)
	}
	for _, has := range []string{"demo/x: VERIFIED within the bounds below\n", "; 0.0 s; exhausted\n"} {
		if !strings.Contains(b.String(), has) {
			t.Errorf("Ctrl-C came too late, and there are no conditions: want %q:\n%s", has, &b)
		}
	}
}
