package model

import (
	"errors"
	"fmt"

	"github.com/anishathalye/porcupine"
)

// ErrBadOperation: the specification does not know this operation, or its arguments or
// output cannot occur (a negative offset, a read with the output of a write). It is a
// mistake of the harness, not a fault of the protocol, so [Check] returns Unknown,
// never Illegal.
var ErrBadOperation = errors.New("model: bad operation")

// Done is the output of an operation that only reports success.
type Done struct{}

func (Done) String() string { return "ok" }

// Spec is the sequential specification of a service: what a single copy may answer that
// executes one operation at a time. All methods are pure: Step returns a new state and
// does not modify the old one.
type Spec interface {
	// Name is used in messages.
	Name() string
	// Init is the state before the first operation.
	Init() any
	// Step reports whether the operation may have this output in this state, and
	// returns the next state. The output [NoReply] is always allowed.
	Step(state, input, output any) (bool, any)
	// Equal and Hash compare states; equal states have equal hashes.
	Equal(a, b any) bool
	Hash(state any) uint64
	// Size is roughly the number of bytes of the state: the cost of a step in time and
	// memory.
	Size(state any) int
	// Validate rejects operations for which Step is undefined, with an error that wraps
	// ErrBadOperation.
	Validate(input, output any) error
	// Key splits the history: operations with different keys do not affect each other,
	// and Init and Step concern one key. It is constant if the service does not split.
	Key(input any) string
	// ReadOnly reports that the operation changes no state. A read without a reply
	// carries no information, so the check omits it.
	ReadOnly(input any) bool
	// DescribeOperation and DescribeState are used in counterexamples.
	DescribeOperation(input, output any) string
	DescribeState(state any) string
}

// Model returns the specification as porcupine's own model, for its visualizer or its
// other checkers. It has no budget.
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

// partition splits the operations by key, in the order in which the keys first occur,
// and drops those that carry no information.
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

// describe returns the DescribeOperation of all specifications here: the operation types
// print themselves.
func describe(input, output any) string {
	return fmt.Sprintf("%v -> %v", input, output)
}

// badOperation returns the error of Validate for an operation and an output that do not
// match.
func badOperation(spec string, input, output any) error {
	return fmt.Errorf("%w: %s: %T %v -> %T %v", ErrBadOperation, spec, input, input, output, output)
}
