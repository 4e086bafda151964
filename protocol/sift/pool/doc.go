// Package pool is the pool of backup CPU nodes that Sift groups share (Kazhamiaka et al.,
// "Sift: Resource-Efficient Consensus with RDMA", CoNEXT 2019, 5.2), as data. It is pure: no
// host, no card, no clock.
//
// Each of G groups has one CPU node, its coordinator, and B backups watch all groups. If a
// coordinator fails, a backup takes its place and leaves the pool. If no backup is left, the
// group waits until a node has been provisioned, and makes no progress meanwhile. So there are
// G+B CPU nodes instead of (F+1)·G.
//
//	p, err := pool.New(100, 2)
//	step, err := p.Lose(7)         // group 7 asks, and gets a backup
//	if p.Missing() > ordered { ... } // order a node
//	node, step := p.Add()          // the node has arrived
//
// # Where the paper is silent
//
// Backups join the pool in the order in which they were provisioned, and the one that has
// been there longest serves first. Groups that wait are served in the order in which they
// lost their coordinators. Every CPU node that fails is replaced, a backup too. A node that
// has failed does not come back: its replacement has another number.
package pool
