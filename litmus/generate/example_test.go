package generate_test

import (
	"fmt"

	"github.com/verbatim-rdma/verbatim/litmus/generate"
)

// Two Writes, and a CPU that loads their targets in the other order.
func Example() {
	p, err := generate.Parse("A-wx-wy_B-ly-lx")
	if err != nil {
		fmt.Println(err)
		return
	}
	verdicts, err := generate.Judge([]*generate.Program{p}, generate.Options{Profiles: []string{"strong", "relaxed"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for v := range verdicts {
		for _, g := range v.Groups() {
			for _, s := range g.States {
				fmt.Printf("%s: %s\n", v.Who(g.By), s)
			}
		}
	}
	// Output:
	// all: B.r1=0 B.r2=0 B:x=1 B:y=2
	// all: B.r1=0 B.r2=1 B:x=1 B:y=2
	// all: B.r1=2 B.r2=1 B:x=1 B:y=2
	// relaxed: B.r1=2 B.r2=0 B:x=1 B:y=2
}
