package sim

import (
	"encoding/binary"
	"slices"

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

// canLand reports whether e can be in memory by now.
func (w *World) canLand(e *elem) bool {
	return w.canBegin(e) && !w.refused(e)
}

// canBegin is canLand, except that what e reads may be unreadable: a Read samples the rest before.
func (w *World) canBegin(e *elem) bool {
	if e.landed || e.during {
		return false
	}
	if w.cfg.Eager && !e.came || e.q.catching && !e.came && !e.cutOff() {
		return false
	}
	if w.stuck(e) {
		return false
	}
	for _, d := range w.landing {
		if w.follows(e, d) || d.hasRead() && w.brings(e, d) || d.frozen && e.at > d.frozeAt {
			return false
		}
	}
	return w.mayCome(e)
}

// mayCome reports whether e can have arrived by now.
func (w *World) mayCome(e *elem) bool {
	return e.acked || e.frozen || e.could || e.q.cpu != nil || e.wr < e.q.reach() && !e.leftDenied()
}

// land makes e take effect, after everything that must precede it.
func (w *World) land(e *elem) {
	if e.landed || e.during {
		return
	}
	w.landOne(e)
	w.eachMate(e, func(x *elem) bool { return x.arrives() && w.with(x, e) }, w.land)
}

func (w *World) landOne(e *elem) {
	e.during = true
	w.landing = append(w.landing, e)
	for i := 0; i < len(e.q.elems); i++ {
		p := e.q.elems[i]
		if p == e {
			break
		}
		if !p.landed && !p.during && w.before(p, e) {
			w.land(p)
			i = -1
		}
	}
	switch e.kind {
	case elemSample:
		e.landed = true // before anything else, so that it is not asked again
		w.remove(e)
		w.seesAcked(e)
		w.sampleRest(e)
		w.recordSample(e, e.off, e.off+e.n)
	case elemWrite:
		w.fetch(e)
		if !e.lost {
			w.beforeWrite(e.reg, e.off, e.n, e)
		}
		e.landed = true
		w.remove(e)
		w.place(e, e.data)
		w.traceLanding(e)
	case elemAtomic:
		w.fetch(e)
		if !e.lost {
			w.beforeWrite(e.reg, e.off, e.n, e)
		}
		e.landed = true
		w.remove(e)
		if e.modifies() {
			w.seesAcked(e) // an Atomic Write finds nothing
		}
		w.finishAtomics(e.reg, e.off, e.n, e) // those that have read while these landed
		w.execAtomic(e)
		w.traceLanding(e)
	case elemFlush:
		e.landed = true
		w.remove(e)
		w.flush(e)
	case elemClwb:
		e.landed = true
		w.remove(e)
		e.q.cpu.clwb(e)
	}
	w.landing = w.landing[:len(w.landing)-1]
}

// place puts what e writes into memory.
func (w *World) place(e *elem, p []byte) {
	w.placing = e
	w.pokeBy(e.reg, e.off, p, e.q.cpu == nil)
	w.placing = nil
}

// execAtomic performs the read-modify-write and keeps the old value for the
// response (and for a duplicate of the request).
func (w *World) execAtomic(e *elem) {
	wr := e.q.ent(e.wr)
	if wr.op == verbs.OpAtomicWrite {
		w.place(e, e.data)
		return
	}
	if !e.hasRead() {
		w.readWord(e)
	}
	old := binary.LittleEndian.Uint64(e.data)
	now := old
	switch wr.op {
	case verbs.OpCompareSwap:
		if old != wr.compare {
			w.touch(e.reg.object(), Read)
			return // it writes nothing
		}
		now = wr.swap
	case verbs.OpFetchAdd:
		now = old + wr.add
	}
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], now)
	w.place(e, b[:])
}

// beforeWrite is called when bytes of r are about to change: each pending
// element on them may have landed before. by is the element that changes them,
// or nil for a CPU.
func (w *World) beforeWrite(r *region, off, n int, by *elem) { w.beforeChange(r, off, n, by, false) }

// beforeStore is beforeWrite for a store that is not buffered.
func (w *World) beforeStore(r *region, off, n int) { w.beforeChange(r, off, n, nil, true) }

