// Package backups simulates how long Sift groups wait for a CPU node if they share a pool of
// backups: figure 8 of Sift's paper (Kazhamiaka et al., "Sift: Resource-Efficient Consensus
// with RDMA", CoNEXT 2019, 6.4.2).
//
// A [Trace] records when machines fail and return. [Run] places groups on the machines at
// random, each with a coordinator and 2F+1 memory nodes, and the backups; it lets machines
// fail according to the trace, and provisions another node for each lost one, which takes
// 100 s. Package protocol/sift/pool decides who gets a backup and who waits. The result is
// the recovery time that the lack of backups adds, per coordinator that has failed.
//
//	trace, err := backups.Synthetic(backups.Defaults())
//	r, err := backups.Run(trace, backups.Config{Groups: 1000, Backups: 6, F: 1, Provision: 100 * time.Second, Repeats: 50})
//
// # The trace
//
// The paper uses the machine events of Google's cluster trace of 2011, 29 days of 12,500
// machines. [Read] reads that format. The trace is not part of this repository, so the
// default is a synthetic one ([Synthetic]) whose rate, bursts and repairs are assumptions.
// Its absolute numbers say nothing about Google's cluster; the shape of the curves can be
// compared.
//
// # Where the paper is silent
//
// A node that is provisioned gets a machine that is up and has no node, at random. A
// coordinator that fails counts as a fault, and a memory node or backup that fails does not,
// although each is replaced. A machine that comes back has lost its node.
package backups
