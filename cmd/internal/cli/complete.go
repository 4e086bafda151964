package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/faults"
)

// CompleteWith registers completions of flags; the flags exist.
func CompleteWith(c *cobra.Command, flags map[string]cobra.CompletionFunc) {
	for name, f := range flags { //lint:ordered each flag has its own function
		if err := c.RegisterFlagCompletionFunc(name, f); err != nil {
			panic(err) // a typo in the code: no input causes it
		}
	}
}

// CompleteProfile completes the name of a profile and the knobs after it.
func CompleteProfile(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	if faults.IsFile(typed) {
		return nil, cobra.ShellCompDirectiveDefault
	}
	at := strings.LastIndex(typed, "+")
	if at < 0 {
		return faults.ProfileNames(), cobra.ShellCompDirectiveNoFileComp
	}
	p, err := faults.ProfileByName(typed[:at])
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []string
	for _, k := range p.Knobs() {
		out = append(out, typed[:at+1]+k.Name+"=")
	}
	return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}