func (w *World) beforeChange(r *region, off, n int, by *elem, store bool) {
	w.findOut(r, off, n, true)
	w.finishAtomics(r, off, n, by)
	if w.cfg.Eager {
		return
	}
	if r.pm != nil && w.mayLosePower(r.h.node) { // a unit persists whole, in one of the contents that it has had
		lo, hi, size := r.pm.span(r, off, n)
		off, n = lo*size, (hi-lo)*size
	}
	w.answers(r, off, n, store)
	if by == nil || by.q.cpu != nil {
		w.refusedBefore(r, off, n)
	}
	w.landBefore(r, off, n, by)
	w.finishAtomics(r, off, n, by) // those that have read while others landed
	w.readBefore(r, off, n, by)
}

func (w *World) landBefore(r *region, off, n int, by *elem) {
	var passed []*elem
	var last *elem // a Read samples cells one by one, each set of them in one order
	from := 0
	for len(r.pend) > 0 {
		var can [32]*elem
		var cells [32]span
		c, at := can[:0], cells[:0] // of a Read once for each cell
		for _, e := range r.pend {
			if e == by || !e.wants(off, n) || !w.canBegin(e) || e.kind != elemSample && w.refused(e) || slices.Contains(passed, e) ||
				by != nil && (w.follows(e, by) || w.sees(e, by) || by.excludes(e)) {
				continue
			}
			if e.kind != elemSample {
				c, at = append(c, e), append(at, span{})
				continue
			}
			for x := range e.unsampled(off, n) {
				if (e != last || x.lo >= from) && !w.unreadable(e.reg, x.lo, x.hi-x.lo) {
					c, at = append(c, e), append(at, x)
				}
			}
		}
		i := 0
		if len(c) > 0 {
			i = w.choose(ChooseOrder, len(c)+1, func(i int) string {
				if i == 0 {
					return "nothing before"
				}
				return c[i-1].name() + " before"
			})
		}
		if i == 0 {
			for _, e := range append(c, passed...) {
				if e.frozen && (by == nil || !w.landsInPast(by) || by.at > e.frozeAt) {
					w.discard(e)
				}
			}
			return
		}
		passed = w.passing(passed, c, i-1)
		last = nil
		if e := c[i-1]; e.kind == elemSample {
			w.samplePart(e, at[i-1].lo, at[i-1].hi)
			last, from = e, at[i-1].hi
		} else {
			w.land(e)
		}
	}
}

// landsInPast reports whether by lands at a moment that is over: it is frozen, or comes before what is.
func (w *World) landsInPast(by *elem) bool {
	return by.frozen || slices.ContainsFunc(w.landing, func(d *elem) bool { return d.frozen })
}

// passing adds to passed the pieces of less than a cell before c[i] whose landing
// commutes with its own: they have had their turn, and each set of them is tried in
// one order.
func (w *World) passing(passed, c []*elem, i int) []*elem {
	e := c[i]
	if e.kind != elemWrite || e.n >= w.cfg.Profile.CellBytes || !w.free(e) {
		return passed
	}
	for _, x := range c[:i] {
		if x.kind == elemWrite && x.q == e.q && x.wr == e.wr && x.n < w.cfg.Profile.CellBytes && !x.overlaps(e.off, e.n) && w.free(x) {
			passed = append(passed, x)
		}
	}
	return passed
}

// wants reports whether a change of bytes matters to e: it would change or has
// yet to sample some of them.
func (e *elem) wants(off, n int) bool {
	if !e.overlaps(off, n) {
		return false
	}
	if e.kind != elemSample {
		return e.changes()
	}
	for range e.unsampled(off, n) {
		return true
	}
	return false
}

// discard drops e, and what could only follow it: it never lands.
func (w *World) discard(e *elem) {
	if e.landed {
		return
	}
	if e.cutOff() && e.isDenied() {
		w.notYet(e)
		return
	}
	e.landed, e.void, e.unknown = true, true, e.reg != nil && e.reg.freed
	w.touchElem(e)
	w.recordDropped(e)
	w.remove(e)
	switch {
	case e.src == nil:
	case e.q.cfg.PSN != 0:
		w.fetchOne(e) // it may haunt the next connection
	default:
		w.dropSource(e)
	}
	if e.frozen && !e.unknown {
		if e.arrives() {
			e.q.limit = min(e.q.limit, e.wr) // it never came
		}
		w.eachMate(e, func(x *elem) bool { return e.arrives() && w.with(e, x) }, w.discard)
		for i := 0; i < len(e.q.elems); i++ {
			if x := e.q.elems[i]; !x.landed && (x.frozen && w.before(e, x) || !w.gaps() && e.arrives() && !x.frozen && !x.acked && e.precedes(x)) {
				w.discard(x)
				i = -1
			}
		}
	}
	for i := 0; i < len(e.q.elems) && e.overtook() && !e.frozen; i++ {
		if x := e.q.elems[i]; x.overtook() && w.before(e, x) {
			w.discard(x) // it came later, if at all
			i = -1
		}
	}
}

