package scenario

import "fmt"

// Failure is a violation with a class. It implements [explore.Classed].
type Failure struct {
	class string
	err   error
}

// Failed returns a failure of a class. As with fmt.Errorf, %w wraps an error.
func Failed(class, format string, args ...any) *Failure {
	return &Failure{class, fmt.Errorf(format, args...)}
}

func (f *Failure) Error() string { return f.err.Error() }

func (f *Failure) Unwrap() error { return f.err }

// Class returns a short stable name: shrinking preserves it, and --seek selects it.
func (f *Failure) Class() string { return f.class }

// Failf fails the run with a failure of a class.
func (k *Kit) Failf(class, format string, args ...any) { k.Fail(Failed(class, format, args...)) }
