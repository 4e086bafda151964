package command

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/internal/mistake"
)

// topics are the arguments of list.
var topics = []string{"scenarios", "profiles", "faults"}

// newList returns the command that lists scenarios, profiles and faults.
func newList() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "list [scenarios [PROTOCOL[/SCENARIO]|PATTERN...]|profiles|faults]",
		Short: "List the scenarios, the card profiles, and the kinds of faults",
		Long: `List shows what can be checked: the scenarios (all, or those selected as for 'verbatim
check') with their default profile and faults; the profiles with their knobs and the
source of each promise; and the kinds of faults with the grammar of a budget. Without an
argument it lists the scenarios and the names of the rest. --json prints one object per
line.`,
		Example:           "  verbatim list\n  verbatim list profiles\n  verbatim list scenarios ncl\n  verbatim list scenarios 'ncl/re*'\n  verbatim list scenarios --json | jq -r .name",
		Args:              knownTopic,
		ValidArgsFunction: completeTopics,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{""}
			}
			return runList(c.OutOrStdout(), args[0], args[1:], asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per line")
	return c
}

// knownTopic checks the arguments of list.
func knownTopic(_ *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
	case !slices.Contains(topics, args[0]):
		return fmt.Errorf("there is no list of %q; known: %s%s", args[0], cli.List(topics), mistake.DidYouMean(args[0], topics))
	case len(args) > 1 && args[0] != topics[0]:
		return fmt.Errorf("only the list of scenarios takes names: in the list of %s omit %s", args[0], cli.List(args[1:]))
	}
	return nil
}

// completeTopics completes the topics, and the names of scenarios.
func completeTopics(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	switch {
	case len(args) == 0:
		return topics, cobra.ShellCompDirectiveNoFileComp
	case args[0] == topics[0]:
		return completeScenarios(c, args, typed)
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

func runList(w io.Writer, topic string, names []string, asJSON bool) error {
	switch topic {
	case "profiles":
		return listProfiles(w, asJSON)
	case "faults":
		return listFaults(w, asJSON)
	case "":
		if err := listScenarios(w, nil, asJSON); err != nil || asJSON {
			return err
		}
		_, err := fmt.Fprintf(w, "\nprofiles: %s\nfaults:   %s\n", cli.List(faults.ProfileNames()), cli.List(faults.KindNames()))
		return err
	}
	return listScenarios(w, names, asJSON)
}

// listed is a scenario in --json.
type listed struct {
	Name     string `json:"name"`
	Doc      string `json:"doc"`
	Profile  string `json:"profile"`
	Faults   string `json:"faults"`
	Timers   string `json:"timers"`
	Deep     bool   `json:"deep"` // checked only if named
	Strategy string `json:"strategy"`
	Bounds   string `json:"bounds"`
}

func newListed(s *explore.Scenario) listed {
	x := listed{Name: s.Name, Doc: s.Doc, Profile: s.Profile, Faults: s.Faults, Timers: s.Timers, Strategy: s.Strategy, Bounds: s.Bounds}
	x.Profile = cmp.Or(x.Profile, "strong")
	x.Strategy = cmp.Or(x.Strategy, explore.Exhaustive)
	x.Faults = cmp.Or(x.Faults, "none")
	if t, err := faults.ParseTimers(x.Timers); err == nil { // a check reports the error
		x.Timers = t.String()
	}
	return x
}

// listScenarios lists the named scenarios, or all.
func listScenarios(w io.Writer, names []string, asJSON bool) error {
	wanted, err := find(names, true)
	if err != nil {
		return err
	}
	t := cli.NewTable(cli.Row{"scenario", "what is checked", "profile", "faults", "timers"}).Wrapped(24, 48, 10, 26, 9).Separated()
	for i := range protocols {
		usual := len(protocols[i].Scenarios())
		for at, s := range protocols[i].all() {
			if len(names) > 0 && explore.Named(wanted, s.Name) == nil {
				continue
			}
			x := newListed(s)
			x.Deep = at >= usual
			if asJSON {
				if err := cli.Lines(w).Encode(x); err != nil {
					return err
				}
				continue
			}
			t.AppendRow(cli.Row{x.Name, x.Doc + "\n" + x.Bounds, x.Profile, x.Faults, x.Timers})
		}
	}
	if asJSON {
		return nil
	}
	return t.Render(w)
}
