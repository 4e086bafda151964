package litmus_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/litmus"
	"github.com/verbatim-rdma/verbatim/litmus/lang"
)

// known are the tests that the simulator gets wrong, and what is wrong with it. A
// test that it gets right must leave the list.
var known = map[string]string{}

// suite reads the tests of testdata/litmus.
func suite(t testing.TB) []*lang.Test {
	t.Helper()
	files, err := filepath.Glob("../testdata/litmus/*" + lang.Ext)
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %d files", err, len(files))
	}
	var out []*lang.Test
	for _, file := range files {
		test, err := litmus.ParseFile(file)
		if err != nil {
			t.Error(err)
			continue
		}
		out = append(out, test)
	}
	return out
}

func simulator(t testing.TB) litmus.Backend {
	t.Helper()
	b, err := litmus.BackendByName("sim")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestSuite holds the simulator against every test of testdata/litmus.
func TestSuite(t *testing.T) {
	for i, test := range suite(t) {
		if testing.Short() && i%4 != 0 {
			continue
		}
		t.Run(test.Name, func(t *testing.T) {
			t.Parallel()
			wrong := runAll(t, test)
			switch why := known[test.Name]; {
			case why == "" && wrong != "":
				t.Error(wrong)
			case why != "" && wrong == "":
				t.Errorf("the simulator gets it right: take it off the list of what is known to be wrong (%s)", why)
			}
		})
	}
}

// runAll runs a test under all its profiles and says what is not as expected.
func runAll(t *testing.T, test *lang.Test) string {
	t.Helper()
	var out []string
	for _, profile := range litmus.Profiles(test) {
		r, err := litmus.Run(test, profile, simulator(t), litmus.Options{NoRuns: true})
		if err != nil {
			t.Fatal(err)
		}
		if r.Reason != nil {
			out = append(out, profile+": "+r.Reason.Error())
		}
		for i := range r.Rows {
			if x := &r.Rows[i]; !x.OK() {
				out = append(out, profile+": "+x.Outcome+" ("+x.Cond+"): expected "+string(x.Expected)+", got "+string(x.Got)+
					"; final states:\n    "+strings.Join(r.Finals, "\n    "))
			}
		}
	}
	return strings.Join(out, "\n")
}
