package model

import (
	"errors"
	"fmt"

	"github.com/anishathalye/porcupine"
)

// ErrBadOperation: the specification does not know this operation, or the
// operation's arguments or output cannot occur (a negative offset, a read which
// answers with a write's output). It is a mistake of the harness, not a fault
// of the protocol, so [Check] answers Unknown and never Illegal.
var ErrBadOperation = errors.New("model: bad operation")

// Done is the output of an operation which only reports success.
type Done struct{}

func (Done) String() string { return "ok" }

// Spec is the sequential specification of a service: what one copy of it,
// doing one operation at a time, may answer. All methods are pure: Step makes
// a new state and leaves the old one as it was.
type Spec interface {
	// Name is for messages.
	Name() string
	// Init is the state before the first operation.
	Init() any
	// Step says whether the operation may give this output in this state, and
	// what the state is afterwards. The output [NoReply] is always allowed.
	Step(state, input, output any) (bool, any)
	// Equal and Hash compare states; equal states have equal hashes.
	Equal(a, b any) bool
	Hash(state any) uint64
	// Size is about the number of bytes the state takes: what a step of it
	// costs in time and memory.
	Size(state any) int
	// Validate rejects operations that Step is not defined for, with an
	// error that wraps ErrBadOperation.
	Validate(input, output any) error
	// Key splits the history: operations with different keys do not affect
	// each other and Init and Step are about one key. It is the same for all
	// operations when the service does not split.
	Key(input any) string
	// ReadOnly says that the operation changes no state. A read without a
	// reply tells nothing, so the check leaves it out.
	ReadOnly(input any) bool
	// DescribeOperation and DescribeState are for counterexamples.
	DescribeOperation(input, output any) string
	DescribeState(state any) string
}

// Model is the specification as porcupine's own model, for its visualizer or
// its other checkers. It has no budget.
func Model(spec Spec) porcupine.Model {
	return porcupine.Model{
		Partition: func(ops []porcupine.Operation) [][]porcupine.Operation {
			return partition(spec, ops)
		},
		Init:              spec.Init,
		Step:              spec.Step,
		Equal:             spec.Equal,
		Hash:              spec.Hash,
		DescribeOperation: spec.DescribeOperation,
		DescribeState:     spec.DescribeState,
		DescribeOperationMetadata: func(info any) string {
			if info == nil {
				return ""
			}
			return fmt.Sprint(info)
		},
	}
}

// partition splits the operations by key, in the order in which the keys
// first occur, and drops those that cannot tell anything.
func partition(spec Spec, ops []porcupine.Operation) [][]porcupine.Operation {
	var parts [][]porcupine.Operation
	index := make(map[string]int)
	for _, op := range ops {
		if isNoReply(op.Output) && spec.ReadOnly(op.Input) {
			continue
		}
		key := spec.Key(op.Input)
		at, ok := index[key]
		if !ok {
			at = len(parts)
			index[key] = at
			parts = append(parts, nil)
		}
		parts[at] = append(parts[at], op)
	}
	return parts
}

func isNoReply(output any) bool {
	_, ok := output.(NoReply)
	return ok
}

// describe is the DescribeOperation of all specifications here: the operation
// types print themselves.
func describe(input, output any) string {
	return fmt.Sprintf("%v -> %v", input, output)
}

// badOperation is the error of Validate for an operation and output that do
// not belong together.
func badOperation(spec string, input, output any) error {
	return fmt.Errorf("%w: %s: %T %v -> %T %v", ErrBadOperation, spec, input, input, output, output)
}
