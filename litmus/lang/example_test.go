package lang_test

import (
	"fmt"

	"github.com/verbatim-rdma/verbatim/litmus/lang"
)

func ExampleFormat() {
	fmt.Print(lang.Format(&lang.Test{
		Name: "lone-write", Doc: "A Write arrives.", Source: "an example", Rules: []string{"none"}, Hosts: []string{"A", "B"},
		Memory:  []lang.Memory{{Host: "B", Blocks: []lang.Block{{Locs: []lang.Loc{{Name: "x", At: -1}}}}}},
		Threads: []lang.Thread{{Name: "A", Host: "A", Body: []lang.Stmt{lang.Stop{}}}},
		Outcomes: []lang.Outcome{{Cond: lang.Compare{L: lang.Term{Host: "B", Name: "x"}, Op: "==", R: lang.Term{Num: 1}},
			Verdicts: []lang.Verdict{{Profile: "*", Reached: false}}}},
	}))
	// Output:
	// litmus lone-write
	// doc    A Write arrives.
	// source an example
	// rule   none
	// hosts  A B
	// dram   B: x
	//
	// thread A
	//   stop
	//
	// exists B:x == 1
	//   * N
}
