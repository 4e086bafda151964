package generate

import (
	"strconv"

	"github.com/verbatim-rdma/verbatim/litmus/lang"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// message is what the message of a program is called.
const message = "m"

// Test is the program as a litmus test without questions: its final states hold
// what every Read, atomic and load returned, and x and y if the program uses them.
//
// Constants follow from the place of a statement: the k-th Write, Store or
// CompareSwap brings k, which nothing else does, and the k-th addition adds 100 times
// 2 to the k-1, so that a sum tells what was added. A CompareSwap compares with 0.
func (p *Program) Test() *lang.Test {
	r := renderer{p: p, t: &lang.Test{File: p.String(), Name: p.String(), Source: "generated", Rules: []string{"generated"}}}
	r.t.Memory = []lang.Memory{{Host: "B"}}
	for t, body := range p.Threads {
		if len(body) > 0 {
			r.thread(t, body)
		} else if t == B {
			r.t.Hosts = append(r.t.Hosts, "B")
		}
	}
	for l, used := range r.locs {
		if used {
			name := "xy"[l : l+1]
			r.t.Memory[0].Blocks = append(r.t.Memory[0].Blocks, lang.Block{Locs: []lang.Loc{{Name: name, At: -1}}})
			r.t.Show = append(r.t.Show, lang.Term{Host: "B", Name: name})
		}
	}
	return r.t
}

// renderer writes a program as a litmus test.
type renderer struct {
	p      *Program
	t      *lang.Test
	locs   [2]bool
	values uint64 // how many constants were given out
	adds   int
	regs   int // of the current thread
	labels int
	body   []lang.Stmt
}

func (r *renderer) thread(t int, body []Stmt) {
	name := threadNames[t : t+1]
	r.t.Hosts = append(r.t.Hosts, name)
	r.regs, r.body = 0, nil
	second := false
	for _, s := range body {
		second = second || s.QP > 0
	}
	var ends []lang.Stmt // what the thread waits for in the end
	for _, s := range body {
		reg := ""
		if s.Kind.returns() {
			r.regs++
			reg = "r" + strconv.Itoa(r.regs)
			r.t.Show = append(r.t.Show, lang.Term{Thread: name, Name: reg})
		}
		if s.Kind.access() {
			r.locs[s.Loc] = true
		}
		switch {
		case s.Kind.verb():
			q := r.verb(s, reg)
			if second {
				q.QP = name + strconv.Itoa(int(s.QP)+1)
			}
			if q.Label != "" && reg != "" {
				ends = append(ends, lang.Wait{Label: q.Label}, lang.Query{Reg: reg, What: "result", Label: q.Label})
			}
			r.body = append(r.body, q)
		case s.Kind.message():
			r.body = append(r.body, r.ofMessage(s))
		default:
			r.cpu(s, reg)
		}
	}
	if second {
		for _, n := range []string{"1", "2"} {
			r.t.QPs = append(r.t.QPs, lang.QP{Name: name + n, A: name, B: "B"})
		}
	}
	r.t.Threads = append(r.t.Threads, lang.Thread{Name: name, Host: name, Body: append(r.body, ends...)})
}

// verb posts a work request. With Wait the statement waits for its completion.
func (r *renderer) verb(s Stmt, reg string) *lang.Post {
	q := &lang.Post{Remote: r.ref(s)}
	if s.Fence {
		q.Flags |= verbs.Fence
	}
	switch s.Kind {
	case Write:
		q.Op = verbs.OpWrite
		q.Flags |= verbs.Inline // nobody changes the source: the snapshot saves steps
		q.Payload = []lang.Operand{{Expr: &lang.Expr{Const: r.value()}}}
	case Read:
		q.Op = verbs.OpRead
	case CompareSwap:
		q.Op = verbs.OpCompareSwap
		q.Swap = lang.Expr{Const: r.value()}
	case FetchAdd:
		q.Op = verbs.OpFetchAdd
		q.Add = lang.Expr{Const: r.add()}
	}
	switch {
	case s.Wait && reg != "":
		q.Value = reg
	case s.Wait:
		r.labels++
		q.Status = "s" + strconv.Itoa(r.labels)
	case reg != "":
		r.labels++
		q.Label = "w" + strconv.Itoa(r.labels)
	}
	return q
}

// cpu is what the CPU of B does.
func (r *renderer) cpu(s Stmt, reg string) {
	switch s.Kind {
	case Load:
		if s.Fence {
			r.body = append(r.body, lang.Fence{})
		}
		r.body = append(r.body, lang.Load{Reg: reg, Ref: r.ref(s)})
	case Store:
		r.body = append(r.body, lang.Store{Ref: r.ref(s), Value: lang.Expr{Const: r.value()}})
	default:
		r.body = append(r.body, lang.Xadd{Reg: reg, Ref: r.ref(s), Add: lang.Expr{Const: r.add()}})
	}
}

func (r *renderer) ofMessage(s Stmt) lang.Stmt {
	if s.Kind == Tell {
		return lang.Tell{Host: threadNames[s.To : s.To+1], Msg: message}
	}
	return lang.Hear{Msg: message}
}

func (r *renderer) ref(s Stmt) lang.Ref { return lang.Ref{Name: "xy"[s.Loc : s.Loc+1]} }

func (r *renderer) value() uint64 {
	r.values++
	return r.values
}

func (r *renderer) add() uint64 {
	r.adds++
	return 100 << (r.adds - 1)
}
