package command

import (
	"fmt"
	"io"
	"strings"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/internal/number"
	"github.com/verbatim-rdma/verbatim/litmus/generate"
	"github.com/verbatim-rdma/verbatim/litmus/lang"
)

// generateReport prints verdicts as soon as they are known, in the order of the programs.
type generateReport struct {
	f         *generateFlags
	w         io.Writer
	programs  int
	separates int
	states    int
	runs      uint64
	explored  uint64
	undecided int
	broken    []generate.Breach
}

// generatedLine is the line of --json for a program.
type generatedLine struct {
	Program   string           `json:"program"`
	Size      int              `json:"size"`
	Text      string           `json:"text"`
	Profiles  []string         `json:"profiles"`
	States    []generatedState `json:"states"`
	Separates bool             `json:"separates"`
	Runs      uint64           `json:"runs"`
	Explored  uint64           `json:"explored"`
	Undecided []string         `json:"undecided"`
}

type generatedState struct {
	State    string   `json:"state"`
	Profiles []string `json:"profiles"`
}

// add reports one program.
func (r *generateReport) add(v *generate.Verdicts) error {
	r.programs++
	r.states += len(v.States)
	r.runs += v.Runs
	r.explored += v.Explored
	r.broken = append(r.broken, v.Broken()...)
	if v.Separates() {
		r.separates++
	}
	if v.Err() != nil {
		r.undecided++
	}
	if err := r.f.save(v); err != nil {
		return err
	}
	if r.f.asJSON {
		return r.line(v)
	}
	return r.text(v)
}

func (r *generateReport) line(v *generate.Verdicts) error {
	x := generatedLine{Program: v.Program.String(), Size: v.Program.Size(), Text: lang.Format(v.Program.Test()), Profiles: v.Profiles,
		States: []generatedState{}, Separates: v.Separates(), Runs: v.Runs, Explored: v.Explored, Undecided: []string{}}
	for _, s := range v.States {
		g := generatedState{State: s.Text}
		for i, y := range s.By {
			if y {
				g.Profiles = append(g.Profiles, v.Profiles[i])
			}
		}
		x.States = append(x.States, g)
	}
	for i, err := range v.Reasons {
		if err != nil {
			x.Undecided = append(x.Undecided, v.Profiles[i])
		}
	}
	return cli.Lines(r.w).Encode(x)
}

// text prints a program and its final states, first the states that all profiles allow.
func (r *generateReport) text(v *generate.Verdicts) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", v.Program)
	if r.f.program != "" {
		b.WriteString("\n" + lang.Format(v.Program.Test()) + "\n")
	}
	for _, g := range v.Groups() {
		fmt.Fprintf(&b, "  %s\n", v.Who(g.By))
		for _, s := range g.States {
			b.WriteString("    " + s + "\n")
		}
	}
	if err := v.Err(); err != nil {
		b.WriteString("  undecided: " + strings.ReplaceAll(err.Error(), "\n", "\n  undecided: ") + "\n")
	}
	_, err := io.WriteString(r.w, b.String())
	return err
}

// end prints the totals, and returns the exit status.
func (r *generateReport) end(stopped bool, of int) int {
	code := cli.OK
	if r.undecided > 0 || stopped {
		code = cli.RanOut
	}
	if len(r.broken) > 0 {
		code = cli.Worse(code, cli.Violated)
	}
	if r.f.asJSON {
		return code
	}
	fmt.Fprintln(r.w)
	for _, b := range r.broken {
		fmt.Fprintln(r.w, b)
	}
	if stopped {
		fmt.Fprintf(r.w, "stopped after %d of %d programs\n", r.programs, of)
	}
	fmt.Fprintf(r.w, "%s, %d of them separate profiles; %s; %s, %s; %d undecided; %s against the order of profiles\n",
		number.Of(r.programs, "program"), r.separates, number.Of(r.states, "final state"), number.Of(r.runs, "run"),
		number.Of(r.explored, "state"), r.undecided, number.Of(len(r.broken), "final state"))
	return code
}
