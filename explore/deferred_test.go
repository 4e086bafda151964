package explore_test

import (
	"errors"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// What the dead have deferred fails no check: a process that dies runs nothing.
func TestTheDeadFailNothing(t *testing.T) {
	s := &explore.Scenario{Name: "deferred/fail", Profile: "strong", Faults: "crash(a)<=1", Build: func(c *explore.Case) (sim.Config, error) {
		return sim.Config{Profile: c.Profile, Budget: c.Budget, Nodes: []sim.Node{{Name: "a", Main: func(h host.Host, _ int) {
			done := false
			defer func() {
				if !done {
					c.Fail(errors.New("it returned too early"))
				}
			}()
			c.History(fingerprint.Print{}.Bool(true))
			done = true
		}}}}, nil
	}}
	r, err := explore.Check(s, explore.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != explore.Verified {
		t.Errorf("%v %v %+v; want it verified", r.Verdict, r.Reason, r.Counterexample)
	}
}
