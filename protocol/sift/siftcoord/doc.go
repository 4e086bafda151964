// Package siftcoord is the coordination service of package
// [github.com/verbatim-rdma/verbatim/coord] on the key-value store of Sift. With it, a group of Sift can
// be the controller of another protocol, such as NCL, in place of ZooKeeper or etcd. Sift's paper
// (Kazhamiaka et al., CoNEXT 2019) has no such service.
//
// # Use
//
// Each CPU node runs a [kv.Server], and beside it a [Service]:
//
//	server, err := kv.NewServer(h, shape)
//	...
//	s, err := siftcoord.New(h, server, shape, siftcoord.Config{Ticks: 10, Every: 64})
//	h.Go("coord", func() { h.Logf("%v", s.Serve("coord")) })
//	h.Go("ticks", func() { s.Expire(100 * time.Millisecond) })
//	err = server.Run(node)
//
// A client knows the names of the CPU nodes and calls [NewClient], which returns a [coord.Client].
//
// # How it works
//
// The service is a state machine: a [coord.Keeper] in the coordinator's memory. The coordinator first
// writes each request that may modify the state to the store, as the next record of a journal, and
// executes it when the store has acknowledged the record. Session expiries are records, too. Before it
// answers a read-only request, a get from the store confirms that the node is still the coordinator.
// After a number of records it writes a snapshot of the state next to the previous one; a single put
// then makes the new snapshot valid, and the older records are deleted. A new coordinator restores the
// snapshot and replays the records after it.
//
// There is one writer at a time: the [Service] holds a lock, and the store of a replaced coordinator
// fails.
//
// # Guarantees
//
// Those of package coord: every operation is linearizable, as those of the store are, and none is
// executed twice. Acknowledged operations survive the failure of up to F memory nodes. A new
// coordinator gives each session its full time again.
//
// # Where things are
//
// journal.go has the records and snapshots in the store, service.go the service, client.go how a
// client finds the coordinator.
package siftcoord
