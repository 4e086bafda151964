package litmus_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/litmus"
)

// TestEagerSuite compares the final states of the search with those of a machine
// that makes each arrival and placement a step of its own and tries all orders.
func TestEagerSuite(t *testing.T) {
	files, err := filepath.Glob("../testdata/litmus/*" + litmus.Ext)
	if err != nil || len(files) == 0 {
		t.Fatal(err, len(files))
	}
	for _, file := range files {
		test, err := litmus.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		size := 0
		for _, m := range test.Memory {
			for _, b := range m.Blocks {
				for _, l := range b.Locs {
					size += max(l.Size, 8)
				}
			}
		}
		if size > 64 {
			continue // too many pieces to try all orders
		}
		t.Run(test.Name, func(t *testing.T) {
			t.Parallel()
			for _, profile := range []string{"strong", "relaxed", "iba"} {
				s, err := litmus.Compile(test)
				if err != nil {
					t.Fatal(err)
				}
				opt := explore.Options{Profile: profile, Workers: 1}
				r, err := explore.Check(s, opt)
				if err != nil {
					t.Fatal(err)
				}
				want, runs, done, err := explore.Naive(s, opt, true, 20_000)
				if err != nil {
					t.Fatal(err)
				}
				if !done {
					t.Logf("%s: more than %d runs: not compared", profile, runs)
					continue
				}
				if d := cmp.Diff(want, r.Outcomes); d != "" {
					t.Errorf("%s: final states differ (-naive +search):\n%s", profile, d)
				}
			}
		})
	}
}
