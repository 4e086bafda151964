package explore

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/explore/timeline"
)

// Environment variables of [Test].
const (
	// EnvOut names the directory for counterexamples; the default is the system's
	// directory for temporary files.
	EnvOut = "VERBATIM_OUT"
	// EnvReplay names a counterexample to replay instead of checking.
	EnvReplay = "VERBATIM_REPLAY"
)

// program is the command of this module, and builtin the packages whose scenarios it knows.
const program = "github.com/verbatim-rdma/verbatim/cmd/verbatim"

var builtin = []string{"github.com/verbatim-rdma/verbatim/protocol/", "github.com/verbatim-rdma/verbatim/examples/lease/"}

// Test checks a scenario in a Go test. It fails unless the verdict is [Verified], or
// [Clean] where the options or the scenario choose a sampling strategy. A violation is
// printed with its timeline, the command that replays it and a regression test. With
// VERBATIM_REPLAY=FILE in the environment it replays that counterexample instead. With
// VERBATIM_HTML=FOLDER it also writes a page, see [EnvHTML].
//
// The check stops shortly before the test's deadline (go test -timeout), with verdict [RanOut].
// With go test -v it reports its progress every few seconds.
//
// At most one Options may be given.
func Test(t testing.TB, s *Scenario, opts ...Options) {
	t.Helper()
	if s == nil || len(opts) > 1 {
		t.Fatalf("explore.Test takes a scenario and at most one Options, got %v and %d", s, len(opts))
		return
	}
	if file := os.Getenv(EnvReplay); file != "" {
		replayFile(t, s, file)
		return
	}
	var opt Options
	if len(opts) == 1 {
		opt = opts[0]
	}
	limit := deadlineOf(t, time.Now())
	limit.bound(&opt)
	if testing.Verbose() {
		opt.Progress = reporter(t, progressEvery, opt.Progress)
	}
	r, err := Check(s, opt)
	if r == nil {
		t.Fatalf("%s: %v", s.Name, err)
		return
	}
	if err != nil {
		t.Errorf("%s: %v", s.Name, err)
	}
	judge(t, s, r, limit, callingPackage(2))
}

// judge fails the test unless the verdict is good.
func judge(t testing.TB, s *Scenario, r *Result, limit *deadline, pkg string) {
	t.Helper()
	switch r.Verdict {
	case Verified, Clean:
		t.Logf("%s: %s with %s and faults %s: %d runs, %d states\n%s", s.Name, r.Verdict, r.Profile, r.Faults, r.Runs, r.States, timing(r))
	case Violated:
		t.Errorf("%s", violation(t, s, r.Counterexample, pkg))
		if w := r.Warning(); w != "" {
			t.Logf("warning: %s", w)
		}
	case RanOut:
		if r.Reason != nil {
			t.Errorf("%s: after %d runs and %d states: %v: nothing was found, and nothing is verified\n%s", s.Name, r.Runs, r.States, r.Reason, timing(r))
			return
		}
		t.Errorf("%s: %s ended the search after %d runs and %d states: nothing was found, and nothing is verified%s; %s\n%s",
			s.Name, limit.ended(), r.Runs, r.States, left(r.Remaining), limit.advice(), timing(r))
	default:
		text := fmt.Sprintf("%s: the check could not decide: %v\n%s", s.Name, r.Reason, timing(r))
		if r.Counterexample != nil {
			text += "\n\n" + violation(t, s, r.Counterexample, pkg)
		}
		t.Errorf("%s", text)
	}
}

// timing describes in lines what the verdict assumes about time.
func timing(r *Result) string {
	text := "timers " + r.Time()
	if w := r.Warning(); w != "" {
		text += "\nwarning: " + w
	}
	return text
}

func left(runs float64) string {
	if runs <= 0 {
		return ""
	}
	return fmt.Sprintf(" (%.3g runs are left)", runs)
}

