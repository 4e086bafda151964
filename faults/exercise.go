package faults

import "strings"

// Exercise is a set of things that a program does. A promise about one of them
// is put to the test only by programs that do it.
type Exercise uint8

// What programs do.
const (
	Writes      Exercise = 1 << iota // RDMA Writes
	Reads                            // RDMA Reads
	Atomics                          // compare-and-swap, fetch-and-add
	Fences                           // requests with a fence
	Revocations                      // memory deregistered, connections ended by the responder
	Persistence                      // persistent memory opened
)

var exerciseNames = []string{"a Write", "a Read", "an Atomic", "a fence", "a revocation", "persistent memory"}

// String returns the names in x with "or" between them.
func (x Exercise) String() string {
	var names []string
	for i, name := range exerciseNames {
		if x>>i&1 != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, " or ")
}
