// Package stores measures the key-value stores of Sift, of Sift with erasure codes, and of Raft-R
// beside each other, under the workloads of YCSB.
//
//	rows, err := stores.Run(ctx, stores.Config{Open: open})
//
// The groups run in this process at the same time. Each node is a host with its own device: CPU
// nodes and memory nodes for Sift, nodes for Raft-R. All clients are on one more host, and use the
// same interface as remote clients. In each round every system executes the same operations, and the
// systems take turns in going first, so a machine that becomes slower favors none. Report the
// ratios: the rates depend on one machine, whose processors all nodes share.
//
// machines.go starts hosts, systems.go the groups, and rounds.go measures.
package stores
