package scenario_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/scenario"
)

// judged records failures instead of failing.
type judged struct {
	testing.TB
	failed []string
}

func (j *judged) Helper()                   {}
func (j *judged) Logf(string, ...any)       {}
func (j *judged) Errorf(f string, x ...any) { j.failed = append(j.failed, fmt.Sprintf(f, x...)) }
func (j *judged) Fatalf(f string, x ...any) { j.Errorf(f, x...) }

// An unmet condition fails a test, and so does every verdict but verified.
func TestVerify(t *testing.T) {
	right, wrong := []string{"server2", "server1"}, []string{"server1", "server2"}
	unmet := first(right...)
	unmet.Sometimes = append(unmet.Sometimes, "the sky fell")
	twice := []explore.Options{{}, {}}
	for _, x := range []struct {
		name  string
		s     *explore.Scenario
		opts  []explore.Options
		fails int
	}{
		{"verified", first(right...), nil, 0},
		{"violated", first(wrong...), nil, 1},
		{"a condition is not met", unmet, nil, 1},
		{"ran out", first(right...), []explore.Options{{MaxRuns: 1}}, 1},
		{"sampled", first(right...), []explore.Options{{Strategy: explore.Random, MaxRuns: 100}}, 1},
		{"no such profile", first(right...), []explore.Options{{Profile: "nothing"}}, 1},
		{"no scenario", nil, nil, 1},
		{"too many options", first(right...), twice, 1},
	} {
		j := &judged{TB: t}
		scenario.Verify(j, x.s, x.opts...)
		if len(j.failed) != x.fails {
			t.Errorf("%s: %q", x.name, j.failed)
		}
	}
	j := &judged{TB: t}
	scenario.Verify(j, unmet)
	if want := []string{"number/first never met the condition: the sky fell"}; !slices.Equal(j.failed, want) {
		t.Errorf("%q, want %q", j.failed, want)
	}
}
