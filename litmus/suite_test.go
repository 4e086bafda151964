package litmus_test

import (
	"path/filepath"
	"testing"

	"github.com/verbatim-rdma/verbatim/litmus"
)

// TestSuite holds every test of testdata/litmus against the simulator.
func TestSuite(t *testing.T) {
	files, err := filepath.Glob("../testdata/litmus/*" + litmus.Ext)
	if err != nil || len(files) == 0 {
		t.Fatal(err, len(files))
	}
	sim, _ := litmus.BackendByName("sim")
	for _, file := range files {
		test, err := litmus.ParseFile(file)
		if err != nil {
			t.Error(err)
			continue
		}
		t.Run(test.Name, func(t *testing.T) {
			t.Parallel()
			for _, profile := range litmus.Profiles(test) {
				r, err := litmus.Run(test, profile, sim, litmus.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if r.Reason != nil {
					t.Errorf("%s: %v", profile, r.Reason)
				}
				for i := range r.Rows {
					if x := &r.Rows[i]; !x.OK() {
						t.Errorf("%s: %s (%s): expected %s, got %s; final states:\n%q", profile, x.Outcome, x.Cond, x.Expected, x.Got, r.Finals)
					}
				}
				t.Log(profile, r.Runs, r.States, r.Elapsed)
			}
		})
	}
}
