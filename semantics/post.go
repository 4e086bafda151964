package semantics

import (
	"slices"

	"github.com/verbatim-rdma/verbatim/litmus/lang"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// doorbellDrains posts a send work request. The doorbell is a store behind all others, so
// the card sees every store that the CPU made before.
func (s *state) doorbellDrains(t int, o *op, st *lang.Post) []*state {
	sync := st.Value != "" || st.Status != ""
	if s.threads[t].waiting {
		return s.finish(t, o, st)
	}
	if s.draining(t) {
		return nil
	}
	c := s.clone()
	result := c.post(t, o, st)
	if result != "OK" && st.Posted == "" {
		refuse(st, result)
	}
	c.threads[t].set(st.Posted, named(result))
	if sync && result == "OK" {
		c.threads[t].waiting = true
		return []*state{c}
	}
	c.advance(t)
	return []*state{c}
}

// finish waits for the completion of a request, for `r, s = read x`.
func (s *state) finish(t int, o *op, st *lang.Post) []*state {
	status, ok := s.threads[t].status(o.label)
	q := s.labels[o.label].cq
	switch {
	case !ok && len(s.queues[q]) == 0:
		return nil
	case !ok:
		c := s.clone()
		c.take(t, q)
		return []*state{c}
	}
	c := s.clone()
	if status == verbs.StatusSuccess {
		c.threads[t].set(st.Value, bytes(s.private[o.label]))
	}
	c.threads[t].set(st.Status, named(status.String()))
	c.advance(t)
	return []*state{c}
}

// post puts a request into the send queue, if that is possible. An Atomic that was posted
// before, on another queue pair, is a new one: atomic-again.
func (s *state) post(t int, o *op, st *lang.Post) string {
	e := &s.ends[s.now(o)]
	def := &s.program.ends[s.now(o)]
	size := o.at.n
	if st.Remote.Name == "" {
		size = 0
		for _, p := range o.pieces {
			size += p.n
		}
	}
	switch {
	case e.destroyed:
		return "CLOSED"
	case e.state == verbs.StateReset || e.state == verbs.StateInit || e.state == verbs.StateRTR:
		return "STATE"
	case !s.profile.FlushOps && (st.Op == verbs.OpFlush || st.Op == verbs.OpAtomicWrite):
		return "UNSUPPORTED"
	case st.Flags&verbs.Inline != 0 && size > s.profile.MaxInline:
		return "INVALID"
	case e.posted-e.freed >= def.depth:
		return "FULL"
	}
	m := message{id: e.posted, label: o.label, op: st.Op, at: o.at, region: o.region, imm: st.Imm}
	x := &s.threads[t]
	switch st.Op {
	case verbs.OpCompareSwap:
		m.operand = [2]uint64{num(x.eval(st.Compare, 8)), num(x.eval(st.Swap, 8))}
	case verbs.OpFetchAdd:
		m.operand[0] = num(x.eval(st.Add, 8))
	case verbs.OpFlush:
		m.scope = scope(st)
	}
	m.pushes = s.readsSeeAcknowledged(s.now(o), st.Op)
	w := work{message: m, fence: st.Flags&verbs.Fence != 0}
	sync := st.Value != "" || st.Status != ""
	w.signaled = st.Flags&verbs.Signaled != 0 || def.signalAll || !st.Silent && (st.Label != "" || sync)
	s.gather(t, o, st, &w)
	e.posted++
	e.sends = append(e.sends, w)
	return "OK"
}

// gather collects the pieces of a request: memory is fetched later (source-read-late)
// unless the request is inline.
func (s *state) gather(t int, o *op, st *lang.Post, w *work) {
	if lang.HasValue(st.Op) {
		for _, p := range o.pieces {
			w.sinks = append(w.sinks, p.at)
		}
	}
	for _, p := range o.pieces {
		if p.mem && !s.registered(p.at) {
			w.local = verbs.StatusLocProtErr
		}
	}
	if lang.HasValue(st.Op) {
		return
	}
	for _, p := range o.pieces {
		off := len(w.data)
		switch {
		case !p.mem:
			w.data += s.threads[t].eval(p.value, p.n)
			continue
		case st.Flags&verbs.Inline != 0:
			w.data += s.inlineSnapshot(p.at)
			continue
		}
		w.data += string(make([]byte, p.n))
		for _, c := range s.cellAtomicity(p.at) {
			w.fetch = append(w.fetch, cell{at: c, off: off + c.off - p.at.off})
		}
	}
}

func (s *state) inlineSnapshot(at place) string { return s.read(at) }

// cellAtomicity cuts a place into the pieces that are never torn.
func (s *state) cellAtomicity(at place) []place { return split(at, s.profile.CellBytes) }

// registered reports whether the block's own registration is valid: local keys are that.
func (s *state) registered(at place) bool {
	i := slices.IndexFunc(s.regions, func(r region) bool { return r.block == at.block })
	return s.valid[i]
}

// slotsAreFreedByPolling frees the slots of a request and of all earlier ones.
func (s *state) slotsAreFreedByPolling(w completion) {
	e := &s.ends[w.end]
	e.freed = max(e.freed, w.id+1)
}

func (s *state) receiveSlotsAreFreedByPolling(w completion) {
	e := &s.ends[w.end]
	e.rfree = max(e.rfree, w.id+1)
}

// postReceive posts a receive work request.
func (s *state) postReceive(t int, o *op, st *lang.Recv) []*state {
	if s.draining(t) {
		return nil
	}
	c := s.clone()
	e := &c.ends[s.now(o)]
	result := "OK"
	switch {
	case e.destroyed:
		result = "CLOSED"
	case e.state == verbs.StateReset:
		result = "STATE"
	case e.rposted-e.rfree >= s.program.ends[s.now(o)].rdepth:
		result = "FULL"
	default:
		r := receive{id: e.rposted, label: o.label}
		for _, p := range o.pieces {
			r.into = append(r.into, p.at)
		}
		e.receives = append(e.receives, r)
		e.rposted++
	}
	if result != "OK" && st.Posted == "" {
		refuse(st, result)
	}
	c.threads[t].set(st.Posted, named(result))
	c.advance(t)
	return []*state{c}
}
