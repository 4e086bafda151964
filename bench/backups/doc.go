// Package backups simulates how long Sift groups wait for a CPU node if they share a pool of
// backups: figure 8 of Sift's paper (Kazhamiaka et al., "Sift: Resource-Efficient Consensus
// with RDMA", CoNEXT 2019, 6.4.2).
//
// A [Trace] records when machines fail and return. [Run] places the groups and the backups on
// the machines at random; a group has a coordinator and 2F+1 memory nodes. Machines fail
// according to the trace, and Run provisions another node for each lost node, which takes
// 100 s. Package protocol/sift/pool decides which groups get a backup and which wait. The
// result is the recovery time that the lack of backups adds, per failed coordinator.
//
//	trace, err := backups.Synthetic(backups.Defaults())
//	r, err := backups.Run(trace, backups.Config{Groups: 1000, Backups: 6, F: 1, Provision: 100 * time.Second, Repeats: 50})
//
// # The trace
//
// The paper uses the machine events of Google's cluster trace of 2011, 29 days of 12,500
// machines. [Read] reads that format. The trace is not part of this repository, so the
// default is a synthetic trace ([Synthetic]) whose rate, bursts and repairs are assumptions.
// Its absolute numbers do not apply to Google's cluster; the shapes of the curves can be
// compared.
//
// # Where the paper is silent
//
// A node that is provisioned gets a machine that is up and has no node, at random. A failed
// coordinator counts as a fault; a failed memory node or backup does not, although it is
// replaced. A machine that returns has lost its node.
package backups
