package model

import "fmt"

// KV is a key-value store, empty at first. Every operation concerns one key, so a
// history splits by key and the state of the specification is the content of one key.
type KV struct{}

// Operations of a [KV] and their outputs.
type (
	// KVGet answers KVValue.
	KVGet struct{ Key string }
	// KVPut answers Done.
	KVPut struct{ Key, Value string }
	// KVAppend appends to the value, or puts it if there is none. It answers Done, or
	// KVValue with the new value.
	KVAppend struct{ Key, Value string }
	// KVDelete answers Done, or KVValue with the old value.
	KVDelete struct{ Key string }
	// KVCAS puts New if the key holds Old. It answers KVSwapped.
	KVCAS struct{ Key, Old, New string }

	// KVValue is the content of a key; Value is "" if it is not Found.
	KVValue struct {
		Value string
		Found bool
	}
	// KVSwapped reports whether a compare-and-swap put its value.
	KVSwapped struct{ OK bool }
)

func (o KVGet) String() string     { return fmt.Sprintf("get(%q)", o.Key) }
func (o KVPut) String() string     { return fmt.Sprintf("put(%q, %q)", o.Key, o.Value) }
func (o KVAppend) String() string  { return fmt.Sprintf("append(%q, %q)", o.Key, o.Value) }
func (o KVDelete) String() string  { return fmt.Sprintf("delete(%q)", o.Key) }
func (o KVCAS) String() string     { return fmt.Sprintf("cas(%q, %q, %q)", o.Key, o.Old, o.New) }
func (o KVSwapped) String() string { return swapped(o.OK) }
func (o KVValue) String() string {
	if !o.Found {
		return "not found"
	}
	return fmt.Sprintf("%q", o.Value)
}

// Name implements Spec.
func (KV) Name() string { return "kv" }

// Init implements Spec: the key is absent.
func (KV) Init() any { return KVValue{} }

// Step implements Spec.
func (kv KV) Step(state, input, output any) (bool, any) {
	old, ok := state.(KVValue)
	if !ok || kv.Validate(input, output) != nil {
		return false, state
	}
	next, want, ok := applyKV(old, input)
	if !ok {
		return false, state
	}
	switch out := output.(type) {
	case NoReply, Done:
		return true, next
	default:
		return out == want, next
	}
}

// applyKV applies an operation to one key, and returns its most detailed answer.
func applyKV(old KVValue, input any) (next KVValue, want any, ok bool) {
	switch in := input.(type) {
	case KVGet:
		return old, old, true
	case KVPut:
		return KVValue{in.Value, true}, Done{}, true
	case KVAppend:
		next = KVValue{old.Value + in.Value, true}
		return next, next, true
	case KVDelete:
		return KVValue{}, old, true
	case KVCAS:
		if old == (KVValue{in.Old, true}) {
			return KVValue{in.New, true}, KVSwapped{true}, true
		}
		return old, KVSwapped{false}, true
	}
	return old, nil, false
}

// Validate implements Spec.
func (kv KV) Validate(input, output any) error {
	var done, value, swap bool // the outputs that the operation may have
	switch input.(type) {
	case KVGet:
		value = true
	case KVPut:
		done = true
	case KVAppend, KVDelete:
		done, value = true, true
	case KVCAS:
		swap = true
	default:
		return badOperation(kv.Name(), input, output)
	}
	fits := false
	switch out := output.(type) {
	case NoReply:
		fits = true
	case Done:
		fits = done
	case KVValue:
		fits = value && (out.Found || out.Value == "")
	case KVSwapped:
		fits = swap
	}
	if !fits {
		return badOperation(kv.Name(), input, output)
	}
	return nil
}

// Equal implements Spec.
func (KV) Equal(a, b any) bool { return a == b }

// Hash implements Spec.
func (KV) Hash(state any) uint64 {
	v, _ := state.(KVValue)
	if !v.Found {
		return 0
	}
	return hashBytes(v.Value)
}

// Size implements Spec.
func (KV) Size(state any) int {
	v, _ := state.(KVValue)
	return 24 + len(v.Value)
}

// Key implements Spec.
func (KV) Key(input any) string {
	switch in := input.(type) {
	case KVGet:
		return in.Key
	case KVPut:
		return in.Key
	case KVAppend:
		return in.Key
	case KVDelete:
		return in.Key
	case KVCAS:
		return in.Key
	}
	return ""
}

// ReadOnly implements Spec.
func (KV) ReadOnly(input any) bool {
	_, ok := input.(KVGet)
	return ok
}

// DescribeOperation implements Spec.
func (KV) DescribeOperation(input, output any) string { return describe(input, output) }

// DescribeState implements Spec.
func (KV) DescribeState(state any) string { return fmt.Sprint(state) }
