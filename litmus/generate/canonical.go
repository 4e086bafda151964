package generate

import "strings"

// rename returns the program with locations exchanged, or A and C. Queue pairs are
// numbered in the order of their first use.
func (p *Program) rename(locs, requesters bool) *Program {
	q := &Program{}
	for t, body := range p.Threads {
		if requesters {
			t = exchanged(t)
		}
		out := make([]Stmt, len(body))
		first := -1
		for i, s := range body {
			if locs && s.Kind.access() {
				s.Loc = 1 - s.Loc
			}
			if requesters && s.Kind == Tell {
				s.To = uint8(exchanged(int(s.To)))
			}
			if s.Kind.verb() {
				if first < 0 {
					first = int(s.QP)
				}
				s.QP ^= uint8(first)
			}
			out[i] = s
		}
		if len(out) > 0 {
			q.Threads[t] = out
		}
	}
	return q
}

// exchanged is the thread t after exchanging A and C.
func exchanged(t int) int {
	switch t {
	case A:
		return C
	case C:
		return A
	}
	return t
}

// Canonical returns the representative of all renamings of p: of those with the longest
// thread A, the one with the smallest name.
func (p *Program) Canonical() *Program {
	best := p.rename(false, false)
	for i := 1; i < 4; i++ {
		if q := p.rename(i&1 != 0, i&2 != 0); q.before(best) {
			best = q
		}
	}
	return best
}

func (p *Program) before(q *Program) bool {
	if a, b := len(p.Threads[A]), len(q.Threads[A]); a != b {
		return a > b
	}
	return strings.Compare(p.String(), q.String()) < 0
}
