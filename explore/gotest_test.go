package explore_test

import (
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// fakeT records the messages of a test.
type fakeT struct {
	testing.TB
	failed bool
	text   strings.Builder
}

func (f *fakeT) Helper()      {}
func (f *fakeT) Name() string { return "TestFlag/a b" }

func (f *fakeT) Logf(format string, args ...any) { fmt.Fprintf(&f.text, format+"\n", args...) }

func (f *fakeT) Errorf(format string, args ...any) {
	f.failed = true
	f.Logf(format, args...)
}

func (f *fakeT) Fatalf(format string, args ...any) { f.Errorf(format, args...) }

// flagBeforeData is violated if a card may place a later Write first.
func flagBeforeData() *explore.Scenario {
	return scenario("flag-before-data", "", func(x *tiny) []sim.Node {
		return []sim.Node{client("a", func(h host.Host, w *wire) {
			w.buf.Store64(0, 1)
			w.post(verbs.OpWrite, inl, 0, 8, 0)
			w.post(verbs.OpWrite, inl|sig, 0, 8, 8)
		}), serve(16, 1, func(h host.Host, r host.Region, _ verbs.MR, _ []verbs.QP, _ verbs.CQ) {
			if r.Load64(8) == 1 && r.Load64(0) == 0 {
				x.c.Fail(fmt.Errorf("the flag is up and the data is not there"))
			}
		})}
	})
}

func idle(host.Host, host.Region, verbs.MR, []verbs.QP, verbs.CQ) {}

func testWith(t *testing.T, s *explore.Scenario, opt explore.Options) *fakeT {
	t.Helper()
	f := &fakeT{}
	explore.Test(f, s, opt)
	return f
}

func wants(t *testing.T, f *fakeT, failed bool, texts ...string) {
	t.Helper()
	if f.failed != failed {
		t.Errorf("failed is %v, want %v:\n%s", f.failed, failed, f.text.String())
	}
	for _, s := range texts {
		if !strings.Contains(f.text.String(), s) {
			t.Errorf("%q is missing in:\n%s", s, f.text.String())
		}
	}
}

func TestTestVerdicts(t *testing.T) {
	t.Setenv(explore.EnvOut, t.TempDir())
	s := flagBeforeData()
	wants(t, testWith(t, s, explore.Options{}), false, "verified")
	wants(t, testWith(t, s, explore.Options{Strategy: explore.Random, MaxRuns: 50}), false, "clean")
	wants(t, testWith(t, s, explore.Options{MaxRuns: 1}), true, "nothing is verified")
	wants(t, testWith(t, s, explore.Options{Profile: "stong"}), true, "did you mean strong?")
	wants(t, testWith(t, s, explore.Options{MaxTime: time.Minute, Profile: "relaxed"}), true, "violation", "posts", "#1 lands",
		"small_test.go:", "the flag is up", "VERBATIM_REPLAY=", `-run '^TestFlag$/^a b$'`, "verbatim/explore\n", "explore.Replays(t, scenario,")
}

// A search that cannot be saved is reported with its findings.
func TestTestSaveFails(t *testing.T) {
	wants(t, testWith(t, flagBeforeData(), explore.Options{MaxRuns: 1, Save: filepath.Join(t.TempDir(), "none", "s")}), true,
		"save the search", "nothing is verified")
}

// A stopped sampling has not made all the runs requested.
func TestStoppedIsNotClean(t *testing.T) {
	for _, strategy := range []string{explore.Random, explore.PCT} {
		n := 0
		r, err := explore.Check(flagBeforeData(), explore.Options{Strategy: strategy, MaxRuns: 100, Workers: 1,
			Stop: func() bool { n++; return n > 5 }})
		if err != nil || r.Verdict != explore.RanOut || r.Runs != 5 || r.Remaining != 95 {
			t.Errorf("%s: %+v, %v", strategy, r, err)
		}
		r, err = explore.Check(flagBeforeData(), explore.Options{Strategy: strategy, MaxRuns: 100, Stop: func() bool { return false }})
		if err != nil || r.Verdict != explore.Clean || r.Runs != 100 {
			t.Errorf("%s: %+v, %v", strategy, r, err)
		}
	}
}

// An exhaustive search does not guess the number of remaining runs.
func TestStoppedSearchDoesNotGuessWhatRemains(t *testing.T) {
	r, err := explore.Check(flagBeforeData(), explore.Options{MaxRuns: 3, Workers: 1})
	if err != nil || r.Verdict != explore.RanOut || r.Remaining >= 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestReplayInsteadOfChecking(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(explore.EnvOut, dir)
	testWith(t, flagBeforeData(), explore.Options{Profile: "relaxed"})
	file := filepath.Join(dir, explore.FileName("small/flag-before-data"))
	t.Setenv(explore.EnvReplay, file)
	wants(t, testWith(t, flagBeforeData(), explore.Options{}), true, "still fails", "lands")
	other := flagBeforeData()
	other.Name = "small/other"
	wants(t, testWith(t, other, explore.Options{}), true, "is about scenario")
	fixed := scenario("flag-before-data", "", func(*tiny) []sim.Node { return []sim.Node{serve(8, 0, idle)} })
	wants(t, testWith(t, fixed, explore.Options{}), false, "no longer fails")
	t.Setenv(explore.EnvReplay, filepath.Join(dir, "none"))
	wants(t, testWith(t, fixed, explore.Options{}), true, "VERBATIM_REPLAY")
}

func TestRegressionTestIsGo(t *testing.T) {
	ce := &explore.Counterexample{Version: 1, Scenario: "ncl/two-writes", Profile: "strong", Faults: "none", Class: "lost",
		Message: "gone\r\n\x00for \"good\"", Decisions: []explore.Decision{{At: "a@1", Take: "b"}, {At: "a@2/order#0", Take: "`x`"}}}
	for range 2 {
		text := explore.RegressionTestOf(ce, "scenario()")
		got, err := format.Source([]byte(text))
		if err != nil {
			t.Fatalf("%v in:\n%s", err, text)
		}
		if string(got) != text {
			t.Errorf("gofmt changes the test to\n%s\nfrom\n%s", got, text)
		}
		if !strings.Contains(text, "func TestNclTwoWritesLost(t *testing.T)") {
			t.Errorf("another name in:\n%s", text)
		}
		ce.Decisions = nil
	}
}

func TestCommand(t *testing.T) {
	for file, want := range map[string]string{
		"a.json":      "replay a.json",
		"it's/a b":    `replay 'it'\''s/a b'`,
		"":            "replay ''",
		"$(rm)/*.txt": "replay '$(rm)/*.txt'",
	} {
		if got := explore.Command("p", file); got != "go run p "+want {
			t.Errorf("Command(%q) = %q, want go run p %s", file, got, want)
		}
	}
}

func TestSaveInMissingDirectory(t *testing.T) {
	ce := &explore.Counterexample{Version: 1, Scenario: "../x"}
	if _, err := ce.SaveIn(filepath.Join(t.TempDir(), "none")); !os.IsNotExist(err) {
		t.Errorf("got %v", err)
	}
}
