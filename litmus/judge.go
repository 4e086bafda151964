package litmus

import (
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/litmus/lang"
)

// Judgement says whether a final state is an outcome of a test.
type Judgement struct {
	Name, Cond string // of the outcome
	Met        bool
	Expected   Got // what the test says of the outcome under the profile
}

// Judged makes a scenario that watches all outcomes of a test, and a function that judges
// a final state to which its last run came; it returns nil for any other.
func Judged(t *lang.Test) (*explore.Scenario, func(final, profile string) []Judgement, error) {
	p, err := resolve(t)
	if err != nil {
		return nil, nil, err
	}
	var all []string
	for i := range t.Outcomes {
		all = append(all, t.OutcomeName(i))
	}
	got := &collected{}
	judge := func(final, profile string) []Judgement {
		var out []Judgement
		for i, met := range got.states[final] {
			out = append(out, Judgement{t.OutcomeName(i), lang.CondText(t.Outcomes[i].Cond), met, expected(t, i, profile)})
		}
		return out
	}
	return p.scenario(got, all), judge, nil
}
