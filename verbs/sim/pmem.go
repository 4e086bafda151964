package sim

import (
	"bytes"
	"fmt"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
)

// Persistent memory (the semantics note, section 6). Stored data sits in a cache line that may be
// written back at any time; a flush and the fence after it guarantee that it was. So a unit of
// memory, which persists or does not, has a set of contents, any of which may be the persistent one:
// all contents since the last guarantee. They are kept, and nothing is decided, until a machine that
// lost its power reads the unit (as in Jaaru, ASPLOS 2021). Units that are never read cost nothing.
//
// The unit is 8 bytes, or a cache line if the profile has no torn lines.

const lineBytes = 64

// bank is the persistent memory of one machine. It survives the lives that the machine has under its
// name. If another machine takes the name, it brings its own bank, and this one stays with the zombie.
type bank struct {
	regions []*region
	flips   int // media errors that have yet to show as flipped bits
	poisons int // and those that have yet to show as unreadable memory
}

func (w *World) newBank() *bank {
	b := w.pools.banks.get()
	*b = bank{regions: b.regions[:0]}
	return b
}

// pmem is the state that makes a region persistent.
type pmem struct {
	name  string
	id    print // of the name
	units []punit
	used  []int // units with contents that may be lost, in the order of their first use
}

// punit is one unit of persistent memory. If no contents are listed, the current content is persistent.
type punit struct {
	list []content
	ver  int  // counts the changes
	open bool // power was lost, and which of the list the unit holds has not been decided yet
	used bool
	bad  bool // unreadable
}

// content is a content that a unit may persistently hold.
type content struct {
	ver  int
	data []byte
	bad  bool // it is unreadable
	at   int  // when it was listed
	q    *qp  // with wr the request that wrote it; nil: a CPU
	wr   int
}

// clwbRec is a line on its way back to memory.
type clwbRec struct {
	r         *region
	unit, ver int
}

// OpenPMEM implements host.Host.
func (h *Host) OpenPMEM(name string, size int) (host.Region, error) {
	h.w.guard()
	b := h.bank
	h.w.stats.Exercised |= faults.Persistence
	if name == "" || size <= 0 || size > 1<<30 {
		return nil, fmt.Errorf("sim: %w: a persistent region %q of %d bytes", host.ErrNoMemory, name, size)
	}
	if h.node.spec.Daemon && len(b.regions) == 0 {
		h.w.cur.others() // its effect survives a crash, so it must not share a step with taking a request: see serving
	} else {
		h.w.cur.pauseShared()
	}
	for _, r := range b.regions {
		if r.pm.name != name {
			continue
		}
		if len(r.data) != size {
			return nil, fmt.Errorf("sim: open persistent region %q: %w: it has %d bytes, not %d", name, host.ErrBounds, len(r.data), size)
		}
		r.h = h
		h.w.touch(r.object(), Write)
		return r, nil
	}
	h.w.bound("persistent regions of a host", len(b.regions), maxOrd)
	r := h.w.pools.regions.get()
	*r = region{pend: r.pend[:0], srcs: r.srcs[:0], h: h, ord: len(b.regions), data: h.w.bytes(size), pm: newPMEM(name)}
	clear(r.data)
	r.base = uint64(r.ord+1)<<32 | 1<<62
	b.regions = append(b.regions, r)
	h.w.touch(r.object(), Write)
	h.acted = true // it stays when the host dies
	if h.w.tracer != nil {
		h.w.recordRegion(r)
		h.w.trace(h, "alloc", "makes persistent region %q of %d bytes", name, size)
	}
	return r, nil
}

func newPMEM(name string) *pmem { return &pmem{name: name, id: print{}.String(name)} }

// unitBytes returns how many bytes of memory persist together.
func (w *World) unitBytes() int {
	if w.cfg.Profile.TornLines {
		return 8
	}
	return lineBytes
}

