package model

import "fmt"

// Register is one 64-bit word, zero at first, for RDMA READ, WRITE and COMPARE_AND_SWAP
// of one word.
type Register struct{}

// Operations of a [Register] and their outputs.
type (
	// RegisterRead answers RegisterValue.
	RegisterRead struct{}
	// RegisterWrite answers Done.
	RegisterWrite struct{ Value uint64 }
	// RegisterCAS writes New if the value is Old. It answers RegisterSwapped, or
	// RegisterValue with the old value, as RDMA does.
	RegisterCAS struct{ Old, New uint64 }

	// RegisterValue is a value of the register.
	RegisterValue struct{ Value uint64 }
	// RegisterSwapped reports whether a compare-and-swap wrote.
	RegisterSwapped struct{ OK bool }
)

func (RegisterRead) String() string      { return "read()" }
func (o RegisterWrite) String() string   { return fmt.Sprintf("write(%d)", o.Value) }
func (o RegisterCAS) String() string     { return fmt.Sprintf("cas(%d, %d)", o.Old, o.New) }
func (o RegisterValue) String() string   { return fmt.Sprint(o.Value) }
func (o RegisterSwapped) String() string { return swapped(o.OK) }

func swapped(ok bool) string {
	if ok {
		return "swapped"
	}
	return "not swapped"
}

// Name implements Spec.
func (Register) Name() string { return "register" }

// Init implements Spec: the register holds 0.
func (Register) Init() any { return uint64(0) }

// Step implements Spec.
func (r Register) Step(state, input, output any) (bool, any) {
	value, ok := state.(uint64)
	if !ok || r.Validate(input, output) != nil {
		return false, state
	}
	switch in := input.(type) {
	case RegisterRead:
		return isNoReply(output) || output == RegisterValue{value}, state
	case RegisterWrite:
		return true, in.Value
	case RegisterCAS:
		return stepCAS(value, in, output)
	}
	return false, state
}

func stepCAS(value uint64, in RegisterCAS, output any) (bool, any) {
	next := value
	if value == in.Old {
		next = in.New
	}
	switch out := output.(type) {
	case NoReply:
		return true, next
	case RegisterSwapped:
		return out.OK == (value == in.Old), next
	case RegisterValue:
		return out.Value == value, next
	}
	return false, value
}

// Validate implements Spec.
func (r Register) Validate(input, output any) error {
	fits := false
	switch input.(type) {
	case RegisterRead:
		_, fits = output.(RegisterValue)
	case RegisterWrite:
		_, fits = output.(Done)
	case RegisterCAS:
		switch output.(type) {
		case RegisterSwapped, RegisterValue:
			fits = true
		}
	default:
		return badOperation(r.Name(), input, output)
	}
	if !fits && !isNoReply(output) {
		return badOperation(r.Name(), input, output)
	}
	return nil
}

// Equal implements Spec.
func (Register) Equal(a, b any) bool { return a == b }

// Hash implements Spec.
func (Register) Hash(state any) uint64 {
	value, _ := state.(uint64)
	return mix64(value)
}

// Size implements Spec.
func (Register) Size(any) int { return 8 }

// Key implements Spec: a register does not split.
func (Register) Key(any) string { return "" }

// ReadOnly implements Spec.
func (Register) ReadOnly(input any) bool {
	_, ok := input.(RegisterRead)
	return ok
}

// DescribeOperation implements Spec.
func (Register) DescribeOperation(input, output any) string { return describe(input, output) }

// DescribeState implements Spec.
func (Register) DescribeState(state any) string { return fmt.Sprint(state) }
