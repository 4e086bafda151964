package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
)

// gather is a set of calls in progress.
type gather struct {
	h    *Host
	ord  int
	reqs []*request
	out  []host.Answer
	// known holds what was observed of each call that is no longer pending, and by which tasks.
	known []known
	// shared is set if code holds the gather, so that several tasks may wait for it.
	shared bool
	// deadline counts from the start of the calls, and is the same for each Wait.
	timed    bool
	deadline time.Duration
	span     time.Duration
	began    int  // the step at which the calls started
	aged     bool // the timer is in the zones of free and skew
	waiting  int  // tasks whose waits for its timer are armed
}

type known struct {
	tag int // the interchangeable host that it is about, or -1
	v   print
	by  []*task // the tasks that have observed it
}

// Call implements host.Host. A call to an atomic service is one step unless its timer can fire before the answer.
func (h *Host) Call(to, service string, req []byte, timeout time.Duration) ([]byte, error) {
	if s := h.w.service(to, service); s >= 0 && !h.timesOut(s, timeout) {
		return h.w.callService(h, s, req)
	}
	g := h.gather([]host.Call{{To: to, Service: service, Body: req}}, timeout)
	a := g.Wait(1)[0]
	if a.Pending() {
		return nil, fmt.Errorf("call %s/%s: %w", to, service, host.ErrTimeout)
	}
	return a.Body, a.Err
}

// timesOut reports whether a service call may time out. It counts the calls that could
// time out on a real host but not here.
func (h *Host) timesOut(service int, timeout time.Duration) bool {
	if timeout < 0 || !h.w.timersStrike() {
		return false
	}
	slow := h.w.cfg.Services[service].Slow
	if !slow {
		h.w.stats.InTime++
	}
	return slow
}

// timersStrike reports whether a timer can fire while another event is possible.
func (w *World) timersStrike() bool {
	return w.cfg.Timers.Regime != faults.Idle || slices.ContainsFunc(w.cfg.Budget, func(r faults.Rule) bool { return r.Kind == faults.Timeout })
}

// Gather implements host.Host.
func (h *Host) Gather(calls []host.Call, timeout time.Duration) host.Gather {
	g := h.gather(calls, timeout)
	g.shared = true
	return g
}

func (h *Host) gather(calls []host.Call, timeout time.Duration) *gather {
	w := h.w
	w.guard()
	if w.dying() {
		panic(killed{}) // a dead host calls nobody
	}
	w.cur.drain()
	if !w.preparing && !w.dying() {
		w.cur.pauseDirty() // the task may have changed which host answers to a name
	}
	g := &gather{h: h, ord: len(h.gaths), timed: timeout >= 0, deadline: h.after(timeout), span: timeout, began: w.steps}
	h.gaths = append(h.gaths, g)
	w.cur.makes(madeGather, g.ord)
	g.out = make([]host.Answer, len(calls))
	g.known = make([]known, len(calls))
	g.reqs = make([]*request, len(calls))
	for i, c := range calls {
		r := w.pools.reqs.get()
		*r = request{g: g, idx: i, from: h, service: c.Service, body: append(r.body[:0], c.Body...)}
		g.reqs[i] = r
		for _, d := range calls[:i] {
			r.nth += boolInt(d.To == c.To)
		}
		if s := w.service(c.To, c.Service); s >= 0 {
			w.ask(r, s)
		} else {
			w.send(r, c.To)
		}
	}
	w.cur.reach()
	g.age()
	return g
}

// ready reports whether Wait(need) can return.
func (g *gather) ready(need int) bool {
	have, can, open := 0, 0, 0
	for i, r := range g.reqs {
		switch {
		case !g.out[i].Pending():
			if g.out[i].Err == nil {
				have++
			}
		case r.canAnswer():
			if r.err == nil {
				can++
			}
		case !r.canFail():
			open++
		}
	}
	return have+can >= need || open == 0
}

