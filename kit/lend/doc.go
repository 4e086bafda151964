// Package lend connects hosts whose memory others reach: one handshake, regions that are
// lent and taken back, and the requester's side of the connections to several peers.
//
// # The lender
//
// A [Lender] has a protection domain. It lends regions, each a [Loan] with a key. Whoever
// may reach a loan has a queue pair of its own to it ([Loan.Admit]), which [Loan.Expel]
// takes away: after that no request of an earlier borrower changes the memory. [Serve] is
// a whole lender for protocols that need no more than a decision who is let in:
//
//	word, err := lender.Lend(8, verbs.RemoteWrite|verbs.RemoteRead)
//	...
//	return lend.Serve(h, "mirror", func(v *lend.Visitor) error { return v.Admit(word) })
//
// A protocol with requests of its own (NCL's alloc, recover and so on) calls Admit itself,
// and sends a [Greeting] in its answer.
//
// # The borrower
//
// A [Group] has a protection domain and a completion channel for its connections, each a
// [Conn] to one peer. Set-up is Prepare, then the peer's greeting by any message, then
// Connect; [Group.Dial] does all three. Requests are posted with [Group.Post] after
// [Group.Room] has waited for places in the send queue, and completions are taken by
// [Group.Next] (any), [Group.Await] (one) and [Group.AwaitAll] (one of each).
//
// A request that fails fails its connection ([Group.Fail]): the card has sent it again as
// often as it should. The queue pair is destroyed then, and Conn.Err says why. What was
// posted before may have been executed, wholly or in part, and may arrive later.
//
// Posting and waiting allocate nothing, but for AwaitAll.
package lend

import "errors"

var (
	// ErrMalformed: a greeting or an answer makes no sense.
	ErrMalformed = errors.New("lend: malformed greeting")
	// ErrRefused: the lender does not let this caller in; the cause is a host.RemoteError.
	ErrRefused = errors.New("lend: the lender refused")
)
