// Package verbs is the vocabulary of RDMA reliable connections: devices,
// protection domains, memory regions, queue pairs, work requests and work
// completions, named as in libibverbs.
//
// It holds types and interfaces only and imports the standard library alone. A protocol
// is written against it once and runs on every backend: package verbs/sim is a
// deterministic simulator, package verbs/hw the binding to libibverbs.
//
// # Setting up
//
// The types enforce the order in which a card is set up; the wrong order does not
// compile:
//
//	pd, _ := dev.AllocPD()
//	cq, _ := dev.CreateCQ(64, nil)
//	mr, _ := pd.RegisterMR(region, verbs.LocalWrite|verbs.RemoteWrite|verbs.RemoteRead)
//	prepared, _ := pd.CreateQP(verbs.QPConfig{SendCQ: cq, RecvCQ: cq, Access: verbs.RemoteWrite})
//	mine := prepared.Endpoint()         // send it to the peer, by any means
//	qp, _ := prepared.Connect(theirs)   // RESET, INIT, RTR, RTS
//	_ = qp.PostSend([]verbs.SendWR{{Op: verbs.OpWrite, ...}})
//
// A [PreparedQP] has an endpoint, accepts receives and connects; a [QP] posts.
// [Transitions] is the whole state machine as a table.
//
// # Completions
//
// A completion promises less than it seems to. The completion of a Write means that the
// request reached the responder's card. It does not mean that the bytes are in memory,
// visible to a CPU, or persistent. The profiles of package faults list what a class of
// cards promises beyond that.
//
// [CQ.Poll] returns at once. [CQ.Wait] blocks until there is a completion or the
// timeout expires; on hardware it spins and then sleeps. Protocols wait rather than
// spin on Poll, so that the simulator knows which tasks are blocked. A [CompChannel]
// waits for several CQs, as ibv_get_cq_event does.
//
// # Cost
//
// Posting and polling allocate nothing: the caller owns the slices that hold
// work requests, scatter/gather lists and completions, and may reuse them as
// soon as the call returns.
package verbs
