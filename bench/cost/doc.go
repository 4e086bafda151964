// Package cost computes what Sift and Raft-R cost in a cloud, as section 6.4 of Sift's paper
// does (Kazhamiaka et al., "Sift: Resource-Efficient Consensus with RDMA", CoNEXT 2019), and
// what a put costs each of them on the network.
//
//	r, err := cost.Compute(cost.Paper())
//
// # Money
//
// [Compute] reproduces figures 9 and 10 from table 2 and the prices, which are arithmetic: the
// price of a deployment is the sum over its nodes of cores and gigabytes. The machines of
// table 2 are inputs, because they were measured. The memory of table 2 is not: it follows
// from the state of 64 GB, of which a CPU node caches half and a memory node with codes
// stores one part in F+1.
//
// # Messages
//
// [Puts] says which requests a put makes at the coordinator or leader, by arithmetic for the paper's
// sizes. [Count] counts the same of protocol/sift in the simulator: an entry of a log (a direct
// write), a logged write of a block, and its update of the memory. [CountStore] and [CountRaftR] count
// puts of the key-value stores, which do more.
package cost
