// Package order says which of two pieces of work on one queue pair must be in memory
// before the other, and how memory and messages are cut into pieces. It holds rules only:
// plain values in, an answer out, no state and no choice. Package sim asks it, and its
// tests read like the tables from which the rules come.
//
// The rules are table 79 of the InfiniBand Architecture specification, volume 1 (order.go),
// with the knobs of a profile where the specification leaves something open or cards do
// more than it asks. For Flush and Atomic Write they are those of the IBTA's extensions for
// memory placement (2021).
//
// The store buffer of a CPU is no queue pair. It keeps the order of its stores, so nobody
// asks this package about it.
package order
