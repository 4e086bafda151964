package programs_test

import (
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore/programs"
)

// A CompareSwap was shown as landing 0x0: what it found, and not what it did.
func TestTimelinesShowWhatAtomicsDo(t *testing.T) {
	p, err := programs.Parse("strong | a: fetchadd b x 2 s; wait b 1; cas b x 2 5 s; wait b 1; cas b x 2 6 s; wait b 1 | b:")
	if err != nil {
		t.Fatal(err)
	}
	c, err := programs.Compare(p, programs.Limits{Runs: 20_000, States: 20_000})
	if err != nil || len(c.Outcomes) == 0 {
		t.Fatal(c, err)
	}
	steps, err := p.Story(c.Outcomes[0], false, 20_000)
	if err != nil {
		t.Fatal(err)
	}
	told := strings.Join(steps, "\n")
	for _, want := range []string{"#0 adds 0x2 to 0x0 at ", "#1 swaps 0x2→0x5 at ", "#2 finds 0x5, not 0x2, at "} {
		if !strings.Contains(told, want) {
			t.Errorf("no %q in\n%s", want, told)
		}
	}
}
