package sim

// The prints of hosts, their tasks and their messages: see fingerprint.go.

// nodePrint covers the state that belongs to a name, whichever machine has it.
func (w *World) nodePrint(n *node) print {
	p := print{}.Int(tagNode).Int(n.life).Uint(uint64(boolInt(n.up)<<3 | boolInt(n.done)<<2 | boolInt(n.wantsLife)<<1 | boolInt(n.crashed))).
		Print(n.reports)
	return pmemPrint(p, n.bank)
}

// hostPrints covers one machine: the objects that it has made, its memory, its registrations, the requests
// that it has not taken and its calls. The number of objects determines the numbers of the next ones. Whether
// the machine has the name follows from the rest: the one that has it is up and is the last life that began.
func (w *World) hostPrints(m *Host) {
	p := print{}.Int(tagHost).Int(m.life).Bool(m.acted)
	if !w.blind {
		p = p.Print(m.made)
	}
	p = p.Int(len(m.regs)).Int(len(m.gaths)).Int(m.ntasks).Int(m.mrs)
	if m.bank != m.node.bank {
		p = pmemPrint(p, m.bank)
	}
	p = w.zonePrint(p.Int(int(m.clock)), &m.timers)
	for _, r := range m.regs {
		if !r.freed {
			if !w.blind {
				p = p.Print(r.hash)
			}
			p = p.Int(r.ord).Uint(uint64(r.mrs)<<32 | uint64(r.lent)<<1 | uint64(boolInt(r.receives)))
		}
	}
	for _, k := range m.card.mrs {
		p = p.Uint(uint64(k.key)<<16 | uint64(k.access)).Int(k.r.ord<<1 | boolInt(k.r.pm != nil)).Int(k.pd.ord)
	}
	w.about(m.node.idx, m.node.idx, p)
	for _, x := range m.muts {
		w.mutexPrint(x)
	}
	for _, r := range m.mail {
		w.about(r.from.node.idx, m.node.idx, r.id(tagMail).Print(r.hash).Bool(r.cut))
	}
	for _, g := range m.gaths {
		w.gatherPrint(g)
	}
	w.machine.print(m)
}

// pmemPrint covers the contents that persistent memory holds or may hold.
func pmemPrint(p print, b *bank) print {
	p = p.Int(b.flips).Int(b.poisons)
	for _, r := range b.regions {
		p = p.Print(r.hash).Bool(r.h.alive).Print(r.pm.id).Int(len(r.data)).Uint(uint64(r.mrs)<<32 | uint64(r.lent)<<1 | uint64(boolInt(r.receives)))
		var units print
		for _, i := range r.pm.used {
			u := &r.pm.units[i]
			if len(u.list) == 0 && !u.bad {
				continue
			}
			x := print{}.Int(i).Uint(uint64(boolInt(u.open)<<1 | boolInt(u.bad)))
			for _, c := range u.list {
				x = x.Bytes(c.data).Bool(c.bad)
			}
			units = units.Plus(x)
		}
		p = p.Print(units)
	}
	return p
}

// taskPrint covers what a task waits for and what it has observed. The rest of its state
// follows from its observations.
func (w *World) taskPrint(t *task) {
	o, at := &t.op, t.h.node.idx
	id := print{}.Int(tagTask).Int(t.h.life).Int(t.ord)
	p := id.Uint(uint64(o.kind)<<8 | uint64(boolInt(t.heldUp)<<4|boolInt(o.fired)<<3|boolInt(o.signaled))).Int(t.vain).
		Int(o.need).Print(t.obs.main)
	if o.timed {
		p = p.Int(int(o.deadline))
	}
	for _, f := range t.sb.flushing {
		p = p.Int(f.r.ord).Int(f.unit).Int(f.r.pm.kept(f))
	}
	p = p.Print(t.wide.print()).Bool(t.apart)
	w.about(at, at, p)
	w.knows(at, id, &t.obs)
}

// knows adds the observations of a task or a message of a host about interchangeable hosts.
func (w *World) knows(at int, id print, o *obs) {
	for i, n := range w.sym {
		if !o.per[i].IsZero() {
			w.about(at, n, id.Int(tagKnows).Print(o.per[i]))
		}
	}
}

