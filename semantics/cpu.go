package semantics

import (
	"slices"

	"github.com/verbatim-rdma/verbatim/litmus/lang"
)

// cpu returns the results of a load, a store, a fence, a flush or a locked instruction.
func (s *state) cpu(t int, o *op) []*state {
	switch st := o.stmt.(type) {
	case lang.Load:
		return s.load(t, o.at, func(c *state, b string) { c.threads[t].set(st.Reg, bytes(b)) })
	case lang.Store:
		return s.store(t, o.at, st)
	case lang.Clwb:
		return s.clwb(t, o.at)
	case lang.Fence:
		if s.fenceDrains(t) {
			return nil
		}
		return s.advanced(t)
	case lang.CmpXchg:
		return s.locked(t, o.at, func(x *thread, old uint64) (uint64, value) {
			if old != num(x.eval(st.Old, 8)) {
				return old, number(0)
			}
			return num(x.eval(st.New, 8)), number(1)
		}, st.Reg)
	case lang.Xadd:
		return s.locked(t, o.at, func(x *thread, old uint64) (uint64, value) {
			return old + num(x.eval(st.Add, 8)), number(old)
		}, st.Reg)
	}
	panic("semantics: unknown kind of statement")
}

// load loads the words of a place, each in its own step and in any order.
func (s *state) load(t int, at place, then func(*state, string)) []*state {
	var next []*state
	words := split(at, 8)
	for i, w := range words {
		if x := &s.threads[t]; x.sampled != nil && x.sampled[i] {
			continue
		}
		c := s.clone()
		x := &c.threads[t]
		if x.sampled == nil {
			x.sampled, x.partial = make([]bool, len(words)), string(make([]byte, at.n))
		}
		x.sampled[i] = true
		x.partial = put(x.partial, w.off-at.off, c.sees(t, w))
		if !slices.Contains(x.sampled, false) {
			b := x.partial
			c.advance(t)
			then(c, b)
		}
		next = append(next, c)
	}
	return next
}

// sees returns the content that a CPU loads: memory, overlaid with the stores in its own buffer.
func (s *state) sees(t int, at place) string {
	b := s.read(at)
	for _, w := range s.threads[t].buffer {
		if w.clwb || w.at.block != at.block {
			continue
		}
		for i := range w.data {
			if off := w.at.off + i; off >= at.off && off < at.off+at.n {
				b = put(b, off-at.off, w.data[i:i+1])
			}
		}
	}
	return b
}

// until is a loop that waits for a value. It loads once: a run in which it loads later is
// another run of the search.
func (s *state) until(t int, o *op, st lang.Until) (next []*state, gaveUp bool) {
	want := num(s.threads[t].eval(st.Value, o.at.n))
	x := &thread{}
	for _, c := range s.load(t, o.at, func(c *state, b string) { c.threads[t].partial = b }) {
		if c.threads[t].pc == s.threads[t].pc {
			next = append(next, c) // some words are not loaded yet
			continue
		}
		x.set("v", bytes(c.threads[t].partial))
		c.threads[t].partial = ""
		if x.compare(lang.Compare{L: lang.Term{Name: "v"}, Op: st.Op, R: lang.Term{Num: want}}) {
			next = append(next, c)
		} else {
			gaveUp = true
		}
	}
	return next, gaveUp
}

// store puts the words of a store into the store buffer, in order of increasing address.
// Without store buffers, it writes them to memory at once.
func (s *state) store(t int, at place, st lang.Store) []*state {
	c := s.clone()
	b := c.threads[t].eval(st.Value, at.n)
	words := split(at, s.profile.CellBytes)
	if !s.profile.StoreBuffers {
		if s.locks(at) {
			return nil
		}
		for _, w := range words {
			c.write(w, b[w.off-at.off:][:w.n])
		}
	} else {
		for _, w := range words {
			c.threads[t].buffer = append(c.threads[t].buffer, store{at: w, data: b[w.off-at.off:][:w.n]})
		}
	}
	c.advance(t)
	return []*state{c}
}

// storeBuffer removes the oldest entry from a store buffer: stores become visible in
// order (stores-in-order), and later than the CPU's own loads.
func (s *state) storeBuffer(t int) []*state {
	if len(s.threads[t].buffer) == 0 || !s.storesInOrder(t, 0) {
		return nil
	}
	b := s.threads[t].buffer[0]
	if !b.clwb && s.locks(b.at) {
		return nil
	}
	c := s.clone()
	x := &c.threads[t]
	x.buffer = x.buffer[1:]
	if b.clwb {
		c.flushLine(t, b.at)
	} else {
		c.write(b.at, b.data)
	}
	return []*state{c}
}

// storesInOrder reports whether the i-th store is the oldest.
func (s *state) storesInOrder(_, i int) bool { return i == 0 }

// draining reports whether a thread has to wait until its store buffer is empty.
func (s *state) draining(t int) bool { return len(s.threads[t].buffer) > 0 }

// fenceDrains reports whether a fence must wait: for the store buffer, and for lines that
// were flushed (flush-and-fence-persist).
func (s *state) fenceDrains(t int) bool { return s.draining(t) || len(s.threads[t].flushed) > 0 }

// locked executes a locked instruction in one step. The instruction waits for the store buffer to drain.
func (s *state) locked(t int, at place, f func(*thread, uint64) (uint64, value), reg string) []*state {
	if s.fenceDrains(t) || s.locks(at) {
		return nil
	}
	c := s.clone()
	old := num(c.read(at))
	now, v := f(&c.threads[t], old)
	if now != old {
		c.write(at, word64(now))
	}
	c.threads[t].set(reg, v)
	c.advance(t)
	return []*state{c}
}

// locks reports whether a card that is atomic with respect to CPUs is in the middle of
// an Atomic there (atomic-glob).
func (s *state) locks(at place) bool {
	return s.profile.AtomicGlob && s.amidst(func(m *message) bool { return m.at.block == at.block && overlap(m.at, at) })
}

func overlap(a, b place) bool {
	return a.block == b.block && a.off < b.off+b.n && b.off < a.off+a.n
}

// read and write are accesses to memory, by CPUs and cards alike.
func (s *state) read(at place) string { return s.memory[at.block][at.off : at.off+at.n] }

func (s *state) write(at place, b string) {
	s.memory[at.block] = put(s.memory[at.block], at.off, b)
}

func put(b string, off int, part string) string { return b[:off] + part + b[off+len(part):] }

// split cuts a place at the multiples of n: cell-atomicity.
func split(at place, n int) []place {
	var out []place
	for off := at.off; off < at.off+at.n; {
		end := min((off/n+1)*n, at.off+at.n)
		out = append(out, place{at.block, off, end - off})
		off = end
	}
	return out
}
