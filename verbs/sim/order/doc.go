// Package order defines which of two pieces of work on one queue pair must be in memory before the other,
// and how memory and messages are cut into pieces. It holds rules only: plain values in, an answer out, no
// state and no choice. Package sim calls it, and its tests read like the tables from which the rules come.
//
// The rules are table 79 of the InfiniBand Architecture specification, volume 1 (order.go),
// with the knobs of a profile where the specification leaves something open or cards do
// more than it requires. The rules for Flush and Atomic Write come from the IBTA's
// extensions for memory placement (2021).
//
// The store buffer of a CPU is not a queue pair. It keeps the order of its stores, so
// this package has no rules for it.
package order
