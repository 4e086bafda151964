// Package lease is the example of docs/lease.md: a counter in the memory of one host,
// and a lock with a lease that its clients take by compare-and-swap.
//
// memory.go lends the memory and connects to it, lock.go takes the lock, counter.go
// counts under the lock, in one way that looks right and in one that is right. Package
// leasecheck defines the scenarios.
package lease
