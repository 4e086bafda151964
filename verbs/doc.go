// Package verbs is the vocabulary of RDMA reliable connections: devices,
// protection domains, memory regions, queue pairs, work requests and work
// completions, named as in libibverbs.
//
// It holds types and interfaces only and imports the standard library alone.
// A protocol is written against it once. Package verbs/sim implements it in a
// deterministic simulator, package verbs/hw on libibverbs.
//
// # Setting up
//
// Set-up follows the order that a card enforces, and the types make the wrong
// order fail to compile:
//
//	pd, _ := dev.AllocPD()
//	cq, _ := dev.CreateCQ(64, nil)
//	mr, _ := pd.RegisterMR(region, verbs.LocalWrite|verbs.RemoteWrite|verbs.RemoteRead)
//	prepared, _ := pd.CreateQP(verbs.QPConfig{SendCQ: cq, RecvCQ: cq, Access: verbs.RemoteWrite})
//	mine := prepared.Endpoint()         // send it to the peer, by any means
//	qp, _ := prepared.Connect(theirs)   // RESET, INIT, RTR, RTS
//	_ = qp.PostSend([]verbs.SendWR{{Op: verbs.OpWrite, ...}})
//
// A [PreparedQP] only gives its endpoint, takes receives and connects; a [QP]
// posts. [Transitions] is the whole state machine as a table.
//
// # Completions
//
// A completion promises less than it seems to. Of a Write it says that the
// request reached the responder's card: not that the bytes are in memory, not
// that a CPU sees them, not that they are persistent. Package faults lists as
// profiles what a given class of cards promises beyond that.
//
// [CQ.Poll] returns at once. [CQ.Wait] blocks until there is a completion or
// the timeout has passed; on hardware it spins and then sleeps. Protocols
// wait; they do not spin on Poll, so that the simulator knows who is blocked.
// A [CompChannel] waits for several CQs, as ibv_get_cq_event does.
//
// # Cost
//
// Posting and polling allocate nothing: the caller owns the slices that hold
// work requests, scatter/gather lists and completions, and may reuse them as
// soon as the call returns.
package verbs
