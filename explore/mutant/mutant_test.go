package mutant

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/verbatim-rdma/verbatim/explore"
)

// protocols are the protocols that have mutants, and where they are.
var protocols = []struct {
	name         string
	folders, kit []string
}{
	{"ncl", []string{"protocol/ncl"}, []string{"kit/entry", "kit/lend", "kit/quorum"}},
	{"arcadia", []string{"protocol/arcadia"}, []string{"kit/entry", "kit/lend"}},
	{"table1", []string{"protocol/arcadia/pmemlog", "protocol/arcadia/flex", "protocol/arcadia/queryfresh"}, []string{"kit/lend"}},
	{"sift", []string{"protocol/sift", "protocol/sift/kv", "protocol/sift/wal"}, []string{"kit/lend", "kit/quorum", "kit/rpc"}},
	{"raftr", []string{"protocol/raftr"}, []string{"kit/lend", "kit/rpc"}},
	{"splitfs", []string{"splitfs"}, nil},
	{"cluster", []string{"cluster"}, nil},
}

// The mutants of the simulator are built by `verbatim mutants litmus` alone; that their
// patches still apply is known at once.
func TestLitmusPatchesApply(t *testing.T) {
	root, err := findRoot("")
	if err != nil {
		t.Fatal(err)
	}
	all, err := List("", "litmus")
	if err != nil || len(all) < 80 {
		t.Fatalf("%d mutants, %v", len(all), err)
	}
	for _, m := range all {
		if _, err := m.apply(root); err != nil {
			t.Error(err)
		}
		if m.Class == "" {
			t.Errorf("%s: the header has no Class: %s or %s", m.Name, TooWeak, TooStrong)
		}
	}
}

// So does that of the binding, which scripts/rxe-ci builds.
func TestPatchOfTheBindingApplies(t *testing.T) {
	root, err := findRoot("")
	if err != nil {
		t.Fatal(err)
	}
	all, err := List("", "hw")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		if _, err := m.apply(root); err != nil {
			t.Error(err)
		}
	}
}

// One mutant is caught, from the patch to the counterexample.
func TestCaught(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command: not with -short")
	}
	out := t.TempDir()
	results, err := Run(t.Context(), Options{Protocol: "ncl", Names: []string{"ack-at-f"}, Workers: 1,
		MaxTime: time.Minute, Out: out, NoControl: true})
	if err != nil {
		t.Fatal(err)
	}
	x := results[0]
	if x.Err != nil || !x.Caught || x.Class != "lost-acknowledged-write" || x.Events < x.Decisions || x.Runs == 0 || x.TooLong() {
		t.Fatalf("%+v", x)
	}
	ce, err := explore.Load(x.File)
	if err != nil {
		t.Fatal(err)
	}
	if len(ce.Decisions) != x.Decisions || ce.Scenario != x.Scenario {
		t.Errorf("%+v does not match %+v", ce, x)
	}
}

const header = "Title: t\nBreaks: b,\n  and more\nPaper: 4.4\n\n"

func diff(hunks ...string) string {
	return header + "diff --git a/p/f.go b/p/f.go\n--- a/p/f.go\n+++ b/p/f.go\n" + strings.Join(hunks, "")
}

// change is a hunk that makes one line another.
func change(line, before, after string) string {
	return "@@ -" + line + " +" + line + " @@\n-" + before + "\n+" + after + "\n"
}

