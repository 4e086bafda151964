// Package ncl is the near-compute log of SplitFT (Luo et al., "SplitFT: Fault Tolerance
// for Disaggregated Datacenters via Remote Memory Logging", EuroSys 2024). It makes
// small synchronous writes to a log file fault-tolerant by replicating them, with
// one-sided RDMA writes, in the memory of 2f+1 log peers.
//
// # Use
//
// A machine with spare memory runs [ServePeer]. An application claims its name with
// [Start], creates a file with [Create], writes with [File.Record], replaces failed
// peers with [File.Repair] (or lets [Maintained] do so, also in the background), and deletes the file with
// [File.Release] once its content is safe elsewhere. After a crash a new instance of
// the application lists its files with [Files], calls [Recover] for each and reads it
// with [File.ReadAt].
//
// # How it works
//
// Every peer has a region for the file, and the application a local buffer with the
// same layout: a [Stamp] of 8 bytes, then the data. A write changes the buffer and goes
// to each peer as two RDMA Writes on one send queue, first the data and then the stamp.
// It is acknowledged when both have completed on f+1 peers (4.4).
//
// A recovery begins a new epoch in the ap-map, reads the stamps of any f+1 peers, and
// reads the whole region of a peer with the largest stamp. It copies that region to a
// fresh region on every reachable peer, and makes the peers switch to the copy. When f+1
// peers have switched, the file is open (4.5.1).
//
// # Guarantees
//
// As long as at most f peers fail, an acknowledged write is recovered, with all writes
// before it. An unacknowledged write may be recovered whole, in part or not at all. If
// more than f peers have failed, every operation but Repair fails with
// [ErrUnavailable]. No memory leaks forever: a peer reclaims regions that a crash has
// left behind when it collects ([Collect], or periodically).
//
// # Where things are
//
// file.go is the handle and the data path, recover.go and reads.go the recovery,
// allocate.go the creation, replace.go the replacement of peers and maintained.go its
// schedule, link.go the connection to one peer. peer.go is the log peer, slot.go its
// regions, register.go and collect.go its calls to the controller. apmap.go is the data
// at the controller, instance.go the session, wire.go every message and the ap-map entry,
// stamp.go the order of contents, config.go settings and errors. Numbers such as (4.4) are
// sections of the paper.
package ncl
