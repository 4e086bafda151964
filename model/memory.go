package model

import (
	"fmt"
	"strings"
)

// Memory is a memory of Bytes bytes, zero at first, that many clients read and write by
// logical addresses. A list of writes is atomic: all of them happen at one moment, in
// the order of the list, or none does.
type Memory struct{ Bytes int }

// Operations of a [Memory] and their outputs.
type (
	// MemoryRead answers MemoryData: N bytes from Addr.
	MemoryRead struct{ Addr, N int }
	// MemoryWrite answers Done.
	MemoryWrite struct {
		Addr int
		Data string
	}
	// MemoryWriteAll is a list of writes that commit together. It answers Done.
	MemoryWriteAll struct{ List []MemoryWrite }

	// MemoryData is the result of a read.
	MemoryData struct{ Data string }
)

func (o MemoryRead) String() string  { return fmt.Sprintf("read(%d, %d)", o.Addr, o.N) }
func (o MemoryWrite) String() string { return fmt.Sprintf("write(%d, %q)", o.Addr, o.Data) }
func (o MemoryData) String() string  { return fmt.Sprintf("%q", o.Data) }

func (o MemoryWriteAll) String() string {
	var parts []string
	for _, w := range o.List {
		parts = append(parts, fmt.Sprintf("%d, %q", w.Addr, w.Data))
	}
	return "write(" + strings.Join(parts, "; ") + ")"
}

// Name implements Spec.
func (Memory) Name() string { return "memory" }

// Init implements Spec. The state is the content, as a string because strings are
// immutable.
func (m Memory) Init() any { return strings.Repeat("\x00", max(m.Bytes, 0)) }

// Step implements Spec.
func (m Memory) Step(state, input, output any) (bool, any) {
	content, ok := state.(string)
	if !ok || m.Validate(input, output) != nil {
		return false, state
	}
	switch in := input.(type) {
	case MemoryRead:
		return isNoReply(output) || output == MemoryData{content[in.Addr : in.Addr+in.N]}, state
	case MemoryWrite:
		return true, overwrite(content, in)
	case MemoryWriteAll:
		return true, overwrite(content, in.List...)
	}
	return false, state
}

// overwrite applies writes to a content in their order.
func overwrite(content string, list ...MemoryWrite) string {
	b := []byte(content)
	for _, w := range list {
		copy(b[w.Addr:], w.Data)
	}
	return string(b)
}

// Validate implements Spec: reads and writes lie inside the memory, and a list has at
// least one write.
func (m Memory) Validate(input, output any) error {
	fits := isNoReply(output)
	switch in := input.(type) {
	case MemoryRead:
		out, data := output.(MemoryData)
		fits = (fits || data && len(out.Data) == in.N) && m.inside(in.Addr, in.N)
	case MemoryWrite:
		fits = (fits || output == Done{}) && m.inside(in.Addr, len(in.Data))
	case MemoryWriteAll:
		fits = (fits || output == Done{}) && len(in.List) > 0
		for _, w := range in.List {
			fits = fits && m.inside(w.Addr, len(w.Data))
		}
	default:
		fits = false
	}
	if !fits {
		return badOperation(m.Name(), input, output)
	}
	return nil
}

func (m Memory) inside(addr, n int) bool {
	return addr >= 0 && n >= 0 && addr <= m.Bytes && n <= m.Bytes-addr
}

// Equal implements Spec.
func (Memory) Equal(a, b any) bool { return a == b }

// Hash implements Spec.
func (Memory) Hash(state any) uint64 {
	content, _ := state.(string)
	return hashBytes(content)
}

// Size implements Spec.
func (Memory) Size(state any) int {
	content, _ := state.(string)
	return 16 + len(content)
}

// Key implements Spec: a memory does not split, since a list joins addresses.
func (Memory) Key(any) string { return "" }

// ReadOnly implements Spec.
func (Memory) ReadOnly(input any) bool {
	_, ok := input.(MemoryRead)
	return ok
}

// DescribeOperation implements Spec.
func (Memory) DescribeOperation(input, output any) string { return describe(input, output) }

// DescribeState implements Spec.
func (Memory) DescribeState(state any) string { return fmt.Sprintf("%q", state) }
