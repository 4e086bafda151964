package matrix_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/examples/mirror"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/matrix"
	"github.com/verbatim-rdma/verbatim/faults"
)

// small bounds the searches that would not end soon: those of finer cells.
const small = 7_000

func mirrors() matrix.Protocol {
	s := mirror.Scenario("write", (*mirror.Register).Write)
	s.Faults = "none"
	return matrix.Protocol{Name: "mirror", Scenarios: []*explore.Scenario{s}}
}

// Every cell that is decided says what a search of its own says, and every mend
// mends.
func TestCellsSayWhatSearchesSay(t *testing.T) {
	dir := t.TempDir()
	p := mirrors()
	cells, err := matrix.Fill(p, matrix.Options{Out: dir, Workers: 2, MaxRuns: small, Probe: 200})
	if err != nil {
		t.Fatal(err)
	}
	derived, broken := 0, 0
	for _, c := range cells {
		finer := strings.HasPrefix(c.Assumption, "CellBytes") || strings.HasPrefix(c.Assumption, "FailedCellBytes")
		if c.Limited != finer || c.Verdict == matrix.Undecided && c.Reason == "" {
			t.Errorf("%s: %s because %q, limited %v", c.Assumption, c.Verdict, c.Reason, c.Limited)
		}
		if c.Verdict == matrix.Undecided {
			continue
		}
		r, err := explore.Check(p.Scenarios[0], explore.Options{Profile: c.Profile, Workers: 2, NoShrink: true})
		if err != nil {
			t.Fatal(err)
		}
		want := map[explore.Verdict]matrix.Verdict{explore.Verified: matrix.Holds, explore.Violated: matrix.Breaks}[r.Verdict]
		if c.Verdict != want {
			t.Errorf("%s: the cell says %s, a search %s", c.Assumption, c.Verdict, r.Verdict)
		}
		if c.DerivedFrom != "" {
			derived++
		}
		if c.Verdict == matrix.Breaks {
			broken++
			replays(t, p, &c)
		}
	}
	if derived == 0 || broken == 0 {
		t.Errorf("%d cells follow from others, %d break", derived, broken)
	}
	got := map[string]string{}
	for _, c := range cells {
		got[c.Assumption] = string(c.Verdict) + ": " + c.Mend
	}
	for assumption, want := range map[string]string{
		"strong":              "holds: ",
		"rxe":                 "holds: ",
		"ReadsSeeAcked=false": "breaks: flush-read",
		"relaxed":             "breaks: flush-read",
		"AtomicFlushes=false": "not decided: ",
		"WholePackets=false":  "holds: ",
		"FenceWaitsAll=false": "not decided: ",
		"Domain=Volatile":     "not decided: ",
		"Placement=Blocks128": "holds: ",
		"DrainOnRevoke=false": "not decided: ",
	} {
		if got[assumption] != want {
			t.Errorf("%s: %q, want %q", assumption, got[assumption], want)
		}
	}
}

func replays(t *testing.T, p matrix.Protocol, c *matrix.Cell) {
	t.Helper()
	ce, err := explore.Load(c.Counterexample)
	if err != nil {
		t.Errorf("%s: %v", c.Assumption, err)
		return
	}
	if _, err := ce.Replay(explore.Named(p.Scenarios, ce.Scenario)); err != nil || ce.Scenario != c.Scenario {
		t.Errorf("%s: %s: %v", c.Assumption, ce.Scenario, err)
	}
	if filepath.Base(c.Counterexample) != explore.FileName(c.Scenario+"-"+ce.Profile) {
		t.Errorf("%s is called %s", ce.Profile, c.Counterexample)
	}
}

// A table that is interrupted at once says so in every cell, and invents nothing.
func TestInterruptedTableDecidesNothing(t *testing.T) {
	cells, err := matrix.Fill(mirrors(), matrix.Options{Stop: func() bool { return true }})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cells {
		if c.Verdict != matrix.Undecided || c.Reason == "" || c.Mend != "" {
			t.Errorf("%+v", c)
		}
	}
}

func TestLimitsLeaveCellsUndecided(t *testing.T) {
	for _, opt := range []matrix.Options{{MaxRuns: 1, Probe: 1}, {MaxTime: time.Nanosecond}} {
		cells, err := matrix.Fill(mirrors(), opt)
		if err != nil || cells[0].Verdict != matrix.Undecided || !cells[0].Limited {
			t.Errorf("%+v: %+v, %v", opt, cells[0], err)
		}
	}
}

func TestBadOptions(t *testing.T) {
	if _, err := matrix.Fill(mirrors(), matrix.Options{MaxTime: -1}); !errors.Is(err, matrix.ErrOptions) {
		t.Error(err)
	}
	if _, err := matrix.Fill(matrix.Protocol{Name: "empty"}, matrix.Options{}); !errors.Is(err, matrix.ErrOptions) {
		t.Error(err)
	}
}

func TestRowsCoverAllThereIs(t *testing.T) {
	rows, err := matrix.Rows("x")
	if err != nil || len(rows) != len(faults.Profiles())+len(faults.Weakenings()) {
		t.Errorf("%d rows, %v", len(rows), err)
	}
	for _, r := range rows {
		if _, err := faults.ProfileByName(r.Profile); err != nil || r.Protocol != "x" || r.Assumption == "" {
			t.Errorf("%+v: %v", r, err)
		}
	}
	for _, name := range []string{"MTU", "MaxInline", "MaxRdAtomic"} {
		if !strings.Contains(matrix.Legend(nil), name+" (") {
			t.Errorf("the legend does not say why %s has no row", name)
		}
	}
}
