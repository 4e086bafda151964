package programs_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore/programs"
)

// A fault more that may happen takes no outcome away.
func TestFaultsTakeNothingAway(t *testing.T) {
	if testing.Short() {
		t.Skip("searches have nothing for the race detector; go test ./... runs them")
	}
	t.Parallel()
	limit := programs.Limits{Runs: 3000, States: 20_000}
	compared := 0
	check := func(text, more string) {
		p, err := programs.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		q, err := programs.Parse(strings.Replace(text, " |", " "+more+" |", 1))
		if err != nil {
			return // it has that already, or it makes no sense there
		}
		few, err := programs.Compare(p, limit)
		if err != nil || few.Truth == programs.TooLarge {
			return
		}
		many, err := programs.Compare(q, limit)
		if err != nil || many.Truth == programs.TooLarge {
			return
		}
		compared++
		for _, o := range few.Outcomes {
			if !slices.Contains(many.Outcomes, o) {
				t.Errorf("with %s it is no outcome any more: %s\n%s", more, o, p)
			}
		}
	}
	for _, text := range []string{"strong flip(a)<=1 | a: pstore x 1; pload x", "strong poison(a)<=1 | a: pstore x 1; pload x"} {
		for _, more := range []string{"power(a)<=1", "crash(a)<=1", "flip(a)<=1", "poison(a)<=1"} {
			check(text, more)
		}
	}
	for seed := uint64(1); seed <= 3; seed++ {
		for _, kind := range []string{"media", "pmem", "plain", "revocations"} {
			p := programs.Generate(kind, seed)
			host := p.Hosts[len(p.Hosts)-1].Name
			for _, fault := range []string{"power", "crash", "flip"} {
				check(p.String(), fault+"("+host+")<=1")
			}
		}
	}
	if compared < 20 {
		t.Errorf("only %d programs were compared", compared)
	}
}
