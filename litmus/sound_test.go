package litmus_test

import (
	"slices"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/litmus"
	"github.com/verbatim-rdma/verbatim/litmus/lang"
)

// TestEagerSuite compares the final states of the search with those of a machine
// that makes each arrival and placement a step of its own and tries all orders.
//
// With a fault the machine may have fewer: in it, what was posted before a link
// was cut always arrives in the end.
func TestEagerSuite(t *testing.T) {
	compared := 0
	for _, test := range suite(t) {
		if known[test.Name] != "" || size(test) > 64 {
			continue
		}
		for _, profile := range []string{"strong", "relaxed"} {
			if !slices.Contains(litmus.Profiles(test), profile) {
				continue
			}
			s, err := litmus.Compile(test)
			if err != nil {
				t.Fatal(err)
			}
			opt := explore.Options{Profile: profile, Workers: 1}
			want, _, done, err := explore.Naive(s, opt, true, 3000)
			if err != nil {
				t.Fatal(err)
			}
			r, err := explore.Check(s, opt)
			if err != nil || r.Verdict != explore.Verified {
				t.Fatal(test.Name, profile, err, r)
			}
			for _, o := range want {
				if !slices.Contains(r.Outcomes, o) {
					t.Errorf("%s, %s: the search loses %s", test.Name, profile, o)
				}
			}
			if !done {
				continue
			}
			compared++
			for _, o := range r.Outcomes {
				if !slices.Contains(want, o) && !faulty(test) {
					t.Errorf("%s, %s: no machine ends in %s", test.Name, profile, o)
				}
			}
		}
	}
	if compared < 20 {
		t.Errorf("only %d comparisons were complete", compared)
	}
}

// size is how many bytes of memory a test has: large ones have too many orders.
func size(test *lang.Test) int {
	n := 0
	for _, m := range test.Memory {
		for _, b := range m.Blocks {
			for _, l := range b.Locs {
				n += max(l.Size, 8)
			}
		}
	}
	return n
}

func faulty(test *lang.Test) bool {
	if test.Faults != "" {
		return true
	}
	for _, th := range test.Threads {
		for _, s := range th.Body {
			if _, ok := s.(lang.Fault); ok {
				return true
			}
		}
	}
	return false
}
