package programs_test

import (
	"slices"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/programs"
)

// What comes between a fourth poll in vain, which had to find nothing, and what its task does next is
// not lost. The comparison leaves such outcomes out, since the eager machine has more of them.
func TestOthersComeAfterAFourthPollInVain(t *testing.T) {
	p, err := programs.Parse("strong | a: send b 1 s; wait b 1; write b x 1 s; wait b 1 | b: recv a; poll a 1; poll a 1; poll a 1; poll a 1; err a")
	if err != nil {
		t.Fatal(err)
	}
	r, err := explore.Check(p.Scenario(), explore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const want = "a:Send Write b:none none none none"
	if !slices.Contains(r.Outcomes, want) {
		t.Errorf("lost %q: %q", want, r.Outcomes)
	}
}
