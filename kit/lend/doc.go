// Package lend connects hosts that share memory: one handshake, regions that are lent
// and revoked, and the requester's side of the connections to several peers.
//
// # The lender
//
// A [Lender] has a protection domain. It lends regions, each a [Loan] with a key. Every
// borrower of a loan has its own queue pair ([Loan.Admit]), which [Loan.Expel]
// destroys: after that no request of an earlier borrower changes the memory. [Serve] is
// a complete lender for protocols that only need to decide which visitors to admit:
//
//	word, err := lender.Lend(8, verbs.RemoteWrite|verbs.RemoteRead)
//	...
//	return lend.Serve(h, "mirror", func(v *lend.Visitor) error { return v.Admit(word) })
//
// A protocol with requests of its own (alloc, recover and others in NCL) calls Admit
// itself and sends a [Greeting] in its answer.
//
// # The borrower
//
// A [Group] has a protection domain and a completion channel for its connections, each
// a [Conn] to one peer. Set-up is Prepare, then the peer's greeting by any message,
// then Connect; [Group.Dial] does all three. [Group.Room] waits for slots in the send
// queue, [Group.Post] posts requests, and [Group.Next] (any), [Group.Await] (one) and
// [Group.AwaitAll] (one of each) wait for completions.
//
// A failed request fails its connection ([Group.Fail]), since the card has already
// retried as often as configured. The queue pair is then destroyed, and Conn.Err is the
// cause. Requests posted before may have been executed, wholly or in part, and may
// arrive later.
//
// Posting and waiting do not allocate, except for AwaitAll.
package lend

import "errors"

var (
	// ErrMalformed: a greeting or an answer is malformed.
	ErrMalformed = errors.New("lend: malformed greeting")
	// ErrRefused: the lender does not admit this caller; the cause is a
	// host.RemoteError.
	ErrRefused = errors.New("lend: the lender refused")
)
