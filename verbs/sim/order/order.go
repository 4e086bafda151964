package order

import "github.com/verbatim-rdma/verbatim/faults"

// Kind is the operation of a piece at its destination.
type Kind uint8

// The kinds of pieces.
const (
	Write  Kind = iota
	Atomic      // CompareSwap, FetchAdd and Atomic Write
	Read
	Send  // it has no address until it meets a receive
	Flush // an RDMA Flush
	Clwb  // a CPU's flush of some lines, in its store buffer
)

// Answered reports whether the completion of such a request waits for a response.
func (k Kind) Answered() bool { return k == Read || k == Atomic || k == Flush }

// Request is the place of a work request in its send queue, and a summary of the requests before it.
type Request struct {
	Index  int
	Fenced bool
	// Answers counts the requests up to and including this one that wait for a response.
	Answers int
	// Fence is the index of the last fenced request before this one, or -1.
	Fence int
}

// Empty returns the place before the first request of a queue.
func Empty() Request { return Request{Index: -1, Fence: -1} }

// Next returns the place of the request that is posted behind r.
func (r Request) Next(answered, fenced bool) Request {
	n := Request{Index: r.Index + 1, Fenced: fenced, Answers: r.Answers, Fence: r.Fence}
	if answered {
		n.Answers++
	}
	if r.Fenced {
		n.Fence = r.Index
	}
	return n
}

// Stalls reports whether b cannot leave before the response of a has arrived, if a waits for one:
// either as many such requests are outstanding as the queue pair allows, or b stands behind a fence.
func Stalls(a, b Request, outstanding int) bool {
	return b.Fence > a.Index || b.Answers-a.Answers >= outstanding
}

// Place is the position of a piece in its queue.
type Place struct {
	// Connection numbers the connections of the queue pair; no ordering rule spans two of them.
	Connection int
	Request    int
	// Part numbers the pieces of a request, Sub the parts of a piece that was split when its request failed.
	Part, Sub int
}

// Precedes reports whether a stands before b on one connection. If two pieces have the
// same place, because a piece was split twice, each precedes the other.
func (a Place) Precedes(b Place) bool {
	switch {
	case a.Connection != b.Connection:
		return false
	case a.Request != b.Request:
		return a.Request < b.Request
	case a.Part != b.Part:
		return a.Part < b.Part
	}
	return a.Sub <= b.Sub
}

// Piece is one piece of a request, with the attributes that the rules look at.
type Piece struct {
	Request
	Kind Kind
	// Blind is set for an Atomic Write, which does not read the value that it replaces.
	Blind bool
	// Flushed is set for a Write whose completion waits until a Read behind it has flushed it.
	Flushed bool
	// Addr is the address at the responder where it lands.
	Addr uint64
}

// Rules are the ordering rules of a queue pair: those of its card, and how many Reads,
// Atomics and Flushes it may have outstanding.
type Rules struct {
	Card        *faults.Profile
	Outstanding int
}

// Ordered reports whether a must be in memory before b; a stands before b in their queue.
func (r Rules) Ordered(a, b *Piece) bool {
	p := r.Card
	switch {
	case a.Kind.Answered() && Stalls(a.Request, b.Request, r.Outstanding):
		return true
	case a.Kind == Read || a.Kind == Flush:
		return afterRead(a, b)
	case b.Kind == Read || b.Kind == Flush:
		return true // b flushes the pieces before it
	case a.Index == b.Index:
		return p.Placement == faults.InOrder || p.Placement == faults.Blocks128 && Block(a.Addr) == Block(b.Addr)
	case b.Fenced && (p.FenceWaitsAll || a.Kind == Atomic || a.Flushed):
		return true
	case a.Kind == Atomic:
		return b.Kind == Atomic || p.AtomicOrdersLater || p.Placement == faults.InOrder
	case b.Kind == Atomic:
		return p.AtomicFlushes
	}
	return p.Placement == faults.InOrder
}

// afterRead reports whether b waits for a, which is a Read or a Flush: the responder may
// delay these past requests behind them.
func afterRead(a, b *Piece) bool {
	switch b.Kind {
	case Read, Flush:
		return a.Index != b.Index
	case Atomic:
		return b.Fenced || a.Kind == Flush && b.Blind
	}
	return b.Fenced
}

// Gaps reports whether packets behind a lost packet may have arrived.
func Gaps(card *faults.Profile) bool {
	return !card.WholePackets && card.Placement != faults.InOrder
}

// Reaches reports whether to must follow from, either because before says so or through some elements between, which
// are in queue order. It goes forward and remembers the elements that it reaches, since there can be very many paths.
func Reaches[T any](from, to T, between []T, before func(a, b T) bool) bool {
	var buf [32]T
	reached := append(buf[:0], from)
	for _, x := range between {
		if after(x, reached, before) {
			reached = append(reached, x)
		}
	}
	return after(to, reached, before)
}

// after reports whether x must follow one of some elements directly.
func after[T any](x T, of []T, before func(a, b T) bool) bool {
	for i := len(of) - 1; i >= 0; i-- { // the nearest is the likeliest
		if before(of[i], x) {
			return true
		}
	}
	return false
}
