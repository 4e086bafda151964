// Package ycsb generates the operations of YCSB's core workloads A to F (Cooper et al.,
// "Benchmarking Cloud Serving Systems with YCSB", SoCC 2010), with the keys and values
// of SplitFT's evaluation: 24 and 100 bytes.
//
//	g := ycsb.Workloads[0].Generator(1000, 1)
//	for range 100 {
//		op := g.Next()
//	}
//
// The same workload, number of records and seed yield the same operations.
//
// # Differences from the original
//
// Ranks follow the exact distribution over the existing records, which a table of
// cumulative sums provides. YCSB's generator is an approximation, and spreads its ranks
// over ten thousand million items before it reduces them modulo the number of records;
// its hottest record is a little less hot. In both, popular records are scattered over
// the keys, because a key is a hash of the record's number.
package ycsb
