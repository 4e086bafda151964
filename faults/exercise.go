package faults

import "strings"

// Exercise is a set of operations that a program performs. A promise about one of them
// matters only to programs that perform it.
type Exercise uint8

// The operations that promises are about.
const (
	Writes      Exercise = 1 << iota // RDMA Writes
	Reads                            // RDMA Reads
	Atomics                          // compare-and-swap, fetch-and-add
	Fences                           // requests with a fence
	Revocations                      // memory deregistered, connections closed by the responder
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
