package explore_test

import (
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
)

// An available completion need not show at once. That it shows at the fourth poll at
// the latest is a bound, and a verdict on code that polls so often reports it.
func TestPollsInVainAreBoundedAloud(t *testing.T) {
	for polls, warns := range map[int]bool{1: false, 3: false, 4: true} {
		code := "a: write b 0 1 sig" + strings.Repeat("; poll b", polls) + " | b:"
		r, err := explore.Check(rigScenario(code, "", true, 7), explore.Options{})
		if err != nil || r.Verdict != explore.Verified {
			t.Fatal(r, err)
		}
		if got := strings.Contains(r.Warning(), "poll"); got != warns {
			t.Errorf("%d polls: the verdict warns %q", polls, r.Warning())
		}
	}
}
