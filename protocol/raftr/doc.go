// Package raftr is Raft-R, the baseline of Sift (Kazhamiaka et al., "Sift: Resource-Efficient Consensus
// with RDMA", CoNEXT 2019, section 6.3.1): a key-value store on 2F+1 nodes, replicated by Raft, whose
// messages are RDMA Sends. Raft itself is go.etcd.io/raft.
//
// # Use
//
// Each node calls [Start] and runs [Node.Serve], [Node.ServeClients] and [Node.Run] as tasks. Clients
// on any host use [Dial]. On the leader's host, [Node.Get] and [Node.Put] do the same without a message.
//
// Node.Run is a loop of steps: [Node.Watch], [Node.Connect], [Node.Campaign], [Node.Lead], [Node.Beat],
// and [Node.Step] for messages that arrive. Scenarios call the steps directly.
//
// # How it works
//
// A candidate or leader sends its messages as calls of kit/rpc, one at a time to each node, and the answer
// has the other node's messages. A write is acknowledged when a majority has it, including the leader.
// The leader answers reads from its own replica.
//
// The paper does not say how a leader finds out that it still leads. Here a heartbeat that a majority
// answers confirms a read. With [Config].Lease it confirms all reads for the length of the lease; for that
// long, followers that have received a message of the leader elect no other node.
//
// # Guarantees
//
// As long as at most F nodes fail, the store is linearizable: it behaves like one map, and every read after
// an acknowledged write sees the write. With a lease, clocks must differ by less than the difference
// between the lease and the election timeout. A write that fails with [ErrUnknown] may have been carried
// out. A [Client] retries it in its session, which executes it once. A node without persistent memory that
// has restarted takes no part any more ([ErrOutsider]): it has lost its vote and the entries that it has
// acknowledged.
//
// # Determinism
//
// The library draws election timeouts from its own random source, and reads them only in its Tick. No code
// here calls Tick: followers wait by the host's clock. The library visits its maps in the order of their
// keys. So equal histories lead to equal states; a test checks this. The search hashes the observations of
// tasks, and need not hash the library's state.
//
// The library panics if a peer sends an invalid message. guard.go lets only messages through that a correct
// node could have sent. If the library panics all the same, the node stops with [ErrBroken].
//
// # Limits
//
// The group never changes. The log is not compacted: a write to a full log returns [ErrFull]. One task
// applies all commands; the paper has 1000 partitions, each with its own lock.
package raftr
