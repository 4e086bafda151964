package explore_test

import (
	"errors"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// sealed draws a number in the third of five steps, and fails at the end if it is 1.
func sealed() *explore.Scenario {
	return &explore.Scenario{Name: "sealed", Build: func(c *explore.Case) (sim.Config, error) {
		c.Shows(func() []explore.Operation { return []explore.Operation{{Client: "a", Call: "draw", End: -1}} })
		return sim.Config{Profile: c.Profile, Budget: c.Budget, Nodes: []sim.Node{{Name: "a", Main: func(h host.Host, _ int) {
			h.Sleep(1)
			h.Sleep(1)
			bad := h.Rand(2) == 1
			h.Logf("drawn")
			h.Sleep(1)
			h.Sleep(1)
			if bad {
				c.Fail(errors.New("it was 1"))
			}
		}}}}, nil
	}}
}

// The last chance is the step before the decisive one, however late the failure shows;
// a plain replay does not look for it.
func TestLastChance(t *testing.T) {
	r, err := explore.Check(sealed(), explore.Options{Workers: 1})
	if err != nil || r.Counterexample == nil {
		t.Fatal(r, err)
	}
	re, err := r.Counterexample.ReplayFull(sealed())
	if err != nil {
		t.Fatal(err)
	}
	drawn, failed := 0, 0
	for _, e := range re.Events {
		switch e.Kind {
		case "log":
			drawn = e.Step
		case "violation":
			failed = e.Step
		}
	}
	c := re.LastChance
	if c == nil || c.Step != drawn-1 || c.Tried < 2 || failed <= drawn {
		t.Errorf("drawn in step %d, failed in %d, and the last chance is %+v", drawn, failed, c)
	}
	if len(re.Taken) != 1 || re.Taken[0].Step != drawn || len(re.Operations) != 1 || re.Record == nil {
		t.Errorf("decisions %v, operations %v", re.Taken, re.Operations)
	}
	if plain, err := r.Counterexample.Replay(sealed()); err != nil || plain.LastChance != nil || plain.Record != nil || !plain.Same || !re.Same {
		t.Errorf("%+v: %v", plain, err)
	}
}

// A run that always breaks its promise has no last chance.
func TestNoLastChance(t *testing.T) {
	s := &explore.Scenario{Name: "doomed", Build: func(c *explore.Case) (sim.Config, error) {
		return sim.Config{Profile: c.Profile, Nodes: []sim.Node{{Name: "a", Main: func(h host.Host, _ int) {
			h.Sleep(1)
			c.Fail(errors.New("always"))
		}}}}, nil
	}}
	r, err := explore.Check(s, explore.Options{Workers: 1})
	if err != nil || r.Counterexample == nil {
		t.Fatal(r, err)
	}
	if re, err := r.Counterexample.ReplayFull(s); err != nil || re.LastChance.Step != -1 || re.LastChance.From != 0 {
		t.Errorf("%+v: %v", re.LastChance, err)
	}
}
