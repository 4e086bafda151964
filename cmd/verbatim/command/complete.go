package command

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/faults"
)

// completeProtocols completes one protocol.
func completeProtocols(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return protocolNames(), cobra.ShellCompDirectiveNoFileComp
}

// completeScenarios completes any number of protocols and scenarios.
func completeScenarios(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var out []string
	for i := range protocols {
		out = append(out, protocols[i].Name)
		for _, s := range protocols[i].named() {
			out = append(out, s.Name+"\t"+s.Doc)
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// completeFaults completes the kind of the last rule of a budget.
func completeFaults(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	if strings.Count(typed, "(") > strings.Count(typed, ")") {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	before := typed[:strings.LastIndex(typed, ",")+1]
	out := []string{}
	for _, k := range faults.KindNames() {
		out = append(out, before+k+"(")
	}
	return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// timersUsage is the help text of --timers.
const timersUsage = "when timers may fire: idle (only when nothing else can happen), free (at any moment) or skew(r) (on clocks within a ratio r); see docs/time.md; default: the scenario's"

func completeTimers(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"idle", "free", "skew(1.1)"}, cobra.ShellCompDirectiveNoFileComp
}

func completeStrategy(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{explore.Exhaustive, explore.Random, explore.PCT, explore.Mixed}, cobra.ShellCompDirectiveNoFileComp
}
