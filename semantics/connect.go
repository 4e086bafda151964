package semantics

import (
	"slices"

	"github.com/verbatim-rdma/verbatim/litmus/lang"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// now is the end of a statement's queue pair in the current connection.
func (s *state) now(o *op) int { return s.current[o.end] }

// connect connects a queue pair again, once a thread of each host has reached such a statement.
// The host that begins gives up the run if it does not reach the other.
func (s *state) connect(t int, o *op) (next []*state, gaveUp bool) {
	if o.end%2 == 1 || s.draining(t) {
		return nil, false
	}
	peer := s.program.ends[o.end^1].host
	if s.cut[s.program.ends[o.end].host*len(s.hosts)+peer] != whole || !s.up[peer] {
		return nil, true
	}
	for u := range s.threads {
		x := &s.threads[u]
		if x.done || x.ended || s.draining(u) {
			continue
		}
		other := s.program.threads[u].steps[x.pc]
		st, ok := other.stmt.(lang.Connect)
		if !ok || other.end != o.end^1 {
			continue
		}
		c := s.clone()
		c.renew(o.end, o.stmt.(lang.Connect).SamePSN)
		c.renew(other.end, st.SamePSN)
		c.advance(t)
		c.advance(u)
		next = append(next, c)
	}
	return next, false
}

// renew begins the next connection of an end.
func (s *state) renew(e int, samePSN bool) {
	s.current[e] = s.program.ends[s.current[e]].next
	def := &s.program.ends[s.current[e]]
	s.ends[s.current[e]] = end{state: verbs.StateRTS, access: def.access, psn: samePSN && def.psn}
}

// haunts reports whether a message is a Write that may arrive on a later connection: it was
// sent and not acknowledged.
func (m *message) haunts() bool {
	return (m.op == verbs.OpWrite || m.op == verbs.OpWriteImm) && m.gone && !m.acknowledged && !m.fetching()
}

// oldPackets lets a Write of an old connection of two hosts execute on the current one, which
// reuses its sequence numbers. The Write may have been executed before.
func (s *state) oldPackets(a, b int) []*state {
	var next []*state
	for e := range s.ends {
		first := slices.IndexFunc(s.current, func(now int) bool { return s.follows(e, now) })
		x, y := s.program.ends[e].host, s.program.ends[e^1].host
		if first < 0 || !s.ends[e].psn || !(x == a && y == b || x == b && y == a) {
			continue
		}
		for i, m := range s.ends[e].wire {
			now := s.current[first]
			if !m.haunts() || !s.ends[now].psn || s.silent(now^1) || s.accessCheckedPerPacket(now, &m, cell{at: m.at}) {
				continue
			}
			c := s.clone()
			c.ends[e].wire[i].acknowledged = true
			c.arrive(m.at, m.data)
			next = append(next, c)
		}
	}
	if next == nil {
		next = []*state{s.clone()}
	}
	return next
}

// follows reports whether an end belongs to a later connection than another one.
func (s *state) follows(e, later int) bool {
	for n := s.program.ends[e].next; n != 0; n = s.program.ends[n].next {
		if n == later {
			return true
		}
	}
	return false
}
