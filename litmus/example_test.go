package litmus_test

import (
	"fmt"

	"github.com/verbatim-rdma/verbatim/litmus"
)

func Example() {
	test, err := litmus.Parse("coherence.litmus", []byte(`litmus coherence
doc    Two Writes to one word: does the first stay?
source notes 3, test 6
rule   placement-order
hosts  A B
dram   B: x

thread A
  write x <- 1
  write x <- 2

exists B:x == 1
  strong N
  *      Y
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	sim, _ := litmus.BackendByName("sim")
	for _, profile := range []string{"strong", "relaxed"} {
		r, err := litmus.Run(test, profile, sim, litmus.Options{})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(profile, r.Rows[0].Expected, r.Rows[0].Got, r.Finals)
	}
	// Output:
	// strong N N [B:x=2]
	// relaxed Y Y [B:x=1 B:x=2]
}
