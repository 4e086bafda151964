package sim

import (
	"errors"
	"fmt"
)

// ErrLimit is wrapped by the errors of runs that reached a limit of the simulator. Such
// a run proves nothing about the code: a check that reaches one has no verdict.
var ErrLimit = errors.New("sim: a limit of the simulator")

// maxOptions bounds one choice: each option is a run.
const maxOptions = 1 << 20

// LimitError means that a run made more objects of a kind than the simulator can distinguish.
type LimitError struct {
	What string
	Max  int
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("%v: more than %d %s", ErrLimit, e.Max, e.What)
}
func (e *LimitError) Unwrap() error { return ErrLimit }

// Class returns the class of the violation.
func (e *LimitError) Class() string { return "limit" }

// StepLimitError means that the run did not end within the configured number of steps.
type StepLimitError struct{ Steps int }

func (e *StepLimitError) Error() string {
	return fmt.Sprintf("the run did not end within %d steps", e.Steps)
}
func (e *StepLimitError) Unwrap() error { return ErrLimit }

// Class returns the class of the violation.
func (e *StepLimitError) Class() string { return "step-limit" }

// bound fails the run if n objects exist already and one more would be too many.
func (w *World) bound(what string, n, most int) {
	if n >= most {
		w.Fail(&LimitError{what, most})
	}
}