// Wait implements host.Gather. Which answers have arrived is a choice among sets: their
// order is not observable, so it is not explored. By the time that the task continues,
// more answers than needed may have arrived, and failures too.
func (g *gather) Wait(need int) []host.Answer {
	w := g.h.w
	w.guard()
	t := w.cur
	timely := t.wait(op{kind: opGather, gather: g, need: need, timed: g.timed, span: g.span, deadline: g.deadline})
	if !timely {
		t.obs.seeUint(2)
	}
	w.touch(object(objReply, g.h.node.idx, g.ord), Write)
	for _, r := range g.reqs {
		if r.to != nil {
			r.to.touchLife()
		}
	}
	n, sets := len(g.reqs), g.sets(need, timely)
	at := func(i int) []fate { return sets[i*n : i*n+n] }
	s := at(w.choose(ChooseMessage, len(sets)/max(n, 1), func(i int) string { return g.setName(at(i)) }))
	t.obs.seeAll(n, func(i int) (int, print, bool) {
		k := &g.known[i]
		switch {
		case !g.out[i].Pending():
			if slices.Contains(k.by, t) {
				return -1, print{}, false
			}
		case s[i] != awaited:
			k.tag, k.v = g.resolve(i, s[i] == failed)
		default:
			return -1, print{}, false
		}
		k.by = append(k.by, t)
		return k.tag, k.v, true
	})
	for i, r := range g.reqs {
		if !timely && g.out[i].Pending() {
			g.known[i] = known{-1, print{}.Int(r.place()).Int(4), []*task{t}}
			g.out[i].Err = fmt.Errorf("call %s/%s: %w", r.toName(), r.service, host.ErrTimeout)
		}
	}
	if !slices.ContainsFunc(g.out, func(a host.Answer) bool { return a.Pending() }) {
		g.forget()
	}
	return g.out
}

// fate is the result that a Wait finds for one call.
type fate uint8

// sets lists, one after the other, the fates of all calls with which Wait(need) can
// return. The sets without more answers than needed come first: a run without surprises
// takes them. After the deadline, Wait returns with whatever has arrived.
func (g *gather) sets(need int, timely bool) []fate {
	w, n := g.h.w, len(g.reqs)
	// can counts the calls from i on that have succeeded or may; open counts those that must be awaited.
	can, open := make([]int, n+1), make([]int, n+1)
	for i := n - 1; i >= 0; i-- {
		r := g.reqs[i]
		known := !g.out[i].Pending()
		can[i] = can[i+1] + boolInt(known && g.out[i].Err == nil || !known && r.canAnswer() && r.err == nil)
		open[i] = open[i+1] + boolInt(!known && !r.canAnswer() && !r.canFail())
	}
	w.fates = w.fates[:0]
	cur := make([]fate, n)
	var rec func(i, succ, pend, fails int, more bool)
	rec = func(i, succ, pend, fails int, more bool) {
		switch {
		case timely && succ+can[i] < need && pend+open[i] > 0 || w.fail != nil:
			return
		case i == n:
			few := succ == need && fails == 0 || succ < need && (pend == 0 || !timely && succ+fails == 0) || succ > need && fails+pend == 0
			if few != more {
				w.bound("sets of answers to a Gather", len(w.fates), maxSets*max(n, 1))
				w.fates = append(w.fates, cur...)
			}
			return
		}
		r := g.reqs[i]
		if a := &g.out[i]; !a.Pending() {
			cur[i] = awaited
			rec(i+1, succ+boolInt(a.Err == nil), pend, fails, more)
			return
		}
		if r.canAnswer() {
			cur[i] = answered
			rec(i+1, succ+boolInt(r.err == nil), pend, fails+boolInt(r.err != nil), more)
		}
		if r.canFail() {
			cur[i] = failed
			rec(i+1, succ, pend, fails+1, more)
		}
		cur[i] = awaited
		rec(i+1, succ, pend+1, fails, more)
	}
	rec(0, 0, 0, 0, false)
	rec(0, 0, 0, 0, true)
	return w.fates
}

func (g *gather) setName(s []fate) string {
	out := ""
	for i, r := range g.reqs {
		if s[i] == awaited || !g.out[i].Pending() {
			continue
		}
		if out != "" {
			out += ", "
		}
		out += r.toName()
		if s[i] == failed {
			out += " fails"
		}
	}
	if out == "" {
		return "none"
	}
	return out
}

// resolve finishes call i and returns what the task observes of it.
func (g *gather) resolve(i int, failed bool) (tag int, v print) {
	r, a := g.reqs[i], &g.out[i]
	w := g.h.w
	tag = -1
	if r.to != nil {
		tag = r.to.node.sym
	}
	if failed {
		w.cur.looked = true // the link may heal before the next operation of the task
		a.Err = fmt.Errorf("call %s/%s: %w", r.toName(), r.service, host.ErrUnreachable)
		if r.to != nil && (r.cut || !r.to.alive) { // a request that got past a cut can be taken even now
			w.touch(object(objMail, r.to.node.idx, 0), Write)
			r.to.dropMail(r)
			g.h.acted = true // it cannot arrive any more
		}
		if w.tracer != nil {
			w.traceFrom(g.h, g.h, "unreachable", "gets no answer from %s", r.toName())
		}
		return tag, print{}.Int(r.place()).Int(3)
	}
	a.Body, a.Err = r.answer, r.err
	if a.Err == nil && a.Body == nil {
		a.Body = []byte{}
	}
	if w.tracer != nil {
		w.traceCall(r, r.to, g.h, "answered", "has the answer of %s%s", r.toName(), errSuffix(r.err))
	}
	return tag, print{}.Int(r.place()).Print(r.ansHash)
}
