package split

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/verbatim-rdma/verbatim/explore/mutant"
	"github.com/verbatim-rdma/verbatim/farm"
)

// Score adds up the results of generated mutants.
type Score struct {
	asJSON               bool
	atLeast, byScenarios float64 // percent
	all                  []mutant.Judged
}

// generated makes a job of each part of the generated mutants. The required score
// applies to all parts together, so the jobs require nothing.
func (p *Plan) generated(protocol string, flags []string, parts int) error {
	p.Score = &Score{asJSON: on(flags, "json"), atLeast: 100}
	for name, to := range map[string]*float64{"at-least": &p.Score.atLeast, "scenarios-at-least": &p.Score.byScenarios} { //lint:ordered each is one flag
		text, ok := value(flags, name)
		if !ok {
			continue
		}
		take(&flags, name)
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(v >= 0 && v <= 100) { // NaN is neither
			return fmt.Errorf("%w: --%s %q: it must be a percentage", ErrUsage, name, text)
		}
		*to = v
	}
	if !p.Score.asJSON {
		flags = append(flags, "--json")
	}
	for i := range parts {
		p.job(true, append([]string{"mutants", protocol, fmt.Sprintf("--part=%d/%d", i+1, parts), "--at-least=0"}, flags...)...)
	}
	return nil
}

// Add adds the output of a part, and prints its mutants if the command line requests JSON.
func (s *Score) Add(w io.Writer, r *farm.Result) error {
	lines := bufio.NewScanner(bytes.NewReader(r.Stdout))
	lines.Buffer(nil, 1<<24)
	before, said := len(s.all), -1 // mutants, and how many the part says it has
	for lines.Scan() {
		var x struct {
			mutant.Judged
			Score *mutant.Score `json:"score"` // of the part
		}
		if err := json.Unmarshal(lines.Bytes(), &x); err != nil {
			return fmt.Errorf("a result of a mutant: %w", err)
		}
		if x.Score != nil {
			said = x.Score.Mutants
			continue
		}
		s.all = append(s.all, x.Judged)
		if s.asJSON {
			if _, err := fmt.Fprintf(w, "%s\n", lines.Bytes()); err != nil {
				return err
			}
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if got := len(s.all) - before; got != said {
		return fmt.Errorf("a part is not whole: it has the results of %d mutants, and says %d", got, said)
	}
	return nil
}

// End prints the score, and reports whether it is high enough.
func (s *Score) End(w io.Writer) (enough bool, err error) {
	score := mutant.NewScore(s.all)
	// Without mutants nothing is missed, as in the command mutants.
	enough = (score.Caught >= s.atLeast || score.Survive == 0) && (score.Scenarios >= s.byScenarios || score.Survive+score.Test == 0)
	if s.asJSON {
		return enough, json.NewEncoder(w).Encode(map[string]mutant.Score{"score": score})
	}
	for _, x := range s.all {
		if x.Result == mutant.Survives {
			if _, err := fmt.Fprintf(w, "survives: %s at %s:%d\n", x.ID, x.File, x.Line); err != nil {
				return false, err
			}
		}
	}
	_, err = fmt.Fprintf(w, "%d mutants: %d are caught by scenarios, %d by unit tests alone, %d are equivalent, and %d survive\n"+
		"of the mutants that are not equivalent, %.1f %% are caught, %.1f %% by scenarios alone; all take %.0f s of processor time\n",
		score.Mutants, score.Scenario, score.Test, score.Equivalent, score.Survive, score.Caught, score.Scenarios, score.Processor)
	return enough, err
}
