package programs_test

import (
	"slices"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore/programs"
)

// What both machines share no comparison finds: these outcomes are by hand.
func TestOutcomesByHand(t *testing.T) {
	for _, x := range []struct {
		name, program string
		want          []string
	}{
		{"a link heals, and the one to the services is still cut", "strong linger | a: icut b; cutsvc; count 1 | b: heal a; counter", []string{"a:unreachable b:0"}},
		{"what a host has sent may be lost if it dies", "strong linger crash(a)<=1 | a: ask b 1; count 1; accept | b: counter; ?1 accept",
			[]string{"a: b:0", "a: b:1 1", "a: b:1…", "a:0… b:0", "a:0… b:1 1"}},
		{"also if its link was cut then", "strong linger | a: icut b; ask b 1; count 1; mecrash | b: counter; ?1 heal a; accept", []string{"a: b:0…", "a: b:1 1", "a: b:1…"}},
		{"the request of a call that was given up on a cut link never comes", "strong linger | a: icut b; call b 1; heal b; call c 2 | b: accept; accept | c: accept; reply 1; call b 3",
			[]string{"a:unreachable 1 b:3… c:2…"}},
		{"other tasks run between two injected damages", "strong | b: go {dflip y; dflip y}; pload y", []string{"b:0", "b:0,0.0()", "b:0.0(),1", "b:1"}},
	} {
		p, err := programs.Parse(x.program)
		if err != nil {
			t.Fatal(err)
		}
		c, err := programs.Compare(p, programs.Limits{Runs: 100_000, States: 100_000})
		if err != nil || !slices.Equal(c.Outcomes, x.want) || len(c.Diffs) > 0 {
			t.Errorf("%s: %v\n  %s\n  %q\n  want %q\n%v", x.name, err, x.program, c.Outcomes, x.want, c.Diffs)
		}
	}
}
