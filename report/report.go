package report

import (
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/coverage"
	"github.com/verbatim-rdma/verbatim/explore/matrix"
	"github.com/verbatim-rdma/verbatim/explore/mutant"
	"github.com/verbatim-rdma/verbatim/faults"
)

// Report is the content of a page.
type Report struct {
	Title   string
	Command string // that made it
	Made    string // when, and of what: words
	Checks  []Check
	// Lines are the files of the protocol, with the lines that any check with Files reached.
	// NoCoverage explains why the other checks have no Files, and how to get them.
	Lines      []coverage.File
	NoCoverage string
	// Cells are the matrix; NoMatrix explains why there is none, and how to get one.
	Cells    []Cell
	NoMatrix string
	// Mutants are the fates of generated mutants, and MutatedFiles the files that they are in;
	// NoMutants is the reason why there are none, and how to generate them.
	Mutants      []mutant.Judged
	MutatedFiles []MutatedFile
	NoMutants    string
}

// Check is one scenario that was checked.
type Check struct {
	Scenario *explore.Scenario
	Result   *explore.Result
	Run      string // the page of the counterexample, from the report's place; may be empty
	Replay   string // the command that shows it in a terminal; may be empty
	// Files are the files of the protocol, with the lines that this check reached.
	Files []coverage.File
}

// Cell is a cell of the matrix and the page of its run, if it has one.
type Cell struct {
	matrix.Cell
	Run string
}

// Promise is one promise of cards that a verdict rests on.
type Promise struct {
	Knob, Value, Meaning string
	Who                  string // promises it
	Without              string // what the matrix says without it
}

// promises are the promises of the profile that the code of a check uses.
func promises(r *explore.Result, cells []Cell) []Promise {
	p, err := faults.ProfileByName(r.Profile)
	if err != nil {
		return nil
	}
	weaker := map[string]bool{}
	for _, w := range faults.Weakenings() {
		q, err := p.WithKnob(w.Knob, w.Value)
		used := w.Exercised == 0 || w.Exercised&r.Exercised != 0
		if err == nil && used && w.Blind == "" && !w.Same && faults.WeakerOrEqual(q, p) && !faults.WeakerOrEqual(p, q) {
			weaker[w.Knob] = true
		}
	}
	var out []Promise
	for _, k := range p.Knobs() {
		if weaker[k.Name] {
			out = append(out, Promise{Knob: k.Name, Value: k.Value, Meaning: k.Meaning, Who: k.Promise, Without: without(k.Name, r, cells)})
		}
	}
	return out
}

// without is the verdict of the matrix on a protocol without a promise. It removes promises
// from the profile strong, and from no other.
func without(knob string, r *explore.Result, cells []Cell) string {
	text := ""
	for i := range cells {
		c := &cells[i]
		if r.Profile != "strong" || c.Protocol != protocolOf(r.Scenario) || len(c.Assumption) <= len(knob) || c.Assumption[:len(knob)+1] != knob+"=" {
			continue
		}
		if text != "" {
			text += "; "
		}
		text += c.Assumption + ": " + string(c.Verdict)
	}
	return text
}