// arrives reports whether e is frozen because of what had arrived by then: that is in
// memory. Not so after a power failure, which strikes while it is placed, and for a CPU's
// stores.
func (e *elem) arrives() bool { return e.kind == elemWrite && e.q.cpu == nil && !e.struck }

// tells reports whether its packet has arrived if e lands.
func (e *elem) tells() bool { return e.changes() && e.q.cpu == nil && !e.struck }

// gaps reports whether what is behind a lost packet may have arrived.
func (w *World) gaps() bool {
	return !w.cfg.Profile.WholePackets && w.cfg.Profile.Placement != faults.InOrder
}

// eachMate calls f for the frozen elements that share e's fate because of the order in which
// packets arrive.
func (w *World) eachMate(e *elem, shares func(*elem) bool, f func(*elem)) {
	if !e.tells() {
		return
	}
	for i := 0; i < len(e.q.elems); i++ {
		if x := e.q.elems[i]; x != e && x.frozen && !x.landed && !x.during && x.tells() && shares(x) {
			f(x)
			i = -1
		}
	}
}

// with reports whether a came in the packet of b or in one before it.
func (w *World) with(a, b *elem) bool {
	if !w.cfg.Profile.WholePackets {
		return a.precedes(b) && !w.overtakes(b, a)
	}
	mtu := w.cfg.Profile.MTU
	return a.q == b.q && (a.wr < b.wr || a.wr == b.wr && (a.off-a.start)/mtu <= (b.off-b.start)/mtu)
}

// mates reports whether two elements came in one packet.
func (w *World) mates(a, b *elem) bool { return w.with(a, b) && w.with(b, a) }

// freeze makes e one that landed before now or never will. Had something landed
// that came with it or later, it has arrived; had something been dropped that came
// with it or earlier, it has not. Whoever freezes calls settleRivals when all is frozen.
func (w *World) freeze(e *elem) {
	w.fetchOne(e)
	switch w.withMates(e) {
	case fateCame:
		w.land(e)
		return
	case fateLost:
		w.discard(e)
		return
	}
	w.touchElem(e)
	w.ticks++
	e.frozen, e.frozeAt = true, w.ticks
}

// What is known of a piece from those that came with it.
const (
	fateOpen = iota
	fateCame
	fateLost
)

// withMates says what became of e, if something that came with it, before or later says so. Its
// request may have failed since.
func (w *World) withMates(e *elem) int {
	for i := e.q.base; i < e.q.posted && e.tells(); i++ {
		for _, x := range e.q.ent(i).payload {
			switch {
			case !x.tells() || !x.landed || (x.wr < e.q.first) != (e.wr < e.q.first):
			case !x.void && w.with(e, x) && e.arrives():
				return fateCame
			case x.void && !x.unknown && x.kind == elemWrite && w.with(x, e):
				return fateLost
			}
		}
	}
	return fateOpen
}

// remove takes e out of its region's and its queue's lists.
func (w *World) remove(e *elem) {
	if e.reg != nil {
		e.reg.pend = without(e.reg.pend, e)
	}
	e.q.elems = without(e.q.elems, e)
}

func without(s []*elem, e *elem) []*elem {
	for i, x := range s {
		if x == e {
			return append(s[:i], s[i+1:]...)
		}
	}
	return s
}

// observe copies what a look at [off, off+len(out)) of r sees. Each cell may be
// seen at a moment of its own, in any order, so the cells are decided
// independently and what must have landed by then lands afterwards.
func (w *World) observe(r *region, off int, out []byte, card bool) {
	n := len(out)
	w.answers(r, off, n, !card)
	w.touch(r.object(), Read)
	if r.pm != nil {
		w.findOut(r, off, n, false)
		if card && w.damage(r, off, n, true) && r.oneCell(off, n) {
			copy(out, r.data[off:])
			return
		}
	}
	if w.cfg.Eager || !w.anyPending(r, off, n) {
		copy(out, r.data[off:])
		return
	}
	w.settleFrozen(r, off, n)
	w.sourced(r, off, n)
	if w.complicated(r, off, n) {
		w.observeInOrder(r, off, out)
		return
	}
	var landing [16]*elem
	l := landing[:0]
	copy(out, r.data[off:])
	cell := w.cfg.Profile.CellBytes
	for at := off; at < off+n; {
		end := min(at&^(cell-1)+cell, off+n)
		if w.cfg.MaxPieces > 0 {
			end = w.pieceEnd(r, at, off+n)
		}
		if e := w.chooseCell(r, at, end-at); e != nil {
			w.takeSources(e)
			copy(out[at-off:end-off], e.data[at-e.off:])
			l = append(l, e)
		}
		at = end
	}
	for _, e := range l {
		w.land(e)
	}
}

