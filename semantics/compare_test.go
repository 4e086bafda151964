package semantics_test

import (
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/litmus"
	"github.com/verbatim-rdma/verbatim/litmus/lang"
	"github.com/verbatim-rdma/verbatim/semantics"
)

var only = flag.String("only", "", "compare only files with this in their name")
var limit = flag.Int("limit", 20000, "states that the reference machine may visit")

func TestFiles(t *testing.T) {
	files, _ := filepath.Glob("../testdata/litmus/*" + lang.Ext)
	compared, same, large := 0, 0, 0
	reasons := map[string]int{}
	for _, file := range files {
		if *only != "" && !strings.Contains(file, *only) {
			continue
		}
		test, err := litmus.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, profile := range litmus.Profiles(test) {
			start := time.Now()
			got, err := semantics.Run(test, profile, *limit)
			took := time.Since(start)
			if errors.Is(err, semantics.ErrUnsupported) {
				reasons[err.Error()]++
				continue
			}
			if errors.Is(err, semantics.ErrLimit) {
				large++
				t.Logf("%s %s: too large, %v", test.Name, profile, took)
				continue
			}
			want, err2 := litmus.Run(test, profile, litmus.Options{NoRuns: true})
			if err2 != nil || err != nil || want.Reason != nil {
				t.Errorf("%s %s: %v / %v / %v", test.Name, profile, err, err2, want.Reason)
				continue
			}
			compared++
			if took > time.Second {
				t.Logf("%s %s: %d states %v", test.Name, profile, got.States, took)
			}
			if d := diff(got.Finals, want.Finals); d != "" {
				t.Errorf("%s under %s:\n%s", test.Name, profile, d)
			} else {
				same++
			}
		}
	}
	t.Log(compared, "compared", same, "same", large, "large", reasons)
}

func diff(got, want []string) string {
	var b strings.Builder
	for _, f := range got {
		if !slices.Contains(want, f) {
			fmt.Fprintf(&b, "  only the reference machine: %s\n", f)
		}
	}
	for _, f := range want {
		if !slices.Contains(got, f) {
			fmt.Fprintf(&b, "  only the simulator:         %s\n", f)
		}
	}
	return b.String()
}