func TestApply(t *testing.T) {
	for _, x := range []struct{ name, source, patch, want, err string }{
		{"in place", "a\nb\nc\n", diff(change("2", "b", "x")), "a\nx\nc\n", ""},
		{"elsewhere", "a\nc\nb\n", diff(change("1", "b", "x")), "a\nc\nx\n", ""},
		{"two hunks", "a\nb\nc\n", diff(change("1", "a", "x"), change("3", "c", "y")), "x\nb\ny\n", ""},
		{"gone", "a\nB\nc\n", diff(change("2", "b", "x")), "", `hunk 1 (@@ -2,1 +2,1 @@): its lines no longer exist; remake the patch ("b" is gone)`},
		{"second gone", "a\nb\n", diff(change("1", "a", "x"), change("3", "c", "y")), "", "hunk 2"},
		{"out of order", "c\na\n", diff(change("1", "a", "x"), change("2", "c", "y")), "", "hunk 2"},
		{"twice", "b\nb\n", diff(change("1", "b", "x")), "", "occur 2 times"},
		{"only new lines", "a\n", diff("@@ -0,0 +1 @@\n+x\n"), "", "no longer exist"},
	} {
		t.Run(x.name, func(t *testing.T) {
			root := t.TempDir()
			write(t, root, "p/f.go", x.source)
			m, err := parse("bug", []byte(x.patch))
			if err != nil {
				t.Fatal(err)
			}
			files, err := m.apply(root)
			if x.err != "" {
				if !errors.Is(err, ErrPatch) || !strings.Contains(err.Error(), x.err) || !strings.Contains(err.Error(), "bug does not apply to p/f.go") {
					t.Errorf("got %v, want %s", err, x.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(map[string][]byte{"p/f.go": []byte(x.want)}, files); d != "" {
				t.Error(d)
			}
			if now, err := os.ReadFile(filepath.Join(root, "p/f.go")); err != nil || string(now) != x.source {
				t.Error("the source was changed", err)
			}
		})
	}
}

func TestParse(t *testing.T) {
	m, err := parse("bug", []byte(diff(change("1", "a", "x"))))
	if err != nil || m.Title != "t" || m.Breaks != "b, and more" || m.Paper != "4.4" || m.Finding != "" {
		t.Errorf("%+v, %v", m, err)
	}
	for _, x := range []struct{ patch, err string }{
		{"", "no blank line"},
		{"diff\n\n", "header"},
		{"Title: t\n\n" + diff(), "Title, Breaks and Paper"},
		{header, "no diff"},
		{header + "nothing\n", "no diff"},
		{diff("@@ -1,2 +1,2 @@\n-a\n"), "bug"},
		{header + "diff --git a/p/f.go b/p/f.go\nnew file mode 100644\n--- /dev/null\n+++ b/p/f.go\n@@ -0,0 +1 @@\n+x\n", "not add"},
		{strings.ReplaceAll(diff(change("1", "a", "x")), "p/f.go", "../f.go"), "source tree"},
		{diff(change("1", "a", "x")) + strings.TrimPrefix(diff(change("3", "c", "y")), header), "two sections"},
	} {
		if _, err := parse("bug", []byte(x.patch)); !errors.Is(err, ErrPatch) || !strings.Contains(err.Error(), x.err) {
			t.Errorf("%q: got %v, want %s", x.patch, err, x.err)
		}
	}
}

func TestReadSearch(t *testing.T) {
	s, err := readSearch([]byte(`{"scenario":"ncl/f2","timers":"free","strategy":"random","verdict":"violated","runs":7,"seconds":0.5,"reason":"r","counterexample":"f.json"}`))
	if err != nil || *s != (Search{"ncl/f2", "free", "random", explore.Violated, 7, 0.5, "r", "f.json", false}) {
		t.Errorf("%+v, %v", s, err)
	}
	if s, err = readSearch([]byte(`{"scenario":"ncl/f2","verdict":"ran-out","runs":7,"reason":null,"counterexample":null}`)); err != nil || s.Verdict != explore.RanOut {
		t.Errorf("%+v, %v", s, err)
	}
	for _, line := range []string{"", "hello", "{}", `{"scenario":"ncl/f2"}`, `{"scenario":"ncl/f2","verdict":"violated"}`} {
		if _, err := readSearch([]byte(line)); !errors.Is(err, ErrTool) {
			t.Errorf("%q: %v", line, err)
		}
	}
}

func TestScenarios(t *testing.T) {
	names, deep, err := scenarios([]byte(`{"name":"ncl/b","deep":true}`+"\n"+`{"name":"nclx/c"}`+"\n"+`{"name":"ncl/a"}`+"\n"), "ncl")
	if d := cmp.Diff([]string{"ncl/b", "ncl/a"}, names); d != "" || err != nil || !deep["ncl/b"] || deep["ncl/a"] {
		t.Error(d, err, deep)
	}
	if _, _, err := scenarios(nil, "ncl"); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
	if _, _, err := scenarios([]byte("hello\n"), "ncl"); !errors.Is(err, ErrTool) {
		t.Error(err)
	}
}

func TestTimelineRows(t *testing.T) {
	for text, want := range map[string]int{
		"x with profile p\n\nstep a\n─────┬──\n 1 │post\n   │land\nleft out: 3 of allocations\nfolded: 2 rows\n\nviolated: c\n": 2,
		"x\n\nstep a\n─────┬──\n\nviolated: c\n":                                                                                0,
	} {
		if n, err := timelineRows([]byte(text)); n != want || err != nil {
			t.Errorf("%q: %d, %v", text, n, err)
		}
	}
	if _, err := timelineRows([]byte("hello\n")); !errors.Is(err, ErrTool) {
		t.Error(err)
	}
}

func TestTooLong(t *testing.T) {
	for events, want := range map[int]bool{0: false, MaxEvents: false, MaxEvents + 1: true} {
		if x := (Result{Caught: true, Events: events}); x.TooLong() != want {
			t.Errorf("%d events: too long is %v", events, x.TooLong())
		}
		if x := (Result{Caught: true, Events: events + 10, maxEvents: MaxEvents + 10}); x.TooLong() != want {
			t.Errorf("%d events of %d: too long is %v", x.Events, x.maxEvents, x.TooLong())
		}
	}
}

func TestUndecided(t *testing.T) {
	x := Result{Searches: []Search{{Scenario: "a", Verdict: explore.RanOut}, {Scenario: "b", Verdict: explore.RanOut},
		{Scenario: "a", Verdict: explore.Clean}, {Scenario: "b", Verdict: explore.Clean}, {Scenario: "a", Verdict: explore.Verified}}}
	if d := cmp.Diff([]string{"b"}, x.Undecided()); d != "" || x.Verdict() != "survived (b not exhausted)" {
		t.Error(d, x.Verdict())
	}
}

func TestNoSource(t *testing.T) {
	if _, err := List(t.TempDir(), "ncl"); !errors.Is(err, ErrSource) {
		t.Error(err)
	}
	if _, err := Run(t.Context(), Options{Protocol: "ncl", Dir: t.TempDir()}); !errors.Is(err, ErrSource) {
		t.Error(err)
	}
	if _, err := Run(t.Context(), Options{Protocol: "none"}); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
	if _, err := Run(t.Context(), Options{Protocol: "ncl", Names: []string{"none"}}); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
	t.Setenv("PATH", t.TempDir())
	_, err := Run(t.Context(), Options{Protocol: "ncl"})
	if !errors.Is(err, ErrSource) || !errors.Is(err, exec.ErrNotFound) {
		t.Error(err)
	}
}

func write(t *testing.T, root, name, text string) {
	t.Helper()
	name = filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
