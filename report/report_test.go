package report_test

import (
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/coverage"
	"github.com/verbatim-rdma/verbatim/explore/matrix"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/report"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// demo is a report of one check that holds and one that does not.
func demo() *report.Report {
	holds := &explore.Result{Scenario: "demo/holds", Profile: "strong", Faults: "none", Strategy: explore.Exhaustive, Verdict: explore.Verified, Exhausted: true,
		Runs: 1234, States: 5678, Choices: 90, MaxDepth: 3, Elapsed: 2 * time.Second, Workers: 1, Steps: 1000, Posts: 10, Exercised: faults.Writes,
		Sometimes: []explore.Condition{{Name: "met", Met: true}, {Name: "unmet"}},
		Space: explore.Space{ByDepth: []uint64{1, 2000, 3000, 677}, Choices: []explore.Tally{{Name: "landing", Count: 60}, {Name: "rand", Count: 30}},
			Steps: []explore.Tally{{Name: "task", Count: 7000}}}}
	breaks := &explore.Result{Scenario: "demo/breaks", Profile: "relaxed", Faults: "crash(a)<=1", Strategy: explore.Random, Verdict: explore.Violated, Runs: 1,
		Counterexample: &explore.Counterexample{Class: "lost", Message: "it is gone"}, Reason: nil}
	file := coverage.File{Name: "protocol/demo/demo.go", Statements: 3, Reached: 2, Lines: []string{"package demo", "\tx := 1", "\ty := 2"},
		States: []coverage.State{coverage.Nothing, coverage.Reached, coverage.Never}}
	return &report.Report{Title: "Checks", Command: "verbatim check demo", Made: "now",
		Checks: []report.Check{{Scenario: &explore.Scenario{Doc: "it holds"}, Result: holds, Files: []coverage.File{file}},
			{Scenario: &explore.Scenario{Doc: "it breaks"}, Result: breaks, Run: "report-runs/a b.html", Replay: "go run replay x"}},
		Lines: []coverage.File{file},
		Cells: []report.Cell{{Cell: matrix.Cell{Protocol: "demo", Assumption: "Placement=AnyOrder", Verdict: matrix.Breaks, Scenario: "demo/breaks", Reason: "lost"}, Run: "report-runs/m.html"},
			{Cell: matrix.Cell{Protocol: "demo", Assumption: "CellBytes=1", Verdict: matrix.Holds, Exhausted: true}}}}
}

func written(t *testing.T, r *report.Report) string {
	t.Helper()
	var b strings.Builder
	if err := report.Write(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// plain is the text of a page, in one line.
func plain(page string) string {
	page = regexp.MustCompile(`(?s)<style>.*?</style>`).ReplaceAllString(page, "")
	return strings.Join(strings.Fields(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page, " ")), " ")
}

func TestPageSaysWhatWasFound(t *testing.T) {
	page := written(t, demo())
	text := plain(page)
	for _, want := range []string{
		"demo/holds ✓ VERIFIED strong 1,234 5,678 90 2.0 s 2 of 3 statements (66%)", "demo/breaks ✗ VIOLATED relaxed",
		"617 runs, 2,839 states, 500 simulated steps and 5 work requests a second", "met reached", "unmet never",
		"2 3,000", "landing: which Writes a read finds in memory 60", "task: a task continues 7,000", "lost : it is gone",
		"Placement=InOrder the order in which the bytes of Writes reach the responder&#39;s memory", "Placement=AnyOrder: breaks", "CellBytes=1: holds",
		"3 ✗ y := 2", "never: 3", "demo Placement=AnyOrder ✗ breaks demo/breaks: lost",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	for _, want := range []string{`href="report-runs/a%20b.html"`, `href="report-runs/m.html"`, `default-src &#39;none&#39;`, "prefers-color-scheme: dark", `aria-label="States by depth: from 1 at 0 steps to 677 at 3, with the most, 3,000, at 2.`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	// What nobody promises under relaxed, no verdict rests on.
	_, breaks, _ := strings.Cut(text, "demo/breaks: ✗")
	if strings.Contains(breaks[:strings.Index(breaks, "Lines of the protocol")], "ReadsSeeAcked=") {
		t.Error("a verdict about profile relaxed rests on ReadsSeeAcked")
	}
	// Atomics were not used, so a promise about them is none that it rests on.
	if strings.Contains(text, "AtomicFlushes=true") {
		t.Error("a verdict about code without Atomics rests on AtomicFlushes")
	}
}

// Charts are drawn to scale: the longest bar and the highest step fill their boxes.
func TestChartsAreToScale(t *testing.T) {
	page := written(t, demo())
	for _, want := range []string{
		`viewBox="0 0 4 1000" preserveAspectRatio="none"><path d="M0 1000V1000H1V334H2V0H3V775H4V1000Z">`,
		`>60</td><td><svg class="bar" aria-hidden="true" viewBox="0 0 1000 1" preserveAspectRatio="none"><rect width="1000" height="1">`,
		`>30</td><td><svg class="bar" aria-hidden="true" viewBox="0 0 1000 1" preserveAspectRatio="none"><rect width="500" height="1">`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	r := demo()
	r.Checks[0].Result.Space = explore.Space{ByDepth: []uint64{0}, Steps: []explore.Tally{{Name: "task"}}}
	if page := written(t, r); !strings.Contains(page, `"M0 1000V1000H1V1000Z"`) || !strings.Contains(page, `<rect width="0"`) {
		t.Error("what never happened is not drawn as nothing")
	}
}

// What is not known is said.
func TestPageSaysWhatIsNotKnown(t *testing.T) {
	r := demo()
	r.Lines, r.Cells, r.Checks[0].Files = nil, nil, nil
	r.NoCoverage, r.NoMatrix = "nobody counted", "nobody filled it in"
	text := plain(written(t, r))
	for _, want := range []string{"Which lines were reached is not known: nobody counted", "nobody filled it in", "2.0 s not known"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// Of a search that was resumed, the lines are those of its last part, and the page says so.
func TestPageOfResumedSearch(t *testing.T) {
	r := demo()
	whole := plain(written(t, r))
	r.Checks[0].Result.Resumed = 1000
	part := plain(written(t, r))
	for _, want := range []string{"1,234 runs, 1,000 of them before the search was resumed", "were reached since the search was resumed", "may have been reached by its earlier runs"} {
		if !strings.Contains(part, want) || strings.Contains(whole, want) {
			t.Errorf("the page of the part, and no other, should say %q", want)
		}
	}
	if strings.Contains(part, "was not checked at all") {
		t.Error("it says more than is known of lines that were never reached")
	}
}

// Facts that most checks lack are on the page of a check that has them, and on no other.
func TestPageOfRareFacts(t *testing.T) {
	r := demo()
	usual := plain(written(t, r))
	x := r.Checks[0].Result
	x.Bounds, x.InTime, x.Workers, x.EagerLog10, x.Exhausted, x.Remaining, x.Strengthen = "two hosts", 1, 2, 12.34, false, 4e9, sim.Inlined
	r.Checks[1].Result.Reason = errors.New("it hangs")
	r.Cells[0].Run = ""
	rare := plain(written(t, r))
	for _, want := range []string{"bounds two hosts", "Warning: " + x.Warning(), "with 2 workers", "the states stand for 10^12.3 states", "not exhausted: 10^9.6 runs remain",
		"strengthened by " + x.Strengthen.String(), "it hangs", "✗ breaks demo/breaks: lost (no run was kept)"} {
		if !strings.Contains(rare, want) || strings.Contains(usual, want) {
			t.Errorf("the page of rare facts, and no other, should say %q", want)
		}
	}
}

// Lines of which only some checks know anything are not said to be those of all.
func TestPageOfPartialCounts(t *testing.T) {
	r := demo()
	r.NoCoverage = "the counters broke."
	text := plain(written(t, r))
	for _, want := range []string{"what was reached is not known of demo/breaks. the counters broke. The other checks together reached 2 of 3 statements", "was not checked by them"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if strings.Contains(text, "All checks of this page") {
		t.Error("it says that all checks were counted")
	}
	r.Checks[1].Files = r.Lines
	if text := plain(written(t, r)); !strings.Contains(text, "All checks of this page together reached") || strings.Contains(text, "Not all is counted") {
		t.Error("it says that a check was not counted")
	}
}

// Runs of very many steps make no larger a page: the numbers of depths are put together.
func TestPageOfLongRuns(t *testing.T) {
	r := demo()
	lengths := make([]uint64, 100_001) // 0 to 100,000
	for i := range lengths {
		lengths[i] = 1
	}
	r.Checks[1].Result.Space.ByDepth = lengths
	page := written(t, r)
	if len(page) > 1<<18 {
		t.Errorf("a page of %d bytes", len(page))
	}
	text, sum := plain(page), 0
	for _, x := range regexp.MustCompile(`(\d+)–(\d+) (\d+)\b`).FindAllStringSubmatch(text, -1) {
		first, _ := strconv.Atoi(x[1])
		last, _ := strconv.Atoi(x[2])
		if n, _ := strconv.Atoi(x[3]); n == last-first+1 && first == sum {
			sum += n
		}
	}
	if sum != len(lengths) {
		t.Errorf("the rows have %d runs of %d", sum, len(lengths))
	}
	if !strings.Contains(page, "from 401 at 0–400 steps to 152 at 99849–100000") {
		t.Error("the chart does not say what it shows")
	}
}

// Every verdict has its words, in a line and on the page.
func TestVerdictsHaveWords(t *testing.T) {
	r := demo()
	for v, want := range map[explore.Verdict][2]string{
		explore.Verified: {"VERIFIED within the bounds below", "✓ VERIFIED Every run"},
		explore.Clean:    {"CLEAN: the runs that were sampled violate nothing", "✓ CLEAN The runs"},
		explore.Violated: {"VIOLATED", "✗ VIOLATED There is"},
		explore.RanOut:   {"RAN OUT: a limit came first; nothing was found, and nothing is verified", "? RAN OUT A limit"},
		explore.Unknown:  {"UNKNOWN: the check could not decide", "? UNKNOWN The check"},
	} {
		if got := report.Line(v); got != want[0] {
			t.Errorf("%q", got)
		}
		r.Checks[0].Result.Verdict = v
		if text := plain(written(t, r)); !strings.Contains(text, "demo/holds: "+want[1]) {
			t.Errorf("the page does not say %q", want[1])
		}
	}
}

// A page that is too large goes without the source, and then not at all.
func TestTooLarge(t *testing.T) {
	r := demo()
	r.Lines[0].Lines = []string{strings.Repeat("x", report.MaxPage)}
	r.Lines[0].States = r.Lines[0].States[:1]
	page := written(t, r)
	if len(page) > report.MaxPage || !strings.Contains(page, "The source is not on this page.") {
		t.Errorf("a page of %d bytes", len(page))
	}
	if len(r.Lines[0].Lines) == 0 {
		t.Error("the report was changed")
	}
	r.Title = strings.Repeat("x", report.MaxPage)
	if err := report.Write(io.Discard, r); !errors.Is(err, report.ErrTooLarge) {
		t.Errorf("the error is %v", err)
	}
}