// chooseCell picks which pending element a look at one cell finds there, or nil
// for what is in memory. An element that would change nothing is not asked
// about: leaving it pending allows all that its landing allows.
func (w *World) chooseCell(r *region, at, n int) *elem {
	var can [32]*elem
	c := can[:0]
	plain := true
	for _, e := range r.pend {
		if e.kind == elemWrite && e.overlaps(at, n) && w.canLand(e) {
			c = append(c, e)
			plain = plain && string(e.content()[at-e.off:at-e.off+n]) == string(r.data[at:at+n])
		}
	}
	if plain {
		return nil
	}
	i := w.choose(ChooseLanding, len(c)+1, func(i int) string {
		if i == 0 {
			return "memory"
		}
		return c[i-1].name()
	})
	if i == 0 {
		return nil
	}
	return c[i-1]
}

// anyPending reports whether something that may change bytes is on its way there.
func (w *World) anyPending(r *region, off, n int) bool {
	for _, e := range r.pend {
		if e.changes() && e.overlaps(off, n) && w.canLand(e) {
			return true
		}
	}
	return false
}

// complicated reports whether cells cannot be decided by the last writer alone:
// atomics, or elements that cover only part of a cell.
func (w *World) complicated(r *region, off, n int) bool {
	cell := w.cfg.Profile.CellBytes
	for _, e := range r.pend {
		if !e.changes() || !e.overlaps(off, n) || !w.canLand(e) {
			continue
		}
		lo, hi := max(e.off, off), min(e.off+e.n, off+n)
		if e.kind == elemAtomic {
			return true
		}
		if w.cfg.MaxPieces > 0 {
			continue
		}
		if lo != off && lo%cell != 0 || hi != off+n && hi%cell != 0 {
			return true
		}
	}
	return false
}

// observeInOrder looks at one hard cell after the other (cells.go) and lands what each sees.
func (w *World) observeInOrder(r *region, off int, out []byte) {
	var cells []span
	var landing []*elem
	for at := off; at < off+len(out); {
		c := span{at, min(w.cellEnd(r, at), off+len(out))}
		at = c.hi
		if w.hard(r, c) {
			cells = append(cells, c)
			continue
		}
		copy(out[c.lo-off:c.hi-off], r.data[c.lo:])
		if e := w.chooseCell(r, c.lo, c.hi-c.lo); e != nil {
			w.takeSources(e)
			copy(out[c.lo-off:c.hi-off], e.data[c.lo-e.off:])
			landing = append(landing, e)
		}
	}
	for len(cells) > 0 {
		i := w.nextCell(r, cells)
		at, end := cells[i].lo, cells[i].hi
		cells = append(cells[:i], cells[i+1:]...)
		w.findOut(r, at, end-at, true)
		w.landBefore(r, at, end-at, nil)
		copy(out[at-off:end-off], r.data[at:end])
	}
	for _, e := range landing {
		w.land(e)
	}
}

// cellEnd is where the cell at an offset ends. What an atomic changes is seen at once.
func (w *World) cellEnd(r *region, at int) int {
	cell := w.cfg.Profile.CellBytes
	end := at&^(cell-1) + cell
	for _, e := range r.pend {
		if e.kind == elemAtomic && e.overlaps(at, 1) && w.canLand(e) {
			end = max(end, e.off+e.n)
		}
	}
	return end
}

// pieceEnd is the next boundary between pending elements, so that a look at
// large messages is decided piece by piece.
func (w *World) pieceEnd(r *region, at, end int) int {
	for _, e := range r.pend {
		if e.kind != elemWrite || !w.canLand(e) {
			continue
		}
		if e.off > at && e.off < end {
			end = e.off
		}
		if x := e.off + e.n; x > at && x < end {
			end = x
		}
	}
	return end
}
