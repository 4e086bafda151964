// Package stores measures the key-value stores of Sift, of Sift with erasure codes, and of Raft-R
// beside each other, under the workloads of YCSB.
//
//	rows, err := stores.Run(ctx, stores.Config{Open: open})
//
// The groups run in this process at the same time, each node as a host with a device of its own:
// CPU nodes and memory nodes for Sift, nodes for Raft-R. Clients are a further host, and reach the
// stores as clients elsewhere do. In each round every system executes the same operations, and they
// take turns in going first, so a machine that becomes slower favors none. Report the ratios: the
// rates are those of one machine on which all nodes share the processors.
//
// machines.go starts hosts, systems.go the groups, and rounds.go measures.
package stores
