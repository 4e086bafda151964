package matrix_test

import (
	"fmt"

	"github.com/verbatim-rdma/verbatim/explore/matrix"
)

func ExampleFill() {
	cells, err := matrix.Fill(mirrors(), matrix.Options{MaxRuns: small, Probe: 200})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range cells {
		if c.Assumption == "strong" || c.Assumption == "ReadsSeeAcked=false" {
			fmt.Printf("%s %s %q\n", c.Assumption, c.Verdict, c.Mend)
		}
	}
	// Output:
	// strong holds ""
	// ReadsSeeAcked=false breaks "flush-read"
}
