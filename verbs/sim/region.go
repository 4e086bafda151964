package sim

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// region is DRAM of one life of a host, or persistent memory of its machine. data holds
// the bytes that a CPU sees now if no pending element lands.
type region struct {
	h        *Host
	ord      int
	data     []byte
	base     uint64
	hash     print   // the sum of the hashes of its nonzero words
	pend     []*elem // elements that may still change or sample it
	srcs     []*elem // elements that the card has yet to fetch from here
	mrs      int
	lent     int // registrations that let others reach it, plus 1 if a receive does
	freed    bool
	receives bool  // receives name it
	awaits   bool  // Reads or Atomics name it for their responses
	whole    bool  // a locked instruction is looking (loadLocked), or an Atomic is reading (readWord)
	pm       *pmem // nil: DRAM
}

func (h *Host) newRegion(_ string, size int) (*region, error) {
	if size <= 0 || size > 1<<30 {
		return nil, fmt.Errorf("sim: %w: a region of %d bytes", host.ErrNoMemory, size)
	}
	h.w.guard()
	h.w.cur.pauseShared()
	h.w.bound("memory regions of a host", len(h.regs), maxOrd)
	r := h.w.pools.regions.get()
	*r = region{pend: r.pend[:0], srcs: r.srcs[:0], h: h, ord: len(h.regs), data: h.w.bytes(size)}
	clear(r.data)
	r.base = uint64(r.ord+1) << 32
	h.regs = append(h.regs, r)
	h.makes(madeRegion, r.ord, size)
	if h.w.tracer != nil {
		h.w.recordRegion(r)
		h.w.trace(h, "alloc", "allocates region %d of %d bytes", r.ord, size)
	}
	return r, nil
}

func (r *region) object() Object {
	if r.pm != nil {
		return object(objMem, r.h.node.idx, ofLife(maxLives, r.ord))
	}
	return object(objMem, r.h.node.idx, ofLife(r.h.life, r.ord))
}

// Addr and Len implement verbs.Memory.
func (r *region) Addr() uint64 { return r.base }
func (r *region) Len() int     { return len(r.data) }

// check is called after a pause, because another task may free the region meanwhile.
func (r *region) check(off, n int) {
	r.h.w.guard()
	if r.freed {
		r.h.w.touch(r.object(), Read)
		r.h.w.cur.obs.seeUint(8)
		panic(fmt.Errorf("sim: %w: the region was freed", host.ErrClosed))
	}
	if off < 0 || n < 0 || off > len(r.data)-n {
		panic(fmt.Errorf("sim: %w: %d bytes at %d of a region of %d", host.ErrBounds, n, off, len(r.data)))
	}
}

// Load implements host.Region.
func (r *region) Load(off int, p []byte) {
	t := r.h.w.cur
	switch {
	case r.h.w.machine.stepwise() && len(p) > 0 || r.apart(off, len(p)) && r.delicate(off, p):
		r.lookApart(off, p)
		return
	case r.apart(off, len(p)):
		r.h.w.atOnce(off, len(p))
		t.begins(r, off, len(p))
		t.meetsFlips(r, off, len(p))
	case r.open() || r.awaited():
		t.pauseLook()
	default:
		t.pause()
	}
	r.look(off, p)
}

// shared reports whether anyone but the running task can reach r.
func (r *region) shared() bool { return r.lent > 0 || r.h.live > 1 }

// open reports whether a card may change r: others can reach it, or could, and an element of theirs is in flight.
func (r *region) open() bool { return r.lent > 0 || len(r.pend) > 0 }

// lookApart looks at each cell in its own step, in any order.
func (r *region) lookApart(off int, p []byte) {
	w := r.h.w
	w.cur.apart = true
	defer func() { w.cur.apart = false }()
	var cells []span
	for at := off; at < off+len(p); {
		end := w.cells().Look(at, off+len(p))
		cells = append(cells, span{at, end})
		at = end
	}
	several := len(cells) > 1
	for len(cells) > 0 {
		w.cur.wait(op{kind: opRun})
		i := w.choose(ChooseLanding, len(cells), func(i int) string { return itoa(cells[i].lo) })
		c := cells[i]
		r.look(c.lo, p[c.lo-off:c.hi-off])
		cells = append(cells[:i], cells[i+1:]...)
	}
	if several {
		w.cur.wait(op{kind: opRun}) // it may have looked long before it returns
	}
}

