package generate

import (
	"cmp"
	"slices"
)

// MaxSize is the limit of [All]: the programs of size 7 do not fit into memory.
const MaxSize = 6

// All lists all programs up to a size, each once up to renaming, by size and name.
func All(size int) []*Program {
	type named struct {
		p    *Program
		name string
		size int
	}
	var list []named
	raw(size, true, func(p *Program) {
		if p.Validate() != nil {
			return
		}
		if name := p.String(); p.Canonical().String() == name {
			q := *p
			list = append(list, named{&q, name, p.Size()})
		}
	})
	slices.SortFunc(list, func(a, b named) int {
		return cmp.Or(cmp.Compare(a.size, b.size), cmp.Compare(a.name, b.name))
	})
	out := make([]*Program, len(list))
	for i := range list {
		out[i] = list[i].p
	}
	return out
}

// raw calls f for all programs up to a size with valid threads, including renamings. If
// few is set it omits some that cannot be canonical, which only saves time. f must not
// keep the program.
func raw(size int, few bool, f func(*Program)) {
	requester, cpu := bodies(A, size), bodies(B, size)
	first := requester
	if few {
		for i := range requester {
			requester[i] = slices.DeleteFunc(requester[i], secondFirst)
		}
		first = make([][][]Stmt, len(requester))
		for i := range requester {
			first[i] = slices.DeleteFunc(slices.Clone(requester[i]), yFirst)
		}
	}
	var p Program
	for a := range first {
		for c := 0; a+c <= size; c++ {
			for b := 0; a+c+b <= size; b++ {
				for _, x := range first[a] {
					for _, y := range requester[c] {
						if few && len(y) > len(x) {
							continue
						}
						for _, z := range cpu[b] {
							p.Threads = [threads][]Stmt{A: x, C: y, B: z}
							f(&p)
						}
					}
				}
			}
		}
	}
}

// secondFirst reports whether the second queue pair is used before the first.
func secondFirst(body []Stmt) bool {
	i := slices.IndexFunc(body, func(s Stmt) bool { return s.Kind.verb() })
	return i >= 0 && body[i].QP > 0
}

// yFirst reports whether y is used before x.
func yFirst(body []Stmt) bool {
	i := slices.IndexFunc(body, func(s Stmt) bool { return s.Kind.access() })
	return i >= 0 && body[i].Loc > 0
}

// bodies lists the possible bodies of a thread, by their contribution to the size.
func bodies(t, size int) [][][]Stmt {
	out := make([][][]Stmt, size+1)
	words := alphabet(t)
	var grow func(body []Stmt, cost int, used uint8)
	grow = func(body []Stmt, cost int, used uint8) {
		if n := cost + second(used); bodyOK(t, body) == nil {
			out[n] = append(out[n], slices.Clone(body))
		}
		for _, s := range words {
			all := used | s.queue()
			if n := cost + s.cost(); n+second(all) <= size && (!s.Kind.message() || !slices.ContainsFunc(body, isMessage)) {
				grow(append(body, s), n, all)
			}
		}
	}
	grow(nil, 0, 0)
	return out
}

func isMessage(s Stmt) bool { return s.Kind.message() }

// alphabet lists the possible statements of a thread.
func alphabet(t int) []Stmt {
	var out []Stmt
	for k := Write; k <= Add; k++ {
		if k.verb() == (t == B) {
			continue
		}
		for i := range 16 {
			s := Stmt{Kind: k, Loc: uint8(i & 1), QP: uint8(i >> 1 & 1), Fence: i&4 != 0, Wait: i&8 != 0}
			if k.verb() || s.QP == 0 && !s.Wait && (!s.Fence || k == Load) {
				out = append(out, s)
			}
		}
	}
	for to := range threads {
		if to != t {
			out = append(out, Stmt{Kind: Tell, To: uint8(to)})
		}
	}
	return append(out, Stmt{Kind: Hear})
}
