package litmus

import (
	"slices"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/litmus/lang"
)

// resolveThreads compiles the threads in the order of the file, those that run after a
// restart last.
func (r *resolver) resolveThreads() {
	for i := range r.t.Threads {
		s := &r.t.Threads[i]
		h := r.host(s.Host, s.Pos)
		for _, t := range r.threads {
			if t.spec.Name == s.Name {
				fail(s.Pos, "write thread "+s.Name+"2 on "+s.Host, "there are two threads called %s", s.Name)
			}
		}
		if j := slices.Index(r.t.Hosts, s.Name); j >= 0 && r.hosts[j] != h {
			fail(s.Pos, "", "thread %s has the name of another host", s.Name)
		}
		t := &threadProg{idx: i, spec: s, host: h, regs: map[string]*regProg{}, ready: map[*qpProg]bool{}}
		r.threads, h.threads = append(r.threads, t), append(h.threads, t)
		h.again = h.again || s.Recover
	}
	for _, t := range r.threads {
		r.cur = t
		walk(t.spec.Body, r.connectors)
	}
	for _, again := range []bool{false, true} {
		for _, t := range r.threads {
			if r.cur = t; t.spec.Recover != again {
				continue
			}
			for _, s := range t.spec.Body {
				t.steps = append(t.steps, step{s.At().Line, lang.StmtText(s), r.statement(s)})
			}
		}
	}
	r.cur = nil
	for _, t := range r.threads {
		walk(t.spec.Body, func(s lang.Stmt) {
			if h, ok := s.(lang.Hear); ok {
				r.checkTold(h, t)
			}
		})
	}
}

// walk calls f for each statement, including nested ones.
func walk(body []lang.Stmt, f func(lang.Stmt)) {
	for _, s := range body {
		f(s)
		switch s := s.(type) {
		case lang.If:
			walk([]lang.Stmt{s.Then}, f)
		case lang.Maybe:
			walk([]lang.Stmt{s.Then}, f)
		}
	}
}

// connectors records which thread connects which queue pair, which hosts receive which
// message, and which hosts statements can end.
func (r *resolver) connectors(s lang.Stmt) {
	t := r.cur
	switch s := s.(type) {
	case lang.Connect:
		q := r.qp(s.QP, t.host, s.Pos)
		e := &q.ends[q.end(t.host)]
		if e.connector != nil && e.connector != t && e.connector.spec.Recover == t.spec.Recover {
			fail(s.Pos, "", "two threads of %s connect %s", t.host.name, q.name)
		}
		e.connector = t
		listens(q.ends[1].host, q.service)
	case lang.Hear:
		if h, ok := r.msgs[s.Msg]; ok && h != t.host.idx {
			fail(s.Pos, "", "the message %s is heard on %s too: a message is heard on one host", s.Msg, r.hosts[h].name)
		}
		r.msgs[s.Msg] = t.host.idx
		listens(t.host, s.Msg)
	case lang.Fault:
		for _, name := range s.Hosts {
			h := r.host(name, s.Pos)
			h.mortal = h.mortal || ends(s.Kind)
		}
	case lang.Heal:
		r.host(s.A, s.Pos)
		r.host(s.B, s.Pos)
	}
}

func listens(h *hostProg, service string) {
	if !slices.Contains(h.listens, service) {
		h.listens = append(h.listens, service)
	}
}

// ends reports whether a fault of kind k ends its host.
func ends(k faults.Kind) bool { return k == faults.Crash || k == faults.Power }

// checkTold fails for a message that is never sent.
func (r *resolver) checkTold(s lang.Hear, at *threadProg) {
	told := false
	for _, t := range r.threads {
		walk(t.spec.Body, func(x lang.Stmt) {
			if y, ok := x.(lang.Tell); ok && y.Msg == s.Msg {
				told = true
			}
		})
	}
	if !told {
		fail(s.Pos, "", "no thread tells %s the message %s", at.host.name, s.Msg)
	}
}

// resolveOutcomes compiles the questions.
func (r *resolver) resolveOutcomes() {
	for i := range r.t.Outcomes {
		o := &r.t.Outcomes[i]
		for j := range i {
			if o.Name != "" && r.t.Outcomes[j].Name == o.Name {
				fail(o.Pos, "", "there are two outcomes called %s", o.Name)
			}
		}
		if len(o.Verdicts) == 0 {
			fail(o.Pos, "add a line such as `* N`", "the outcome has no verdict")
		}
		r.conds = append(r.conds, r.condition(o.Cond, true))
	}
	for _, t := range r.t.Show {
		if g := r.getter(t, true); g.lit || g.name != "" {
			fail(t.Pos, "", "`show` is about registers and memory")
		}
	}
}

// resolveFaults records which hosts the budget can end.
func (r *resolver) resolveFaults() {
	b, _ := faults.ParseBudget(r.t.Faults)
	if err := b.Validate(r.t.Hosts); err != nil {
		fail(lang.Pos{}, "", "%v", err)
	}
	for _, h := range r.hosts {
		for _, rule := range b {
			h.mortal = h.mortal || ends(rule.Kind) && rule.Max > 0 && rule.Matches(h.name)
		}
	}
}
