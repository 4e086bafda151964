package command

import (
	"errors"
	"fmt"
	"slices"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/faults"
)

// unfit finds a host in --faults that a scenario does not have. It returns one error for all scenarios.
func (f *checkFlags) unfit(todo []*explore.Scenario) error {
	if f.opt.Faults == "" {
		return nil // each scenario has its own budget
	}
	var first error
	var fit, other []string
	for _, s := range todo {
		err := explore.With(s, explore.Options{Faults: f.opt.Faults, StepTimeout: f.opt.StepTimeout}, func(*explore.Case) {})
		switch {
		case !errors.Is(err, faults.ErrUnknownHost):
			fit = append(fit, s.Name) // the check reports other errors
		case first == nil:
			first = fmt.Errorf("%s: %w", s.Name, wrapping(err, faults.ErrUnknownHost))
			fallthrough
		default:
			other = append(other, s.Name)
		}
	}
	switch {
	case first == nil:
		return nil
	case len(fit) > 0:
		return fmt.Errorf("%w\n--faults fits only %s: name those", first, cli.List(fit))
	case len(other) > 1:
		return fmt.Errorf("%w\n--faults fits none of the %d scenarios", first, len(other))
	}
	return first
}

// wrapping returns the innermost error in err that wraps target. The outer errors repeat the names.
func wrapping(err, target error) error {
	switch x := err.(type) {
	case interface{ Unwrap() error }:
		if x.Unwrap() != target {
			return wrapping(x.Unwrap(), target)
		}
	case interface{ Unwrap() []error }:
		for _, e := range slices.Backward(x.Unwrap()) { // the last error names the possible hosts of the fault
			if e != target && errors.Is(e, target) {
				return wrapping(e, target)
			}
		}
	}
	return err
}