// span returns the units that [off, off+n) touches.
func (p *pmem) span(r *region, off, n int) (lo, hi, size int) {
	size = r.h.w.unitBytes()
	if p.units == nil {
		p.units = make([]punit, (len(r.data)+size-1)/size)
	}
	if n == 0 {
		return off / size, off / size, size
	}
	return off / size, (off + n + size - 1) / size, size
}

func (r *region) unit(i, size int) []byte { return r.data[i*size : min((i+1)*size, len(r.data))] }

// caching reports whether stores stay in caches that a power failure empties.
func (w *World) caching(card bool) bool {
	return w.cfg.Profile.Domain == faults.ADR && (!card || w.cfg.Profile.DDIO)
}

// before keeps the content of a unit before it changes.
func (p *pmem) before(r *region, off, n int) {
	w := r.h.w
	if !w.mayLosePower(r.h.node) {
		return
	}
	lo, hi, size := p.span(r, off, n)
	for i := lo; i < hi; i++ {
		if u := &p.units[i]; len(u.list) == 0 && w.cfg.Profile.Domain == faults.ADR {
			p.push(r, i, size)
		}
	}
}

// after keeps the content after the change. Data that a card writes past the caches is persistent.
func (p *pmem) after(r *region, off, n int, card bool) {
	lo, hi, size := p.span(r, off, n)
	w := r.h.w
	for i := lo; i < hi; i++ {
		u := &p.units[i]
		u.ver++
		u.bad = u.bad && !whole(r, i, size, off, n)
		switch {
		case !w.caching(card):
			u.list = u.list[:0]
			if u.open = u.open && w.finding; u.open {
				p.push(r, i, size)
			}
		case len(u.list) > 0:
			p.push(r, i, size)
			u.open = u.open && (w.finding || !whole(r, i, size, off, n))
		}
	}
}

// whole reports whether [off, off+n) covers all of unit i.
func whole(r *region, i, size, off, n int) bool {
	return off <= i*size && off+n >= min((i+1)*size, len(r.data))
}

// push lists the unit's current content as one that may be persistent.
func (p *pmem) push(r *region, i, size int) {
	u := &p.units[i]
	if n := len(u.list); n > 0 && u.list[n-1].bad == u.bad && bytes.Equal(u.list[n-1].data, r.unit(i, size)) {
		return
	}
	d := r.h.w.bytes(len(r.unit(i, size)))
	copy(d, r.unit(i, size))
	c := content{ver: u.ver, data: d, bad: u.bad, at: r.h.w.ticks}
	if e := r.h.w.placing; e != nil && !e.byCPU() {
		c.q, c.wr = e.q, e.wr
	}
	u.list = append(u.list, c)
	if !u.used {
		u.used = true
		p.used = append(p.used, i)
	}
}

// sure guarantees that unit i persistently holds its content at version ver or something newer.
func (p *pmem) sure(i, ver int) {
	u := &p.units[i]
	k := 0
	for k+1 < len(u.list) && u.list[k+1].ver <= ver {
		k++
	}
	if len(u.list) > 0 && u.list[k].ver <= ver {
		u.list = u.list[k:]
	}
	if len(u.list) == 1 && !u.open {
		u.list = u.list[:0]
	}
}

// kept counts the listed contents that are newer than the one that a fence for f guarantees.
func (p *pmem) kept(f clwbRec) int {
	n := 0
	for _, c := range p.units[f.unit].list {
		n += boolInt(c.ver > f.ver)
	}
	return n
}

// flush executes an RDMA Flush: everything before it has landed by now.
func (w *World) flush(e *elem) {
	r := e.reg
	if r.pm == nil || !e.persist {
		return
	}
	w.touch(r.object(), Write)
	lo, hi, _ := r.pm.span(r, e.off, e.n)
	for i := lo; i < hi; i++ {
		r.pm.sure(i, r.pm.units[i].ver)
	}
}

// mayLosePower reports whether a power failure of n is still possible.
func (w *World) mayLosePower(n *node) bool {
	return w.mayStrike(n, faults.Power)
}