// mutexPrint covers the observations that the next owner of the mutex will inherit.
func (w *World) mutexPrint(m *mutex) {
	if m.owner == nil && m.obs.main.IsZero() {
		return
	}
	at := m.h.node.idx
	id := print{}.Int(tagMutex).Int(m.h.life).Int(m.ord)
	w.about(at, at, id.Bool(m.owner != nil).Print(m.obs.main))
	w.knows(at, id, &m.obs)
}

// id begins the prints of r: the call that it belongs to, and the life to which it goes.
func (r *request) id(tag int) print {
	life := -1
	if r.to != nil {
		life = r.to.life
	}
	return print{}.Int(tag).Int(r.from.life).Int(r.g.ord).Int(r.place()).Int(life)
}

// place identifies r among the calls of its gather: by its index or, if the host is
// interchangeable, by the number of earlier calls to the same host.
func (r *request) place() int {
	if r.to != nil && r.to.node.sym >= 0 {
		return r.nth
	}
	return r.idx
}

// gatherPrint covers the pending calls of a gather. Of the others it covers what another
// task may still find: the task that knows the answer may have terminated.
func (w *World) gatherPrint(g *gather) {
	for i, r := range g.reqs {
		if !g.out[i].Pending() {
			if g.shared && g.h.ntasks > 1 && g.h.live > 0 {
				to := g.h.node.idx
				if k := &g.known[i]; k.tag >= 0 {
					to = r.to.node.idx
				}
				w.about(g.h.node.idx, to, r.id(tagCall).Int(-1).Print(g.known[i].v))
			}
			continue
		}
		p := r.id(tagCall).Uint(uint64(boolInt(r.taken) | boolInt(r.replied)<<1 | boolInt(r.repCut)<<2 | boolInt(r.cut)<<3 | boolInt(r.lost)<<4))
		to := g.h.node.idx
		if r.to != nil {
			to = r.to.node.idx // the print of that host says whether it is alive
		}
		if r.replied {
			p = p.Print(r.ansHash)
		}
		if g.timed {
			p = p.Int(int(g.deadline))
		}
		w.about(g.h.node.idx, to, p)
	}
}

// ghostPrint covers a piece of a Write that a later connection may accept as its own.
func (w *World) ghostPrint(g *ghost) {
	w.about(g.from.idx, g.to.idx, print{}.Int(tagGhost).Print(g.q.id()).
		Uint(uint64(g.psn)).Uint(uint64(g.key)).Int(g.wr).Int(g.off).Bytes(g.data))
}

// cqPrints covers the completions that have not been polled yet. Each concerns the host to which
// its queue pair leads, which may be interchangeable. In late mode these are kept receives.
func (w *World) cqPrints(m *Host) {
	for _, c := range m.card.cqs {
		for i := range c.queue {
			x := &c.queue[i]
			wc, q := &x.wc, w.qpByNum(m, x.wc.QPNum)
			p := q.id().Int(tagCQ).Int(i).Bool(x.recv)
			if !x.recv { // the slots that it frees
				p = p.Int(q.head - x.wr)
			}
			w.about(m.node.idx, q.otherNode(), p.Uint(uint64(wc.Status)<<16|uint64(wc.Op)<<8|uint64(boolInt(wc.HasImm))).Uint(wc.ID).Uint(uint64(wc.Imm)<<32|uint64(wc.ByteLen)))
		}
	}
}

// The kinds of objects that a host makes and destroys.
const (
	madeRegion = iota
	madePD
	madeChannel
	madeCQ
	madeQP
	madeMutex
	madeListener
	endedPD
	endedChannel
	endedCQ
	endedListener
	madeGather // this and the next are not part of Host.made
	madeMR
)

// numbers notes the number of an object that a task of h makes.
func (h *Host) numbers(kind, ord int) {
	if t := h.w.cur; t != nil && t.h == h {
		t.makes(kind, ord)
	}
}

// makes notes that the host has made or destroyed an object, and what it belongs to. On a host with one task
// this follows from the observations of the task. On other hosts the task that did it may have terminated.
func (h *Host) makes(kind, ord int, of ...int) {
	h.w.guard()
	if kind < endedPD {
		h.numbers(kind, ord)
	}
	p := print{}.Int(tagMade).Int(kind).Int(ord)
	for _, x := range of {
		p = p.Int(x)
	}
	h.made = h.made.Plus(p)
}
