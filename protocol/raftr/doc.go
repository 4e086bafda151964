// Package raftr is Raft-R, the baseline of Sift (Kazhamiaka et al., "Sift: Resource-Efficient Consensus
// with RDMA", CoNEXT 2019, section 6.3.1): a key-value store on 2F+1 nodes, replicated by Raft, whose
// messages are RDMA Sends. Raft itself is go.etcd.io/raft.
//
// # Use
//
// Each node calls [Start] and runs [Node.Serve], [Node.ServeClients] and [Node.Run] as tasks. Clients
// on any host use [Dial]. On the leader's host, [Node.Get] and [Node.Put] do the same without a message.
//
// Node.Run is a loop around steps, which scenarios call as often as they want to: [Node.Watch],
// [Node.Connect], [Node.Campaign], [Node.Lead], [Node.Beat], and [Node.Step] for messages that arrive.
//
// # How it works
//
// A candidate or leader sends its messages as calls of kit/rpc, one at a time to each node, and the answer
// has the other node's messages. A write is acknowledged when a majority has it, the leader among them.
// The leader answers reads from its own replica.
//
// The paper does not say how a leader knows that it still leads. Here a heartbeat that a majority answers
// confirms each read; or, with [Config].Lease, all reads for that long, while followers that have heard of
// the leader elect no other node.
//
// # Guarantees
//
// As long as at most F nodes fail, an acknowledged write is read by everybody later, and the store looks
// like one map; with a lease, if clocks differ by less than the lease is shorter than the election
// timeout. A write that fails with [ErrUnknown] may have been carried out. A [Client] repeats it in its
// session, which carries it out once. A node without persistent memory that has restarted takes no part
// any more ([ErrOutsider]): it has forgotten its vote and what it has acknowledged.
//
// # Determinism
//
// The library draws election timeouts from a source of its own, and looks at them only in its Tick. No
// code here calls that: followers wait by the host's clock. Its maps are visited in the order of numbers.
// So equal histories lead to equal states, as a test requires, and the search, which hashes what tasks
// observe, need not see the library's state.
//
// The library panics if a peer sends nonsense. guard.go lets only messages through that a correct node
// could have sent. If it panics all the same, the node stops with [ErrBroken].
//
// # Limits
//
// The group never changes. The log is not compacted: [ErrFull] when it is. One task applies all
// commands, where the paper has 1000 partitions with locks of their own.
package raftr
