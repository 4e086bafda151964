package explore_test

import (
	"errors"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// The yardstick repeats runs up to the last choice, so it reports code that does not
// repeat itself.
func TestNaiveNeedsRepetition(t *testing.T) {
	runs := 0
	s := &explore.Scenario{Name: "small/counts-runs", Build: func(c *explore.Case) (sim.Config, error) {
		c.OnReset(func() { runs++ })
		return sim.Config{Profile: c.Profile, Nodes: []sim.Node{{Name: "a", Main: func(h host.Host, _ int) {
			for range 1 + runs%3 {
				h.Go("t", func() { h.Sleep(time.Second) })
			}
		}}}}, nil
	}}
	if _, _, _, err := explore.Naive(s, explore.Options{Workers: 1}, false, 1000); !errors.Is(err, explore.ErrNotDeterministic) {
		t.Errorf("the error is %v", err)
	}
}