// look performs a load as part of the current step.
func (r *region) look(off int, p []byte) {
	w := r.h.w
	t := w.cur
	since := t.ended(r, off, len(p))
	r.check(off, len(p))
	t.looked = t.looked || r.open()
	if !t.sb.forward(r, off, p) {
		if r.pm != nil && r.media(off, len(p), &since) && w.cells().One(off, len(p)) {
			w.touch(r.object(), Read)
			copy(p, r.data[off:])
		} else {
			w.observe(r, off, p, false)
		}
	}
	since.choose(w, p)
	if !w.blind {
		t.obs.main = t.obs.main.Int(off).Bytes(p)
	}
	if w.tracer != nil {
		w.recordLook(r, off, len(p))
		w.trace(r.h, "load", "loads [%d,%d) of region %d: %s", off, off+len(p), r.ord, hexText(p))
	}
}

// Store implements host.Region.
func (r *region) Store(off int, p []byte) {
	w := r.h.w
	t := w.cur
	buffered, sources := r.buffers(off, len(p))
	switch {
	case w.machine.stepwise(), r.h.live > 1, t.mayTell(): // another task may free the region
		t.pause()
	case (r.open() || r.pm != nil) && (!buffered || sources), !buffered && (r.awaited() || r.sources(off, len(p))):
		t.pauseDirty()
	default:
		t.passes()
	}
	r.check(off, len(p))
	// Others may have lent or revoked the region meanwhile. That the store was called
	// before is not part of the state.
	buffered, _ = r.buffers(off, len(p))
	if w.tracer != nil {
		w.trace(r.h, "store", "stores [%d,%d) of region %d: %s", off, off+len(p), r.ord, hexText(p))
	}
	if buffered {
		t.sb.store(r, off, p)
		return
	}
	t.drain()
	told := r.open() || r.pm != nil || r.sources(off, len(p)) // the content after a power failure depends on it too
	w.beforeWrite(r, off, len(p), nil)
	w.poke(r, off, p)
	if told {
		t.reach()
	}
}

// buffers reports whether a store waits in the store buffer, and whether the card may
// have to fetch the old content first.
func (r *region) buffers(off, n int) (buffered, sources bool) {
	w := r.h.w
	buffered = (r.shared() || r.pm != nil) && w.cfg.Profile.StoreBuffers && !w.preparing && !w.dying()
	return buffered, buffered && w.machine.fetchesUnseen() && r.sources(off, n)
}

// sources reports whether the card has yet to fetch something from [off, off+n).
func (r *region) sources(off, n int) bool {
	for _, e := range r.srcs {
		if e.srcOff < off+n && off < e.srcOff+e.n {
			return true
		}
	}
	return false
}

// fetchesBefore decides what the card fetched from [off, off+n) before the locked instruction of the current step. A
// buffered store needs no such decision: what the card fetches before the store drains is decided when it does.
func (r *region) fetchesBefore(off, n int) {
	for r.h.w.pokeSource(r, off, n) {
	}
}

// Load64 implements host.Region.
func (r *region) Load64(off int) uint64 {
	var b [8]byte
	r.aligned(off)
	r.Load(off, b[:])
	return binary.LittleEndian.Uint64(b[:])
}

// Store64 implements host.Region.
func (r *region) Store64(off int, v uint64) {
	var b [8]byte
	r.aligned(off)
	binary.LittleEndian.PutUint64(b[:], v)
	r.Store(off, b[:])
}

func (r *region) aligned(off int) {
	if off&7 != 0 {
		panic(fmt.Errorf("sim: %w: a word at offset %d, which 8 does not divide", host.ErrBounds, off))
	}
}

// CompareAndSwap64 implements host.Region.
func (r *region) CompareAndSwap64(off int, old, new uint64) bool {
	r.aligned(off)
	r.h.w.cur.fence()
	v := r.loadLocked(off)
	if v != old {
		return false
	}
	r.locked(off, new)
	return true
}

// Add64 implements host.Region.
func (r *region) Add64(off int, delta uint64) uint64 {
	r.aligned(off)
	r.h.w.cur.fence()
	v := r.loadLocked(off) + delta
	r.locked(off, v)
	return v
}

func (r *region) locked(off int, v uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	r.h.w.asked = true // by loadLocked: a card that fetched now would find elements that land after the load
	r.h.w.poke(r, off, b[:])
	r.h.w.cur.reach()
}

// Flush implements host.Region: the lines of [off, off+n) are written back when the
// flush drains, after the stores before it, and are persistent after a Fence.
func (r *region) Flush(off, n int) {
	r.h.w.guard()
	t := r.h.w.cur
	t.pauseShared()
	r.check(off, n)
	if r.pm == nil || n == 0 || t.w.dying() {
		return
	}
	if t.w.tracer != nil {
		t.w.trace(r.h, "flush", "flushes [%d,%d) of region %d", off, off+n, r.ord)
	}
	lo, hi := off&^(lineBytes-1), min((off+n+lineBytes-1)&^(lineBytes-1), len(r.data))
	t.sb.flush(r, lo, hi-lo)
}

