// Package siftcoord is the coordination service of package
// [github.com/verbatim-rdma/verbatim/coord] on the key-value store of Sift: a group of Sift can be
// the controller of another protocol, such as NCL, in place of ZooKeeper or etcd. The paper has no
// such service; it names coordination services among the users of replicated state machines
// (Kazhamiaka et al., CoNEXT 2019, section 1).
//
// # Use
//
// Each CPU node runs a [kv.Server], and beside it a [Service]:
//
//	server, err := kv.NewServer(h, shape)
//	...
//	s, err := siftcoord.New(h, server, siftcoord.Config{Ticks: 10, Every: 64})
//	h.Go("coord", func() { h.Logf("%v", s.Serve("coord")) })
//	h.Go("ticks", func() { s.Expire(100 * time.Millisecond) })
//	err = server.Run(node)
//
// A client knows the names of the CPU nodes and calls [NewClient], which returns a [coord.Client].
//
// # How it works
//
// The service is a state machine, a [coord.Keeper] in the memory of the coordinator. A request that
// may change it is first written to the store, as the next record of a journal; it is carried out
// when the store has acknowledged that. So is the expiry of a session. A request that changes nothing
// is answered when a get from the store has confirmed that the node still is the coordinator. After
// some records the whole state is written beside the last snapshot, one put makes the new one valid,
// and the records before it are deleted. A new coordinator reads the snapshot and carries out the
// records after it, which gives the same state.
//
// Only one task of one node at a time writes: the [Service] has a lock, and the store of a
// coordinator that has been replaced fails.
//
// # Guarantees
//
// Those of package coord: every operation is linearizable, as those of the store are, and none is
// carried out twice. Whatever was acknowledged lasts as long as at most F memory nodes fail. A new
// coordinator gives each session its full time again.
//
// # Where things are
//
// journal.go has the records and snapshots in the store, service.go the service, client.go how a
// client finds the coordinator.
package siftcoord
