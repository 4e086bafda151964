package main

import (
	"errors"

	"github.com/spf13/cobra"
)

// newMutants is the command that checks protocols with bugs on purpose.
func newMutants() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:               "mutants PROTOCOL",
		Short:             "Check that every bug on purpose is caught",
		Long:              "Mutants checks a protocol again and again, each time with one bug put in on\npurpose, and says which of them were caught, by what and how fast.",
		Example:           "  verbatim mutants ncl",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeProtocols,
		RunE: func(c *cobra.Command, args []string) error {
			p, err := protocolOf(args[0])
			if err != nil {
				return err
			}
			return runMutants(c, p, asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	return c
}

// runMutants is where package mutant goes.
func runMutants(*cobra.Command, *protocol, bool) error {
	return errors.New("this build has no mutants")
}
