package litmus

import (
	"slices"

	"github.com/verbatim-rdma/verbatim/internal/mistake"
	"github.com/verbatim-rdma/verbatim/litmus/lang"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// control compiles statements that change queue pairs and registrations.
func (r *resolver) control(s lang.Stmt) func(*exec) bool {
	h := r.cur.host
	switch s := s.(type) {
	case lang.Modify:
		q := r.qp(s.QP, h, s.Pos)
		r.use(q, s.Pos)
		reg := r.set(s.Reg, kindPosted, 8, s.Pos)
		attr := verbs.QPAttr{SetState: true, State: s.State}
		if s.State == verbs.StateInit {
			attr.Mask, attr.Access = verbs.AttrPKey|verbs.AttrPort|verbs.AttrAccess, q.ends[q.end(h)].cfg.Access
		}
		if s.State == verbs.StateRTR {
			attr.Mask = verbs.AttrPath | verbs.AttrMTU | verbs.AttrDestQPN | verbs.AttrRQPSN | verbs.AttrMaxDestRdAtomic | verbs.AttrMinRNRTimer
		}
		if s.State == verbs.StateRTS && s.Access == nil {
			attr.Mask = verbs.AttrTimeout | verbs.AttrRetryCount | verbs.AttrRNRRetry | verbs.AttrSQPSN | verbs.AttrMaxRdAtomic
		}
		if s.Access != nil {
			attr = verbs.QPAttr{Mask: verbs.AttrAccess, Access: *s.Access}
		}
		what := lang.StmtText(s)
		return func(x *exec) bool {
			err := verbs.ErrClosed
			if qp := x.life.qp(q.idx); qp != nil {
				now := attr
				now.Access = grantable(x.h, attr.Access)
				err = qp.Modify(now)
			}
			return x.result(reg, what, err)
		}
	case lang.StateOf:
		q := r.qp(s.QP, h, s.Pos)
		r.use(q, s.Pos)
		reg := r.set(s.Reg, kindState, 8, s.Pos)
		return func(x *exec) bool {
			if qp := x.life.qp(q.idx); qp != nil {
				return x.set(reg, number64(uint64(qp.State())))
			}
			return x.set(reg, value{})
		}
	case lang.Destroy:
		q := r.qp(s.QP, h, s.Pos)
		r.use(q, s.Pos)
		return func(x *exec) bool {
			if qp := x.life.qp(q.idx); qp != nil {
				return x.result(nil, "destroy "+s.QP, qp.Destroy())
			}
			return true
		}
	case lang.Connect:
		q := r.qp(s.QP, h, s.Pos)
		peer := &q.ends[1-q.end(h)]
		if peer.connector == nil {
			fail(s.Pos, "", "no thread of %s connects %s too: both ends must", peer.host.name, q.name)
		}
		if s.SamePSN && q.ends[q.end(h)].cfg.PSN == 0 {
			fail(s.Pos, "declare it with qp ... psn=1", "the queue pair %s has no sequence number to reuse", q.name)
		}
		r.cur.ready[q] = true
		loop := r.loop(s.Pos, s)
		return func(x *exec) bool { return x.connect(q, s.SamePSN, loop) }
	case lang.Dereg:
		i := slices.IndexFunc(h.mrs, func(m *mrProg) bool { return m.name == s.Name })
		if i < 0 {
			if l := h.locs[s.Name]; l != nil {
				fail(s.Pos, "write dereg "+l.block.name, "%s is registered together with %s", s.Name, l.block.name)
			}
			var names []string
			for _, m := range h.mrs {
				names = append(names, m.name)
			}
			fail(s.Pos, mistake.Suggest(s.Name, names), "%s has no registration called %s", h.name, s.Name)
		}
		return func(x *exec) bool { return x.result(nil, "dereg "+s.Name, x.life.mrs[i].Dereg()) }
	}
	panic("litmus: unknown kind of statement")
}
