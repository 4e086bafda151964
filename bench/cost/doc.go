// Package cost computes the cost of Sift and Raft-R in a cloud, as in section 6.4 of Sift's paper
// (Kazhamiaka et al., "Sift: Resource-Efficient Consensus with RDMA", CoNEXT 2019), and the cost
// of a put on the network.
//
//	r, err := cost.Compute(cost.Paper())
//
// # Money
//
// [Compute] reproduces figures 9 and 10 from table 2 and the prices by arithmetic: the price of
// a deployment is the price of the cores and gigabytes of all its nodes. The cores of table 2 are
// inputs, because they were measured. The memory of table 2 is computed from the state of 64 GB:
// a CPU node caches half of it, and a memory node with codes stores one part in F+1.
//
// # Messages
//
// [Puts] computes the requests of a put at the coordinator or leader, by arithmetic for the paper's
// sizes. [Count] counts the same requests of protocol/sift in the simulator: an entry of a log (a
// direct write), a logged write of a block, and its update of the memory. [CountStore] and
// [CountRaftR] count puts of the key-value stores, which make more requests.
package cost
