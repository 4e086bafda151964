package sim

import (
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// A message that a card sends is a list of elements: pieces of a write, an
// atomic, or the pieces that a Read samples. An element lands when somebody
// looks at its bytes, when somebody else changes them, or when a later element
// that must follow it lands; until then it is pending, and stands for all the
// moments at which it could land. This is the late resolution of the
// architecture: placements that nobody sees cost nothing.

type elemKind uint8

const (
	elemWrite elemKind = iota
	elemAtomic
	elemSample
	elemSend  // payload of a Send: it has no address until it meets a receive
	elemFlush // an RDMA Flush: what came before it is in memory, or persistent
	elemClwb  // a CPU's flush of some lines, in its store buffer
)

// elem is one piece of one work request.
type elem struct {
	q       *qp
	wr      int // index of the work request in its QP
	part    int // index within the work request
	sub     int // index within that, if the request failed and came apart
	kind    elemKind
	reg     *region // what it changes or samples
	off, n  int
	data    []byte  // what it writes, or has sampled
	start   int     // where its message starts
	src     *region // where the card will fetch data from, if it has not yet
	srcOff  int
	fenced  bool
	acked   bool // the requester was told: it reached the card for certain
	at      int  // when it was posted
	ackAt   int  // when the requester was told
	stopAt  int  // when its responder's queue pair stopped, if it had come by then; else 0 (acked.go)
	came    bool // eager mode: it has arrived
	frozen  bool // it landed before a moment that is over, or never will
	frozeAt int  // that moment
	persist bool // a Flush that makes persistent
	struck  bool // frozen by a power failure
	lost    bool // by one that empties caches: what it wrote may not have persisted
	could   bool // it could land when its responder died
	landed  bool // or never will
	void    bool // it never will
	unknown bool // void because its memory is gone: whether it had come nobody can tell
	during  bool // it is landing: what lands before it has been decided
	reading bool // it is an Atomic that reads just now
	asked   bool
	mark    int    // scratch of changesOthers
	got     []span // what a Read has sampled already
}

// changes reports whether e changes memory when it lands.
func (e *elem) changes() bool { return e.kind == elemWrite || e.kind == elemAtomic }

// responds reports whether the requester's completion tells that e was executed.
func (e *elem) responds() bool {
	return e.kind == elemSample || e.kind == elemAtomic || e.kind == elemFlush
}

func (e *elem) overlaps(off, n int) bool { return e.off < off+n && off < e.off+e.n }

// ordered reports whether a, posted before b on the same QP, must take effect
// in memory before b does (IBA table 79 and the knobs of the profile; for Flush
// and Atomic Write the IBTA's extensions for memory placement, 2021).
func (w *World) ordered(a, b *elem) bool {
	p := &w.cfg.Profile
	switch {
	case a.q.cpu != nil:
		return true // a store buffer
	case a.wr != b.wr && a.stalls(b.wr):
		return true
	case a.kind == elemSample || a.kind == elemFlush:
		switch b.kind {
		case elemSample, elemFlush:
			return a.wr != b.wr
		case elemAtomic:
			return b.fenced || a.kind == elemFlush && b.q.ent(b.wr).op == verbs.OpAtomicWrite
		}
		return b.fenced
	case b.kind == elemSample || b.kind == elemFlush:
		return true // it flushes what came before it
	case a.wr == b.wr:
		return p.Placement == faults.InOrder ||
			p.Placement == faults.Blocks128 && a.reg == b.reg && a.off/128 == b.off/128
	case b.fenced && (p.FenceWaitsAll || a.kind == elemAtomic || w.flushes(a)):
		return true
	case a.kind == elemAtomic:
		return b.kind == elemAtomic || p.AtomicOrdersLater || p.Placement == faults.InOrder
	case b.kind == elemAtomic:
		return p.AtomicFlushes
	}
	return p.Placement == faults.InOrder
}

// stalls reports whether request i cannot leave before a's response has come: with as many
// Reads and Atomics outstanding as the QP may have, the send queue stands still.
func (a *elem) stalls(i int) bool {
	if a.kind != elemSample && a.kind != elemAtomic && a.kind != elemFlush {
		return false
	}
	n := 0
	for j := a.wr + 1; j <= i; j++ {
		if j < i && a.q.ent(j).flags&verbs.Fence != 0 { // what is behind a fence waits for it
			return true
		}
		if a.q.ent(j).op.Responds() {
			n++
		}
	}
	return n >= a.q.cfg.MaxRdAtomic
}

// before reports whether a must land before b, directly.
func (w *World) before(a, b *elem) bool {
	return a.precedes(b) && w.ordered(a, b)
}

// precedes reports whether a stands before b in their queue.
func (a *elem) precedes(b *elem) bool {
	return a.q == b.q && a != b && (a.wr < a.q.first) == (b.wr < b.q.first) && (a.wr < b.wr || a.wr == b.wr && (a.part < b.part || a.part == b.part && a.sub <= b.sub))
}
