package sim

import (
	"fmt"
	"slices"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// card is the RDMA card of one life of a host. It implements verbs.Device.
type card struct {
	h   *Host
	mrs []*mr
	qps []*qp
	cqs []*cq
	pds int // created so far; chs counts channels
	chs int
}

func (c *card) Attr() verbs.DeviceAttr {
	p := &c.h.w.cfg.Profile
	return verbs.DeviceAttr{Name: "sim0", MaxInline: p.MaxInline, MaxSGE: 16, MaxQPWR: 1 << 15,
		MaxRdAtomic: p.MaxRdAtomic, AtomicHCA: true, AtomicGlob: p.AtomicGlob,
		HasFlush: p.FlushOps, HasAtomicWrite: p.FlushOps}
}

func (c *card) AllocPD() (verbs.PD, error) {
	c.pds++
	c.h.makes(madePD, c.pds, 0)
	return &pd{c: c, ord: c.pds}, nil
}

func (c *card) Close() error { return nil }

func (c *card) CreateCompChannel() (verbs.CompChannel, error) {
	c.chs++
	c.h.makes(madeChannel, c.chs, 0)
	return &channel{h: c.h, ord: c.chs}, nil
}

func (c *card) CreateCQ(depth int, ch verbs.CompChannel) (verbs.CQ, error) {
	if err := verbs.CheckDepth(depth, 1<<20); err != nil {
		return nil, fmt.Errorf("sim: create CQ: %w", err)
	}
	if ch != nil {
		c.h.w.guard()
		c.h.w.cur.pauseShared()
		if ch.(*channel).gone {
			return nil, c.h.w.cur.refused(fmt.Errorf("sim: create CQ: %w: the channel", verbs.ErrClosed))
		}
	}
	q := c.h.w.pools.cqs.get()
	*q = cq{qps: q.qps[:0], rqps: q.rqps[:0], queue: q.queue[:0], h: c.h, ord: len(c.cqs)}
	c.cqs = append(c.cqs, q)
	of := 0
	if ch != nil {
		q.ch = ch.(*channel)
		q.ch.cqs = append(q.ch.cqs, q)
		of = q.ch.ord
	}
	c.h.makes(madeCQ, q.ord, of)
	return q, nil
}

type pd struct {
	c    *card
	ord  int
	open int // its registrations and queue pairs
	gone bool
}

// Dealloc implements verbs.PD.
func (p *pd) Dealloc() error {
	w := p.c.h.w
	w.guard()
	w.cur.pauseShared()
	if err := verbs.CheckDealloc(p.gone, p.open); err != nil && !w.dying() {
		return w.cur.refused(fmt.Errorf("sim: deallocate a protection domain: %w", err))
	}
	p.gone = true
	p.c.h.makes(endedPD, p.ord, 0)
	return nil
}

// mr is a registration of a whole region.
type mr struct {
	pd     *pd
	r      *region
	key    uint32
	access verbs.Access
	gone   bool
}

func (p *pd) RegisterMR(mem verbs.Memory, access verbs.Access) (verbs.MR, error) {
	w := p.c.h.w
	w.guard()
	switch t := w.cur; {
	case w.dying():
	case access&^verbs.LocalWrite != 0:
		t.drain()
		t.pauseAfter() // a peer that guesses the key may have sent requests before
	default:
		t.drainShared()
	}
	if err := verbs.CheckPD(p.gone); err != nil {
		return nil, p.c.h.w.cur.refused(fmt.Errorf("sim: register memory: %w", err))
	}
	if err := verbs.CheckRegistration(access, w.cfg.Profile.FlushOps); err != nil {
		return nil, fmt.Errorf("sim: register memory: %w", err)
	}
	r, ok := mem.(*region)
	if !ok || r.h != p.c.h || r.freed {
		return nil, p.c.h.w.cur.refused(fmt.Errorf("sim: register memory: %w: not a live region of %s", verbs.ErrInvalid, p.c.h.Name()))
	}
	n := p.c.h.node
	n.w.touch(object(objKeys, n.idx, 0), Write)
	p.c.h.mrs++
	n.w.bound("registrations of a life of a host", p.c.h.mrs, 1<<keyBits-1)
	n.w.bound("lives of a host that registers memory", p.c.h.life, 1<<(32-keyBits)-1)
	m := n.w.pools.mrs.get()
	*m = mr{pd: p, r: r, key: uint32(p.c.h.life)<<keyBits | uint32(p.c.h.mrs), access: access}
	n.w.cur.makes(madeMR, p.c.h.mrs)
	r.mrs++
	p.open++
	if access&^verbs.LocalWrite != 0 {
		r.lent++
		n.w.cur.reach() // a peer that guesses the key can reach the memory from now on
	}
	p.c.mrs = append(p.c.mrs, m)
	if p.c.h.w.tracer != nil {
		p.c.h.w.trace(p.c.h, "register", "registers region %d with key %d", r.ord, m.key)
	}
	return m, nil
}

func (m *mr) Addr() uint64 { return m.r.base }
func (m *mr) Len() int     { return len(m.r.data) }
func (m *mr) LKey() uint32 { return m.key }
func (m *mr) RKey() uint32 { return m.key }

// Dereg implements verbs.MR.
func (m *mr) Dereg() error {
	m.pd.c.h.w.guard()
	if m.pd.c.h.w.dying() {
		return nil
	}
	w := m.pd.c.h.w
	if m.access&^verbs.LocalWrite != 0 || m.r.receives {
		w.cur.drain()
		w.cur.pauseDirty()
	} else {
		w.cur.drainShared()
	}
	if m.gone {
		w.touch(object(objKeys, m.pd.c.h.node.idx, 0), Read)
		return w.cur.refused(fmt.Errorf("sim: deregister: %w", verbs.ErrClosed))
	}
	m.pd.c.revoke(m)
	w.cur.ends()
	return nil
}

// revoke deregisters keys of the card, all at one moment: which requests were executed before that is decided once.
func (c *card) revoke(all ...*mr) {
	w, h := c.h.w, c.h
	for _, m := range all {
		w.touch(m.r.object(), Write)
		if w.tracer != nil {
			w.trace(h, "revoke", "deregisters key %d of region %d", m.key, m.r.ord)
		}
	}
	w.touch(object(objKeys, h.node.idx, 0), Write)
	w.refusedByNow(h)
	w.cutoff(func(s *sqEntry) bool {
		return slices.ContainsFunc(all, func(m *mr) bool { return s.mr == m || slices.Contains(s.into, m) })
	}, c)
	for _, m := range all {
		m.gone = true
		m.pd.open--
		m.r.mrs--
		if m.access&^verbs.LocalWrite != 0 {
			m.r.lent--
		}
	}
	c.mrs = slices.DeleteFunc(c.mrs, func(m *mr) bool { return m.gone })
}

// key returns the registration with key k, or nil.
func (c *card) key(k uint32) *mr {
	for _, m := range c.mrs {
		if m.key == k {
			return m
		}
	}
	return nil
}

// sge returns the region and offset of a piece of local memory.
func (p *pd) sge(s verbs.SGE, write bool) (*region, int, bool) {
	m := p.c.key(s.LKey)
	if m == nil || m.pd != p || write && m.access&verbs.LocalWrite == 0 || !m.r.has(s.Addr, int(s.Length)) {
		return nil, 0, false
	}
	return m.r, int(s.Addr - m.r.base), true
}

// has reports whether the region contains n bytes at addr, which may be any address.
func (r *region) has(addr uint64, n int) bool {
	return verbs.Covers(r.base, len(r.data), addr, n)
}