// violation returns the text of a failed test.
func violation(t testing.TB, s *Scenario, ce *Counterexample, pkg string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s: %s\nwith %s, in a run of %d decisions\n\n", s.Name, ce.Class, ce.Message, ce.Bounded(), len(ce.Decisions))
	r, err := ce.Replay(s)
	if r != nil {
		_ = timeline.Write(&b, r.Timeline(), timeline.Options{})
	}
	if err != nil {
		fmt.Fprintf(&b, "\nand the replay failed: %v\n", err)
	}
	b.WriteString("\n" + howToReplay(t.Name(), s, ce, pkg))
	b.WriteString("\nA regression test, where scenario is this one:\n\n" + RegressionTest(ce))
	return b.String()
}

// howToReplay saves ce and describes how to replay it. It also writes the page of the run if EnvHTML is set.
func howToReplay(test string, s *Scenario, ce *Counterexample, pkg string) string {
	file := ""
	dir, err := filepath.Abs(cmp.Or(os.Getenv(EnvOut), os.TempDir())) // go test runs in the package's folder, and the user is elsewhere
	if err == nil {
		file, err = ce.SaveIn(dir)
	}
	if err != nil {
		return fmt.Sprintf("The counterexample could not be saved: %v\n", err)
	}
	text := "To replay it:\n"
	if slices.ContainsFunc(builtin, func(dir string) bool { return strings.HasPrefix(pkg, dir) }) {
		text += "  " + Command(program, file) + "\n"
	}
	again := EnvReplay + "=" + Quote(file) + " go test -count=1 -run " + Quote(pattern(test)) + " " + Quote(pkg)
	return text + "  " + again + "\n" + page(s, ce, again)
}

// pattern matches exactly one test or subtest.
func pattern(test string) string {
	parts := strings.Split(test, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return strings.Join(parts, "/")
}

// callingPackage returns the import path of a caller's package, "." if unknown.
func callingPackage(skip int) string {
	pc, _, _, ok := runtime.Caller(skip)
	if !ok {
		return "."
	}
	name := runtime.FuncForPC(pc).Name()
	slash := strings.LastIndex(name, "/") + 1
	dot := strings.Index(name[slash:], ".")
	if dot < 0 {
		return "."
	}
	return strings.TrimSuffix(strings.ReplaceAll(name[:slash+dot], "%2e", "."), "_test")
}

// replayFile replays a file in a test.
func replayFile(t testing.TB, s *Scenario, file string) {
	t.Helper()
	ce, err := Load(file)
	if err != nil {
		t.Fatalf("%s: %v", EnvReplay, err)
		return
	}
	if ce.Scenario != s.Name {
		t.Errorf("%s=%s is about scenario %q; this test checks %q", EnvReplay, file, ce.Scenario, s.Name)
		return
	}
	Replays(t, s, ce)
}

// Replays runs a counterexample again in a test: it passes if the run no longer fails
// in that way, and fails with the timeline if it does.
func Replays(t testing.TB, s *Scenario, ce *Counterexample) {
	t.Helper()
	if s == nil || ce == nil {
		t.Fatalf("explore.Replays needs a scenario and a counterexample, got %v and %v", s, ce)
		return
	}
	r, err := ce.Replay(s)
	switch {
	case errors.Is(err, ErrNotReproduced) && r != nil && r.Err != nil:
		t.Errorf("%s: the run fails, though no longer with %s:\n\n%s", s.Name, ce.Class, drawn(r))
	case errors.Is(err, ErrNotReproduced):
		t.Logf("%s: the run no longer fails%s", s.Name, ce.Missing(r))
	case err != nil:
		t.Fatalf("%s: %v", s.Name, err)
	default:
		t.Errorf("%s: the run still fails:\n\n%s", s.Name, drawn(r))
	}
}

// Missing describes how many decisions did not apply in a replay, or is empty.
func (ce *Counterexample) Missing(r *Replay) string {
	if r.Unmade == 0 {
		return ""
	}
	return fmt.Sprintf("; %d of its %d decisions no longer apply, so it may be a different run; only a search shows whether the violation is gone",
		r.Unmade, len(ce.Decisions))
}

func drawn(r *Replay) string {
	var b strings.Builder
	_ = timeline.Write(&b, r.Timeline(), timeline.Options{})
	return b.String()
}
