// Package ncl is the near-compute log of SplitFT (Luo et al., "SplitFT: Fault
// Tolerance for Disaggregated Datacenters via Remote Memory Logging", EuroSys
// 2024): small synchronous writes to a log file are made fault-tolerant in the
// memory of 2f+1 log peers, by one-sided RDMA writes.
//
// # Use
//
// A machine with memory to spare runs [ServePeer]. An application claims its name
// with [Start], makes a file with [Create], writes with [File.Record], replaces
// peers that have failed with [File.Repair] (or lets [Maintained] do so), and deletes the file with
// [File.Release] once its content is safe elsewhere. After a crash a new instance
// of the application finds its files with [Files], calls [Recover] for each and
// reads it with [File.ReadAt].
//
// # How it works
//
// Every peer has a region for the file, and the application a local buffer with
// the same layout: a [Stamp] of 8 bytes, then the data. A write changes the
// buffer and goes to each peer as two RDMA Writes on one send queue, the data and
// then the stamp. It is acknowledged when both have completed on f+1 peers (4.4).
//
// A recovery begins a new epoch in the ap-map, reads the stamps of any f+1
// peers, takes the whole region from one with the largest stamp, copies it to a
// fresh region on every peer that it reaches, and lets the peers switch to it.
// When f+1 have, the file is open (4.5.1).
//
// # What is promised
//
// As long as no more than f peers fail, a write that was acknowledged is
// recovered, with all writes before it. Of a write that was not, nothing, a part
// or all of it may be found. If more than f peers are gone every operation but
// Repair fails with [ErrUnavailable]. No memory is leaked for ever: what a crash
// leaves on a peer goes when the peer looks for it ([Collect], or from time to time).
//
// # Where things are
//
// file.go is the handle and the data path, recover.go and reads.go the recovery,
// allocate.go the creation, replace.go the replacement of peers and maintained.go when
// to do it, link.go the connection to one peer; peer.go is the log peer, slot.go its
// regions, register.go and collect.go what it has to do with the controller; apmap.go
// is what the controller holds, instance.go the session, wire.go every message and the
// ap-map entry, stamp.go the order of contents, config.go settings and errors.
// Numbers such as (4.4) are sections of the paper.
package ncl
