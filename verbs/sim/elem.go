package sim

import (
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim/order"
)

// A message that a card sends is a list of elements: pieces of a Write, an Atomic, or the pieces that a Read
// samples. An element lands when a task or a card looks at its bytes, when something changes them, or when a
// later element that must follow it lands. Until then it is pending, and stands for all the moments at which it
// could land. This is the late resolution of the architecture: a placement that nobody observes costs nothing.

type elemKind = order.Kind

const (
	elemWrite  = order.Write
	elemAtomic = order.Atomic
	elemSample = order.Read
	elemSend   = order.Send
	elemFlush  = order.Flush
	elemClwb   = order.Clwb
)

// elem is one piece of one work request.
type elem struct {
	q       *qp
	wr      int // index of the work request in its QP
	part    int // index within the work request
	sub     int // index within that, if the request failed and was split
	kind    elemKind
	reg     *region // the memory that it changes or samples
	off, n  int
	data    []byte  // the data that it writes, or has sampled
	start   int     // where its message starts
	src     *region // the memory from which the card has yet to fetch the data
	srcOff  int
	fenced  bool
	acked   bool // it certainly reached the responder's card
	at      int  // when it was posted
	ackAt   int  // since when it counts as acknowledged; unlimited: it arrived, but no requester learned it
	barred  int  // when the memory that it mends could not be read; it had not landed by then
	stopAt  int  // when its responder's queue pair stopped, if it had arrived by then; else 0 (acked.go)
	came    bool // eager mode: it has arrived
	frozen  bool // it landed before a past moment (frozeAt), or never will
	frozeAt int  // that moment
	persist bool // a Flush that makes data persistent
	harm    harm // what the power failure that froze it did to it
	could   bool // it could land when its responder died
	stage   stage
	past    bool // it may have arrived before access was denied to an Atomic in front of it, which arrives again, if at all
	asked   bool
	mark    int    // scratch of changesOthers
	got     []span // the bytes that a Read has sampled already
}

// since returns the moment before which e certainly has not landed.
func (e *elem) since() int { return max(e.at, e.barred) }

// changes reports whether e changes memory when it lands.
func (e *elem) changes() bool { return e.kind == elemWrite || e.kind == elemAtomic }

// responds reports whether the requester's completion shows that e was executed.
func (e *elem) responds() bool { return e.kind.Answered() }

func (e *elem) overlaps(off, n int) bool { return e.off < off+n && off < e.off+e.n }

// before reports whether a must land before b because of a rule between these two.
func (w *World) before(a, b *elem) bool {
	return a.precedes(b) && w.ordered(a, b)
}

// ordered is like before, for an a that precedes b. Package order holds the rules.
func (w *World) ordered(a, b *elem) bool {
	if a.byCPU() {
		return true // a store buffer
	}
	x, y := w.piece(a), w.piece(b)
	return w.rules(a.q).Ordered(&x, &y)
}

// rules returns the ordering rules of q.
func (w *World) rules(q *qp) order.Rules {
	return order.Rules{Card: &w.cfg.Profile, Outstanding: q.cfg.MaxRdAtomic}
}

// gaps reports whether packets behind a lost packet may have arrived.
func (w *World) gaps() bool { return order.Gaps(&w.cfg.Profile) }

// cells returns how memory and messages are cut into cells.
func (w *World) cells() order.Cells {
	return order.Cells{Bytes: w.cfg.Profile.CellBytes, Pieces: w.cfg.MaxPieces}
}

// cut calls Cells.Cut, and counts the messages that can tear in more ways than are tried.
func (w *World) cut(off, done, length int) int {
	c := w.cells()
	if done == 0 && c.Bounds(off, length) {
		w.stats.CutShort++
	}
	return c.Cut(off, done, length)
}

// atOnce counts a load or Read that looks at several cells at one moment because messages tear only into MaxPieces.
func (w *World) atOnce(off, n int) {
	if w.cells().Pieces > 0 && w.cells().Sample(off, off+n) < off+n {
		w.stats.CutShort++
	}
}

// piece returns the attributes of e that the rules look at. The address is in the
// responder's memory, so it also identifies the region.
func (w *World) piece(e *elem) order.Piece {
	s := e.q.ent(e.wr)
	p := order.Piece{Request: s.place, Kind: e.kind, Blind: s.op == verbs.OpAtomicWrite, Flushed: w.flushes(e), Addr: uint64(e.off)}
	if e.reg != nil {
		p.Addr += e.reg.base
	}
	return p
}

// stalls reports whether request i, behind e, cannot leave before the response of e has arrived.
func (e *elem) stalls(i int) bool {
	return e.kind.Answered() && order.Stalls(e.q.ent(e.wr).place, e.q.ent(i).place, e.q.cfg.MaxRdAtomic)
}

// precedes reports whether a stands before b in their queue.
func (a *elem) precedes(b *elem) bool {
	return a.q == b.q && a != b && a.place().Precedes(b.place())
}

func (e *elem) place() order.Place {
	return order.Place{Connection: e.q.connection(e.wr), Request: e.wr, Part: e.part, Sub: e.sub}
}

// follows reports whether e must land after by, directly or through other elements.
func (w *World) follows(e, by *elem) bool {
	if !by.precedes(e) {
		return false // nothing lies between them, so no other rule can order them
	}
	if w.before(by, e) {
		return true
	}
	var buf [32]*elem
	between := buf[:0]
	for _, x := range e.q.elems {
		if !x.over() && by.precedes(x) && x.precedes(e) {
			between = append(between, x)
		}
	}
	return order.Reaches(by, e, between, w.before)
}
