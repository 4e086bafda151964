package main

import (
	"encoding/json"
	"github.com/verbatim-rdma/verbatim/cmd/verbatim/command"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/matrix"
	"github.com/verbatim-rdma/verbatim/faults"
)

// tables are the protocols of docs/matrix.md, with what marks their tables there.
var tables = map[string]string{"ncl": "matrix", "arcadia": "matrix arcadia"}

// evidence is what `verbatim matrix --json` printed for a protocol when docs/matrix.md was made.
func evidence(t *testing.T, protocol string) []matrix.Cell {
	t.Helper()
	text, err := os.ReadFile("../../testdata/matrix/" + protocol + ".jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var cells []matrix.Cell
	for line := range strings.Lines(string(text)) {
		var c matrix.Cell
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		cells = append(cells, c)
	}
	return cells
}

func TestMatrixPageIsTheEvidence(t *testing.T) {
	page, err := os.ReadFile("../../docs/matrix.md")
	if err != nil {
		t.Fatal(err)
	}
	for protocol, mark := range tables { //lint:ordered each is checked
		_, rest, ok1 := strings.Cut(string(page), "<!-- begin "+mark+" -->\n")
		got, _, ok2 := strings.Cut(rest, "<!-- end "+mark+" -->")
		var want strings.Builder
		if err := matrix.Markdown(&want, evidence(t, protocol)); err != nil || !ok1 || !ok2 {
			t.Fatal(protocol, err, ok1, ok2)
		}
		if d := cmp.Diff(got, want.String()); d != "" {
			t.Errorf("make docs/matrix.md and testdata/matrix/%s.jsonl of one search (-page +evidence):\n%s", protocol, d)
		}
	}
}

// A knob or a profile that is new has a row, or the page is out of date.
func TestEvidenceHasAllRows(t *testing.T) {
	found := cmpopts.IgnoreFields(matrix.Cell{}, "Verdict", "Exhausted", "Scenario", "DerivedFrom", "Reason", "Counterexample",
		"Mend", "Seconds", "Limited", "Timers", "Warning")
	for protocol := range tables { //lint:ordered each is checked
		rows, err := matrix.Rows(protocol)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(evidence(t, protocol), rows, found); d != "" {
			t.Errorf("run `go run ./cmd/verbatim matrix %s` again (-evidence +rows):\n%s", protocol, d)
		}
	}
}

// What is quick to run again is run again: the cells that break, and the beginning of
// the searches of those that hold. The conclusions must be drawn in the right direction.
func TestEvidenceIsStillTrue(t *testing.T) {
	if testing.Short() {
		t.Skip("searches have nothing for the race detector or the tag rdma; go test ./... runs them")
	}
	for protocol := range tables { //lint:ordered each is checked
		p := protocolNamed(t, protocol)
		if protocol == "arcadia" { // of media errors the units depend on the platform; and the time is NCL's
			stillTrue(t, p, p.Matrix(), 100, false)
			continue
		}
		stillTrue(t, p, p.Scenarios(), 100, true)
	}
}

// stillTrue runs what is quick of a table: cells that hold in some scenarios, for so many runs. derived: also
// cells that follow from others are looked at.
func stillTrue(t *testing.T, p *command.Protocol, holding []*explore.Scenario, runs uint64, derived bool) {
	t.Helper()
	for _, c := range evidence(t, p.Name) {
		mine, err := faults.ProfileByName(c.Profile)
		if err != nil {
			t.Fatal(err)
		}
		if c.DerivedFrom != "" {
			from, err := faults.ProfileByName(c.DerivedFrom)
			if err != nil || c.Verdict == matrix.Holds && !faults.WeakerOrEqual(from, mine) ||
				c.Verdict == matrix.Breaks && !faults.WeakerOrEqual(mine, from) || c.Verdict == matrix.Undecided {
				t.Errorf("%s %s does not follow from %s: %v", c.Assumption, c.Verdict, c.DerivedFrom, err)
			}
			if !derived {
				continue
			}
		}
		for _, s := range holding {
			if c.Verdict != matrix.Holds {
				break
			}
			r, err := explore.Check(s, explore.Options{Profile: c.Profile, MaxRuns: runs, NoShrink: true})
			if err != nil || r.Verdict == explore.Violated {
				t.Errorf("%s holds no longer in %s: %v, %v", c.Assumption, s.Name, r, err)
			}
		}
		if c.Verdict != matrix.Breaks {
			continue
		}
		s := explore.Named(holding, c.Scenario)
		if s == nil {
			t.Errorf("%s: there is no %s", c.Assumption, c.Scenario)
			continue
		}
		r, err := explore.Check(s, explore.Options{Profile: c.Profile, MaxRuns: 20_000, NoShrink: true})
		if err != nil || r.Verdict != explore.Violated || r.Counterexample.Class != c.Reason {
			t.Errorf("%s breaks no longer in %s with %s: %v, %v", c.Assumption, c.Scenario, c.Reason, r, err)
		}
	}
}
