package semantics

import (
	"slices"

	"github.com/verbatim-rdma/verbatim/faults"
)

const line = 64

// clwb enters the store buffer, so it takes effect after the stores to its line.
func (s *state) clwb(t int, at place) []*state {
	c := s.clone()
	if s.blocks[at.block].persistent {
		if !s.profile.StoreBuffers {
			c.flushLine(t, at)
		} else {
			c.threads[t].buffer = append(c.threads[t].buffer, store{at: at, clwb: true})
		}
	}
	c.advance(t)
	return []*state{c}
}

// flushLine begins to write back the lines of a place. Only a fence confirms that the
// write-back is complete (flush-needs-fence).
func (s *state) flushLine(t int, at place) {
	size := s.blocks[at.block].size
	first := at.off / line * line
	last := min((at.off+at.n+line-1)/line*line, size)
	for _, w := range split(place{at.block, first, last - first}, 8) {
		x := &s.threads[t]
		if s.dirty(w) && !slices.Contains(x.flushed, w) {
			x.flushed = append(x.flushed, w)
		}
	}
}

func (s *state) dirty(w place) bool {
	return s.read(w) != s.durable[w.block][w.off:w.off+w.n]
}

// cacheWriteBackOrder writes a line back, at any time and in any order: 8 bytes of it
// (torn-line, persist-atomicity), or the line as it is at this moment.
func (s *state) cacheWriteBackOrder() []*state {
	var next []*state
	for b := range s.blocks {
		if !s.blocks[b].persistent || !s.up[s.blocks[b].host] {
			continue
		}
		for _, at := range split(place{b, 0, s.blocks[b].size}, s.persistsAtOnce()) {
			if !s.dirty(at) && !s.isFlushed(at) {
				continue
			}
			c := s.clone()
			c.persist(at)
			next = append(next, c)
		}
	}
	return next
}

// persistsAtOnce is the number of bytes that persist together.
func (s *state) persistsAtOnce() int {
	if s.tornLine() {
		return 8
	}
	return line
}

func (s *state) tornLine() bool { return s.profile.TornLines }

func (s *state) isFlushed(at place) bool {
	for _, t := range s.threads {
		if slices.ContainsFunc(t.flushed, func(w place) bool { return overlap(w, at) }) {
			return true
		}
	}
	return false
}

// persist makes a place durable as it is now.
func (s *state) persist(at place) {
	s.durable[at.block] = put(s.durable[at.block], at.off, s.read(at))
	for t := range s.threads {
		x := &s.threads[t]
		x.flushed = slices.DeleteFunc(x.flushed, func(w place) bool { return overlap(w, at) })
	}
}

// arrive is the effect of data that a card places on persistent memory: with DDIO it is in a
// cache (ddio-is-volatile), otherwise persistent (ddio-off-reaches-the-controller).
func (s *state) arrive(at place, b string) {
	s.write(at, b)
	if s.blocks[at.block].persistent && !s.profile.DDIO {
		s.durable[at.block] = put(s.durable[at.block], at.off, b)
	}
}

// survives is the content of persistent memory after a power failure.
func (s *state) survives(b int) string {
	switch s.profile.Domain {
	case faults.Volatile: // domain-volatile
		return string(make([]byte, s.blocks[b].size))
	case faults.EADR, faults.Battery: // domain-eadr, domain-battery
		return s.memory[b]
	}
	return s.durable[b]
}