// Fence implements host.Region.
func (r *region) Fence() { r.h.w.cur.fence() }

// Free implements host.Region.
func (r *region) Free() error {
	r.h.w.guard()
	if r.h.w.dying() {
		return nil
	}
	if r.pm == nil {
		r.h.w.cur.drain()
		r.h.w.cur.pauseDirty()
	} else {
		r.h.w.cur.pauseShared()
	}
	r.h.w.touch(object(objKeys, r.h.node.idx, 0), Read) // a fault may revoke the registration
	r.h.w.cur.looked = true
	if r.mrs > 0 {
		return r.h.w.cur.refused(fmt.Errorf("sim: free region %d: %w: it is still registered", r.ord, verbs.ErrBusy))
	}
	if r.pm != nil {
		return nil // the region is unmapped; its content stays
	}
	r.drop()
	return nil
}

// drop frees the memory and drops everything in flight to it.
func (r *region) drop() {
	w := r.h.w
	w.touch(r.object(), Write)
	for len(r.srcs) > 0 {
		w.fetchOne(r.srcs[0])
	}
	r.freed = true
	for len(r.pend) > 0 {
		w.discard(r.pend[0])
	}
	w.recordDrop(r)
	r.data, r.hash = nil, print{}
}

// poke changes bytes like a CPU; pokeBy changes them like a CPU or a card.
func (w *World) poke(r *region, off int, p []byte) { w.pokeBy(r, off, p, false) }

func (w *World) pokeBy(r *region, off int, p []byte, card bool) {
	if r.pm == nil {
		w.change(r, off, p)
		w.recordChange(r, off, p, card)
		return
	}
	r.pm.before(r, off, len(p))
	w.change(r, off, p)
	w.recordChange(r, off, p, card)
	r.pm.after(r, off, len(p), card)
}

// change changes bytes and keeps the hash of the region up to date.
func (w *World) change(r *region, off int, p []byte) {
	w.touch(r.object(), Write)
	for len(r.srcs) > 0 && !w.asked && w.pokeSource(r, off, len(p)) {
	}
	w.asked = false
	w.watched(r, off, len(p))
	for len(p) > 0 {
		cell := off &^ 7
		n := min(cell+8-off, len(p))
		old := r.word(cell)
		copy(r.data[off:], p[:n])
		if now := r.word(cell); now != old {
			x, y := wordPrint(cell, old), wordPrint(cell, now)
			r.hash = print{A: r.hash.A - x.A + y.A, B: r.hash.B - x.B + y.B}
		}
		off, p = off+n, p[n:]
	}
}

// wordPrint returns the print of a word at its place. A word that is 0 has none.
func wordPrint(cell int, v uint64) print {
	if v == 0 {
		return print{}
	}
	return print{A: uint64(cell), B: ^uint64(cell)}.Uint(v)
}

func (r *region) word(cell int) uint64 {
	if cell+8 <= len(r.data) {
		return binary.LittleEndian.Uint64(r.data[cell:])
	}
	var b [8]byte
	copy(b[:], r.data[cell:])
	return binary.LittleEndian.Uint64(b[:])
}

// pokeSource decides whether the card has fetched one of the elements whose source is
// about to change. It returns false if none is left to decide.
func (w *World) pokeSource(r *region, off, n int) bool {
	for _, e := range r.srcs {
		if e.srcOff < off+n && off < e.srcOff+e.n && !e.asked {
			e.q.touch(Read) // whether e can have left depends on what its connection has lost
			if !w.machine.fetchesUnseen() || !w.mayLeave(e) || slices.ContainsFunc(r.srcs, func(p *elem) bool { return p.asked && w.leavesBefore(p, e) }) {
				continue // in eager mode the card fetches when a packet leaves; and it fetches in order
			}
			e.asked = true
			if w.choose(ChooseFetch, 2, func(i int) string { return e.name() + fetchNames[i] }) == 1 {
				w.fetch(e)
			}
			return true
		}
	}
	for _, e := range r.srcs {
		e.asked = false
	}
	return false
}

var fetchNames = [...]string{" not fetched yet", " fetched before"}

func hexText(p []byte) string {
	if len(p) == 8 {
		return fmt.Sprintf("%#x", binary.LittleEndian.Uint64(p))
	}
	if len(p) > 16 {
		return fmt.Sprintf("%q…", p[:16])
	}
	return fmt.Sprintf("%q", p)
}
