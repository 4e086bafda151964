// Package sift is the replicated memory of Sift (Kazhamiaka et al., "Sift:
// Resource-Efficient Consensus with RDMA", CoNEXT 2019): CPU nodes without state elect a
// coordinator among them, which serves a memory that 2F+1 passive memory nodes hold. One
// CPU node and a majority of the memory nodes suffice.
//
// # Use
//
// A machine with memory runs [ServeMemory]. A CPU node calls [Start] and then [Node.Follow],
// which returns when it is the coordinator. It then runs [Coordinator.Keep], which sends
// heartbeats, and [Coordinator.Apply] as tasks, and reads and writes the memory: [Coordinator.Read],
// [Coordinator.Write], [Coordinator.WriteAll], [Coordinator.WriteDirect]. [Coordinator.Readmit]
// brings failed memory nodes back, and [Coordinator.Persist] gives committed writes
// to Config.Durable. Several tasks may use a coordinator at the same time.
//
// All of these are loops around steps, which scenarios call as often as they want to:
// [Node.Watch], [Node.Campaign], [Node.Lead], [Coordinator.Beat], [Coordinator.ApplyOne],
// [Coordinator.CopyRegion] or [Rejoining.CopyBlock], [Coordinator.PersistOne].
//
// # How it works
//
// A memory node has an administrative word, a [Word], that every CPU node reaches, and the
// replicated memory region, which one coordinator reaches at a time (3.1). CPU nodes do not
// communicate. A coordinator periodically swaps a word with the next timestamp into every memory
// node, and followers read it. If it does not change, they swap in their own words for
// the next term, and the node that wins a majority is the coordinator of that term (3.2).
//
// The region has a log and a memory (fig. 1). A write is an entry of the log, and is
// acknowledged when a majority of the memory nodes has it. Its update of the memory follows
// in the background (3.3). A new coordinator connects to the regions, which cuts off earlier
// ones, reads the logs, makes them equal, and replays them (3.4.1): package
// [github.com/verbatim-rdma/verbatim/protocol/sift/wal] decides how.
//
// # Guarantees
//
// As long as at most F memory nodes fail, every later coordinator reads an acknowledged
// write. Any other write may or may not take effect; a list of writes takes effect as a whole or not
// at all. Clients see a single memory if the lease of the coordinator is shorter, by the largest
// difference of clocks, than the time for which followers wait. Without a lease no clock matters. With more than F
// failures every operation fails with [ErrUnavailable]. A memory node that has rejoined no longer
// counts as failed.
//
// With erasure codes (Layout.Chunks) each memory node has one chunk of every block, and the
// whole log. A memory node that a coordinator no longer reaches then counts as failed, even
// if it is up, until its chunks have been recomputed.
//
// # Where the paper is silent
//
// The page docs/sift-rules.md lists our decisions. The most important ones: an
// entry holds the term of its coordinator, and a region the term in which it was last
// brought up to date; a memory node admits no coordinator of an earlier term than one that
// it has admitted; a memory node that has restarted takes no part in anything until a
// coordinator has brought it up to date.
//
// # Where things are
//
// word.go is the administrative word, config.go the settings, errors and layout, wire.go the
// request to connect. memnode.go is the memory node. node.go, watch.go and elect.go are the
// follower and the candidate. lead.go, recover.go, write.go, read.go and beat.go are the
// coordinator, with dial.go and post.go below, and locks.go and tasks.go beside them; coded.go and
// rebuild.go have what is different with erasure codes (5.1). rejoin.go, copy.go and join.go bring
// memory nodes back, and durable.go is the store. backup.go is the backup of several groups, and package
// [github.com/verbatim-rdma/verbatim/protocol/sift/pool] assigns a shared backup to a group (5.2). loop.go has
// the loops, and inspect.go shows what memory nodes hold. Numbers such as (3.4) are sections of the
// paper.
package sift
