package explore_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// A call that makes no sense is a violation that names it, and never a silent success.
func TestMisuseIsAViolation(t *testing.T) {
	for want, misuse := range map[string]func(h host.Host, r host.Region){
		`Go("x", nil)`:                   func(h host.Host, _ host.Region) { h.Go("x", nil) },
		"Rand(0)":                        func(h host.Host, _ host.Region) { h.Rand(0) },
		"1 bytes at 9223372036854775807": func(_ host.Host, r host.Region) { r.Flush(math.MaxInt, 1) },
		"-1 bytes at 0":                  func(_ host.Host, r host.Region) { r.Flush(0, -1) },
	} {
		t.Run(want, func(t *testing.T) {
			s := scenario("misuse", "", func(*tiny) []sim.Node {
				return []sim.Node{{Name: "a", Main: func(h host.Host, _ int) {
					r, err := h.OpenPMEM("p", 64)
					if err != nil {
						panic(err)
					}
					misuse(h, r)
				}}}
			})
			r, err := explore.Check(s, explore.Options{})
			if err != nil || r.Verdict != explore.Violated || !strings.Contains(r.Counterexample.Message, want) {
				t.Fatalf("%v, %+v", err, r)
			}
		})
	}
}

// A scenario that cannot run is an error that says what to mend, not a panic.
func TestScenarioThatCannotRun(t *testing.T) {
	for want, s := range map[string]*explore.Scenario{
		"small/x: Build is nil":                      {Name: "small/x"},
		"small/x has 65 sometimes conditions; at mo": {Name: "small/x", Sometimes: make([]string, 65)},
	} {
		if _, err := explore.Check(s, explore.Options{}); !errors.Is(err, explore.ErrScenario) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
}
