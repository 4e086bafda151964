package command

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/explore"
)

// newRoot returns the command line of the protocols; doc is a further paragraph of its help text.
func newRoot(doc string) *cobra.Command {
	if doc != "" {
		doc = "\n\n" + doc
	}
	root := cli.Root(&cobra.Command{
		Use:   "verbatim",
		Short: "Check RDMA replication protocols by running their real code",
		Long: `Verbatim runs the real code of an RDMA replication protocol in a deterministic simulator
		and enumerates the possible effects of cards, networks and crashes. It returns a run that
		violates the protocol's promise, or verifies that no such run exists within the stated
		bounds.` + doc + `

Exit status: 0 verified (or clean, for strategies that sample), 1 a promise is violated,
2 bad usage or input, 3 a limit was hit or the check could not decide. If several apply,
2 takes precedence over 1, 1 over 3, and 3 over 0.`,
	})
	root.AddCommand(newCheck(), newReplay(), newExplore(), newList(), newMutants(), newLitmus(), newMatrix(), newVet())
	if name := programName(); name != root.Name() {
		root.Use = name
		rename(root, name)
	}
	root.Example = examples(root.Name())
	return root
}

// examples are the examples of the first scenario.
func examples(name string) string {
	p := &protocols[0]
	first := p.Name
	if all := p.Scenarios(); len(all) > 0 {
		first = all[0].Name
	}
	return fmt.Sprintf(`  %[1]s list
  %[1]s check %[2]s
  %[1]s check %[3]s --profile relaxed
  %[1]s replay %[4]s
  %[1]s litmus --profile strong
  source <(%[1]s completion bash)`, name, p.Name, first, explore.FileName(first))
}

// rename adapts the help texts of command verbatim to another program. The examples name protocols that the other
// program does not have.
func rename(c *cobra.Command, name string) {
	of := func(text string) string { return strings.ReplaceAll(text, "verbatim ", name+" ") }
	for _, x := range c.Commands() {
		x.Long, x.Example = of(x.Long), ""
		x.Flags().VisitAll(func(f *pflag.Flag) { f.Usage = of(f.Usage) })
		rename(x, name)
	}
}
