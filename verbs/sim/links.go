package sim

import (
	"fmt"
	"slices"

	"github.com/verbatim-rdma/verbatim/host"
)

// Calls on links that are cut and heal.

// calls notes that t is about to call service i, and whether the link is cut.
func (t *task) calls(i int) {
	w := t.w
	t.svc = slices.Index(w.places, w.cfg.Services[i].Host)
	w.touch(link(t.h.node.idx, t.svc), Read)
	t.heldUp = w.linkCut(t.h.node.idx, t.svc)
}

// carryOut performs the step in which the running task's call reaches service i.
func (w *World) carryOut(h *Host, i int, req []byte) ([]byte, error) {
	t, s := w.cur, &w.cfg.Services[i]
	w.touch(link(h.node.idx, t.svc), Read)
	cut := w.linkCut(h.node.idx, t.svc)
	heldUp := t.heldUp
	t.heldUp = false
	if cut && (heldUp || w.choose(ChooseMessage, 2, func(i int) string { return cutOffNames[i] }) == 0) {
		return nil, w.cutOff(h, s)
	}
	m := Write
	if s.ReadOnly != nil && s.ReadOnly(req) {
		m = Read
	}
	w.touch(object(objSvc, 0, i), m)
	resp := s.Apply(h.Name(), req)
	if w.tracer != nil {
		w.trace(h, "service", "calls %s of %s", s.Name, s.Host)
	}
	t.reach()
	if cut {
		return nil, w.cutOff(h, s)
	}
	t.obs.main = t.obs.main.Bytes(resp)
	return resp, nil
}

// cutOff returns the error for a caller whose link to a service is cut.
func (w *World) cutOff(h *Host, s *Service) error {
	w.cur.obs.seeUint(3)
	w.cur.looked = true
	if w.tracer != nil {
		w.trace(h, "unreachable", "gets no answer from %s", s.Host)
	}
	return unreachable(s)
}

func unreachable(s *Service) error {
	return fmt.Errorf("call %s/%s: %w", s.Host, s.Name, host.ErrUnreachable)
}

// goesOut notes that the link from host a to place b heals: requests that tasks of a are
// about to send to services there leave now.
func (w *World) goesOut(a, b int) {
	for _, t := range w.tasks {
		if t.alive && t.h.node.idx == a && t.svc == b {
			t.heldUp = false
		}
	}
}

// holdUp decides which requests and answers in flight between two hosts get through
// although the link is cut now. The others wait for it to heal.
func (w *World) holdUp(a, b int) {
	w.loseAnswers(a, w.places[b]) // a call of a service is one step, so it has arrived or not
	if b >= len(w.nodes) {
		return
	}
	w.loseAnswers(b, w.places[a])
	come := func(r *request, what string) bool {
		return w.choose(ChooseMessage, 2, func(i int) string { return what + " of " + r.name() + [...]string{" comes through", " is held up"}[i] }) == 0
	}
	for _, ends := range [2][2]int{{a, b}, {b, a}} {
		for _, m := range w.nodes[ends[0]].all {
			for _, r := range m.mail {
				if r.from.node.idx == ends[1] && !r.cut {
					r.cut = !come(r, "the request")
				}
			}
			for _, g := range m.gaths {
				for i, r := range g.reqs {
					if m.alive && r.to != nil && r.to.node.idx == ends[1] && g.out[i].Pending() && r.replied && !r.repCut {
						r.repCut = !come(r, "the answer")
					}
				}
			}
		}
	}
}

// goThrough sends the messages that the cut link between two hosts held up. Another cut
// may or may not hold them up again.
func (w *World) goThrough(a, b int) {
	if b >= len(w.nodes) {
		return // a place of services
	}
	for _, ends := range [2][2]int{{a, b}, {b, a}} {
		for _, m := range w.nodes[ends[0]].all {
			for _, r := range m.mail {
				r.cut = r.cut && r.from.node.idx != ends[1]
			}
			for _, g := range m.gaths {
				for _, r := range g.reqs {
					r.repCut = r.repCut && r.to.node.idx != ends[1]
				}
			}
		}
	}
}

// loseMail decides which requests of a host that dies get through: any that the receivers have
// not taken may be lost. They are decided in the order of the calls, which names no host.
func (w *World) loseMail(h *Host) {
	for _, g := range h.gaths {
		for _, r := range g.reqs {
			if r.to == nil || !r.to.alive || !slices.Contains(r.to.mail, r) {
				continue
			}
			w.touch(object(objMail, r.to.node.idx, 0), Write)
			if w.choose(ChooseMessage, 2, func(i int) string { return "the request of " + r.name() + [...]string{" comes through", " is lost"}[i] }) == 1 {
				r.to.mail = slices.DeleteFunc(r.to.mail, func(x *request) bool { return x == r })
			}
		}
	}
}

// loseAnswers decides which answers of services at a place are lost because the link is
// cut now: those that a Gather of host a has not observed yet.
func (w *World) loseAnswers(a int, place string) {
	for _, m := range w.nodes[a].all {
		for _, g := range m.gaths {
			for i, r := range g.reqs {
				if m.alive && r.svc != nil && r.svc.Host == place && r.replied && r.err == nil && g.out[i].Pending() &&
					w.choose(ChooseMessage, 2, func(i int) string { return r.service + [...]string{" answers", " is not heard"}[i] }) == 1 {
					r.answer, r.err = nil, unreachable(r.svc)
					r.ansHash = print{}.Bool(true)
				}
			}
		}
	}
}
