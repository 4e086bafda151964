package table1check_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/audit"
	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia/table1check"
)

// Every design has every failure once, in the order of the paper, and every scenario its own name.
func TestRowsAreATable(t *testing.T) {
	var names []string
	rows, failures := table1check.Rows(), table1check.Failures()
	for i, r := range rows {
		if r.Failure != failures[i%len(failures)] || r.Design != rows[i-i%len(failures)].Design || slices.Contains(names, r.Scenario.Name) {
			t.Errorf("row %d: %s, %s, %s", i, r.Design, r.Failure, r.Scenario.Name)
		}
		if r.Published != table1check.Unknown && r.Published != r.Expected {
			t.Errorf("%s, %s: the paper says %s: a row that contradicts it is a finding; write it down in docs/table1.md", r.Design, r.Failure, r.Published)
		}
		names = append(names, r.Scenario.Name)
	}
	if len(rows)%len(failures) != 0 {
		t.Error(len(rows), "rows")
	}
}

// A design survives what it should in every run. Two failures take seconds: this test
// has one. `verbatim table1` has two, and the longest cells; `verbatim check` has the longest scenario that is in no
// cell. Both are steps of CI, and fail where a condition is never met.
func TestSurvivors(t *testing.T) {
	for _, s := range table1check.Scenarios() {
		if slices.Contains([]string{"table1/queryfresh-partition", "table1/arcadia-power", "table1/arcadia-media", "table1/arcadia-unreadable"}, s.Name) {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			opt := explore.Options{}
			switch s.Name {
			case "table1/arcadia-local-power", "table1/queryfresh-power":
				opt.Faults = "power(app)<=1"
			case "table1/arcadia-partition":
				opt.Faults = "partition(app,spare)<=1"
			}
			scenario.Verify(t, s, opt)
		})
	}
}

// What breaks a design is the failure: the same scenario without it is verified.
func TestTheFailureBreaksIt(t *testing.T) {
	for _, s := range table1check.BrokenScenarios() {
		t.Run(s.Name, func(t *testing.T) {
			scenario.Verify(t, s, explore.Options{Faults: "none"})
			r, err := explore.Check(s, explore.Options{})
			if err != nil || r.Verdict != explore.Violated {
				t.Errorf("%v %+v", err, r)
			}
		})
	}
}

// libpmemlog returns damaged bytes as data. FLEX does not, whatever is damaged: it loses them, and knows it or
// not.
func TestWhoReturnsDamage(t *testing.T) {
	for name, want := range map[string]string{"table1/pmemlog-media": "record-never-completed", "table1/flex-media": table1check.Unavailable} {
		s := explore.Named(table1check.BrokenScenarios(), name)
		r, err := explore.Check(s, explore.Options{Seek: []string{"record-never-completed"}})
		if err != nil || r.Verdict != explore.Violated || r.Counterexample.Class != want {
			t.Errorf("%s: %v %+v", name, err, r)
		}
	}
}

// Fill says what the searches found: a cell that a limit left open is unknown, and never survives.
func TestFill(t *testing.T) {
	rows := table1check.Rows()[2:4] // media error and power loss of libpmemlog
	out := t.TempDir()
	cells, err := table1check.Fill(rows, explore.Options{}, out)
	if err != nil || len(cells) != 2 {
		t.Fatal(cells, err)
	}
	if c := cells[0]; c.Mark != table1check.Broken || c.Unexpected() || c.Contradicts() || c.Class == "" || c.Counterexample != filepath.Join(out, "table1-pmemlog-media.counterexample.json") {
		t.Errorf("%+v", c)
	}
	if ce, err := explore.Load(cells[0].Counterexample); err != nil || ce.Scenario != rows[0].Scenario.Name {
		t.Error(ce, err)
	}
	if c := cells[1]; c.Mark != table1check.Survives || c.Unexpected() || c.States == 0 || c.Class != "" || c.Counterexample != "" {
		t.Errorf("%+v", c)
	}
	rows[0].Expected, rows[1].Published = table1check.Survives, table1check.Broken
	cells, err = table1check.Fill(rows, explore.Options{}, "")
	if err != nil || !cells[0].Unexpected() || cells[0].Contradicts() || cells[0].Counterexample != "" || cells[1].Unexpected() || !cells[1].Contradicts() {
		t.Errorf("%+v %v", cells, err)
	}
	for _, opt := range []explore.Options{{MaxRuns: 1}, {Strategy: explore.Random, MaxRuns: 1}, {Stop: func() bool { return true }}} {
		cells, err = table1check.Fill(rows, opt, "")
		if c := cells[1]; err != nil || c.Mark != table1check.Unknown || c.Reason == "" || c.Unexpected() || c.Contradicts() {
			t.Errorf("%+v %v", c, err)
		}
	}
}

// Bad options and places are errors.
func TestFillRefuses(t *testing.T) {
	rows := table1check.Rows()[:1]
	if _, err := table1check.Fill(rows, explore.Options{Profile: "none"}, ""); !errors.Is(err, explore.ErrOptions) {
		t.Error(err)
	}
	if _, err := table1check.Fill(rows, explore.Options{}, filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// The premises of the search's reductions hold in these scenarios.
func TestSearchRulesHold(t *testing.T) {
	for _, s := range append(table1check.Scenarios(), table1check.BrokenScenarios()...) {
		t.Run(s.Name, func(t *testing.T) {
			audit.Test(t, s, audit.Options{Runs: 25, Explore: explore.Options{MaxTime: time.Millisecond}})
		})
	}
}
