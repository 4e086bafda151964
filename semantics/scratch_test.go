package semantics_test

import (
	"flag"
	"os"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/litmus"
	"github.com/verbatim-rdma/verbatim/semantics"
)

var file = flag.String("file", "", "")
var prof = flag.String("prof", "strong", "")

func TestScratch(t *testing.T) {
	b, err := os.ReadFile(*file)
	if err != nil {
		t.Skip()
	}
	test, err := litmus.Parse("x", b)
	if err != nil {
		t.Fatal(err)
	}
	got, err := semantics.Run(test, *prof, 3000000)
	t.Log(got.States, err)
	want, err := litmus.Run(test, *prof, litmus.Options{NoRuns: true})
	t.Log(want.Reason, err)
	s, err := litmus.Compile(test)
	if err != nil {
		t.Fatal(err)
	}
	eager, _, done, err := explore.Naive(s, explore.Options{Profile: *prof, Workers: 1}, true, 200000)
	t.Log("eager complete:", done, err)
	t.Log("reference/search\n" + diff(got.Finals, want.Finals))
	t.Log("reference/eager\n" + diff(got.Finals, eager))
	t.Log(got.Finals)
	t.Log("search", want.Finals)
	t.Log("eager", eager)
}
