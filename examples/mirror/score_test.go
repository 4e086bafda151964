package mirror_test

import (
	"context"
	"fmt"

	"github.com/verbatim-rdma/verbatim/examples/mirror"
	"github.com/verbatim-rdma/verbatim/explore/mutant"
	"github.com/verbatim-rdma/verbatim/explore/mutant/generate"
)

// Mistakes are put into the register by a machine, one at a time: does its scenario see
// them? These are three of them; with Sample in the place of Names it is a sample of all, and
// mutant.Test does the same in a test, with a score.
func Example_mutants() {
	all, err := mutant.RunScenarios(context.Background(), mutant.ScoreOptions{
		Generate:   generate.Generate,
		Folders:    []string{"examples/mirror"},
		Except:     []string{"examples/mirror/scenario.go", "examples/mirror/wrong.go"},
		Names:      []string{"mirror.Register.Write:logic:1", "mirror.Register.Write:boundary:1", "mirror.Register.Write:flag:1"},
		RandomRuns: 500, SearchRuns: 2000,
	}, mirror.Scenario("write", (*mirror.Register).Write))
	if err != nil {
		fmt.Println(err)
	}
	for _, x := range all {
		fmt.Printf("%s: %s\n", x.ID, x.Result)
	}
	score := mutant.NewScore(all)
	fmt.Printf("%d of %d are caught\n", score.Scenario, score.Mutants)
	// Output:
	// mirror.Register.Write:boundary:1: scenario
	// mirror.Register.Write:logic:1: scenario
	// mirror.Register.Write:flag:1: survives
	// 2 of 3 are caught
}
