package sim

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
)

// request is a control-plane request, from its sending until its answer was seen.
type request struct {
	g       *gather
	idx     int // in the gather
	from    *Host
	to      *Host // the life it was sent to; nil if the host was down
	service string
	body    []byte
	nth     int // how many calls of the gather before it go to the same host
	hash    print
	cut     bool // sent while the link was cut: it waits for the link to heal
	taken   bool // the server has it
	replied bool
	repCut  bool // the answer waits for the link to heal
	answer  []byte
	ansHash print
	lost    bool     // nobody answered to the name when it was sent
	svc     *Service // it goes to an atomic service, and a task carries it out
	err     error
}

// deliverable reports whether the server can receive r now.
func (r *request) deliverable() bool {
	return !r.taken && (!r.cut || !r.from.w.linkCut(r.from.node.idx, r.to.node.idx))
}

// listener is a service of a host.
type listener struct {
	h       *Host
	ord     int
	service string
	closed  bool
}

// Listen implements host.Host.
func (h *Host) Listen(service string) (host.Listener, error) {
	h.w.guard()
	if h.live > 1 && !h.w.preparing && !h.w.dying() {
		h.w.cur.pause() // another task may be quicker
	}
	for _, l := range h.lis {
		if l.service == service && !l.closed {
			h.w.cur.obs.seeUint(1)
			return nil, fmt.Errorf("sim: %s already listens to %q", h.Name(), service)
		}
	}
	l := &listener{h: h, ord: len(h.lis), service: service}
	h.lis = append(h.lis, l)
	h.made = h.made.Plus(print{}.Int(madeListener).Int(l.ord).String(service))
	return l, nil
}

func (n *node) hasMail(l *listener) bool {
	for _, r := range l.h.mail {
		if r.service == l.service && r.deliverable() {
			return true
		}
	}
	return false
}

// Accept implements host.Listener: any request that can have arrived may come next.
func (l *listener) Accept(timeout time.Duration) (host.Request, error) {
	w, h := l.h.w, l.h
	w.guard()
	t := w.cur
	if !t.wait(h.within(op{kind: opAccept, lis: l}, timeout)) {
		t.obs.seeUint(1)
		return nil, fmt.Errorf("accept %s: %w", l.service, host.ErrTimeout)
	}
	w.touch(object(objMail, h.node.idx, 0), Write)
	if l.closed {
		return nil, fmt.Errorf("accept %s: %w", l.service, host.ErrClosed)
	}
	var can [16]*request
	c := can[:0]
	for _, r := range h.mail {
		if r.service == l.service && r.deliverable() {
			c = append(c, r)
		}
	}
	r := c[w.choose(ChooseMessage, len(c), func(i int) string { return c[i].name() })]
	r.taken = true
	h.dropMail(r)
	h.acted = true // whoever called can tell a host that crashes now from one that has not: see serving
	t.obs.see(r.from.node.sym, r.heard())
	if w.tracer != nil {
		w.traceCall(r, r.from, h, "request", "receives %s from %s", r.service, r.from.Name())
	}
	return r, nil
}

// name is stable over edits: who asked, and for what.
func (r *request) name() string {
	return r.from.Name() + "." + strconv.Itoa(r.from.life) + " " + r.service + " " + strconv.Itoa(r.g.ord)
}

func (h *Host) dropMail(r *request) {
	for i, x := range h.mail {
		if x == r {
			h.mail = append(h.mail[:i], h.mail[i+1:]...)
			return
		}
	}
}

// Close implements host.Listener.
func (l *listener) Close() error {
	w := l.h.w
	w.guard()
	if !w.preparing && !w.dying() {
		w.cur.pauseDirty() // requests may have come and been taken
	}
	if !l.closed {
		l.closed = true
		l.h.makes(endedListener, l.ord, 0)
	}
	return nil
}

func (r *request) From() string { return r.from.Name() }
func (r *request) Body() []byte { return r.body }

func (r *request) Reply(body []byte) {
	if body == nil {
		body = []byte{}
	}
	r.end(body, nil)
}

func (r *request) Reject(reason string) {
	r.end(nil, &host.RemoteError{Host: r.to.Name(), Service: r.service, Reason: reason})
}

func (r *request) end(body []byte, err error) {
	w := r.to.w
	w.guard()
	if w.cur.co.kill {
		return
	}
	w.cur.drainShared() // another task may be quicker
	if r.replied {
		return
	}
	r.replied, r.answer, r.err = true, append(w.bytes(len(body))[:0], body...), err
	if body == nil {
		r.answer = nil
	}
	r.ansHash = r.answerPrint(w.cur)
	r.repCut = w.linkCut(r.from.node.idx, r.to.node.idx)
	w.touchLife(r.from.node.idx)
	w.touch(object(objReply, r.from.node.idx, r.g.ord), Add)
	w.cur.reach()
	if w.tracer != nil {
		w.traceCall(r, r.from, r.to, "answer", "answers %s of %s%s", r.service, r.from.Name(), errSuffix(err))
	}
}

// heard is what the server observes of r.
func (r *request) heard() print {
	p := r.id(tagMail).Print(r.hash)
	if r.from.node.sym < 0 {
		p = p.Int(r.from.node.idx)
	}
	return p
}

// answerPrint is the print of the answer that t gives.
func (r *request) answerPrint(t *task) print {
	p := print{}.Bool(r.err != nil)
	if self := r.to.node.sym; self >= 0 {
		return p.Print(t.obs.told(self, r.from.node.sym))
	}
	if r.err != nil {
		return p.String(r.err.Error())
	}
	return p.Bytes(r.answer)
}

func errSuffix(err error) string {
	if err == nil {
		return ""
	}
	return ": " + err.Error()
}

// gather is a set of calls under way.
type gather struct {
	h    *Host
	ord  int
	reqs []*request
	out  []host.Answer
	// deadline counts from the start of the calls, for each Wait alike.
	timed    bool
	deadline time.Duration
	span     time.Duration
	began    int // the step of the start
}

// Call implements host.Host. A call to an atomic service is one step.
func (h *Host) Call(to, service string, req []byte, timeout time.Duration) ([]byte, error) {
	if s := h.w.service(to, service); s >= 0 {
		return h.w.callService(h, s, req)
	}
	g := h.gather([]host.Call{{To: to, Service: service, Body: req}}, timeout)
	a := g.Wait(1)[0]
	if a.Pending() {
		return nil, fmt.Errorf("call %s/%s: %w", to, service, host.ErrTimeout)
	}
	return a.Body, a.Err
}

// Gather implements host.Host.
func (h *Host) Gather(calls []host.Call, timeout time.Duration) host.Gather {
	return h.gather(calls, timeout)
}

func (h *Host) gather(calls []host.Call, timeout time.Duration) *gather {
	w := h.w
	w.guard()
	if w.dying() {
		panic(killed{}) // the dead call nobody
	}
	w.cur.drain()
	if !w.preparing && !w.dying() {
		w.cur.pauseCall() // who answers to a name may have changed because of what the task did before
	}
	g := &gather{h: h, ord: len(h.gaths), timed: timeout >= 0, deadline: h.after(timeout), span: timeout, began: w.steps}
	h.gaths = append(h.gaths, g)
	g.out = make([]host.Answer, len(calls))
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
	return g
}

// send puts r on its way.
//
// What is under way when the link is cut comes through or is held up (holdUp); what is
// sent after that waits for the link to heal. A caller can give up on both.
//
// The fingerprint of one to an interchangeable host says from which state of the sender
// it came rather than what it contains: see told.
func (w *World) send(r *request, to string) {
	n := w.node(to)
	if n == nil {
		r.replied, r.err = true, fmt.Errorf("call %s: %w: no host of that name", to, host.ErrUnreachable)
		return
	}
	r.hash = print{}.String(r.service)
	if n.sym < 0 {
		r.hash = r.hash.Bytes(r.body)
	} else {
		r.hash = r.hash.Print(w.cur.obs.told(r.from.node.sym, n.sym))
	}
	w.touchLife(n.idx)
	r.to = n.cur
	if !n.up {
		r.to, r.lost = nil, true
		if len(n.all) > 0 {
			r.to = n.all[len(n.all)-1]
		}
		r.cut = true
		if w.tracer != nil {
			w.traceFrom(r.from, r.from, "call", "calls %s of %s, which is down", r.service, to)
		}
		return
	}
	r.cut = w.linkCut(r.from.node.idx, n.idx)
	n.cur.mail = append(n.cur.mail, r)
	w.touch(object(objMail, n.idx, 0), Add)
	if w.tracer != nil {
		w.traceFrom(r.to, r.from, "call", "calls %s of %s", r.service, to)
	}
}

// canAnswer and canFail say how a call that is under way may end now.
func (r *request) canAnswer() bool {
	return r.replied && (!r.repCut || !r.from.w.linkCut(r.from.node.idx, r.to.node.idx))
}

func (r *request) canFail() bool {
	if r.svc != nil {
		return false // that it fails is an answer
	}
	if r.to == nil || r.lost {
		return !r.replied
	}
	return !r.to.alive || r.from.w.linkCut(r.from.node.idx, r.to.node.idx)
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

// Wait implements host.Gather. Which answers have come is a choice of a set: the
// order in which they came is not observable, so it is not explored. More may have come
// than were needed by the time that the task goes on, and failures with them.
func (g *gather) Wait(need int) []host.Answer {
	w := g.h.w
	w.guard()
	t := w.cur
	timely := t.wait(g.within(op{kind: opGather, gather: g, need: need}))
	if !timely {
		t.obs.seeUint(2)
	}
	w.touch(object(objReply, g.h.node.idx, g.ord), Write)
	for _, r := range g.reqs {
		if r.to != nil {
			w.touchLife(r.to.node.idx)
		}
	}
	n, sets := len(g.reqs), g.sets(need, timely)
	at := func(i int) []fate { return sets[i*n : i*n+n] }
	s := at(w.choose(ChooseMessage, len(sets)/max(n, 1), func(i int) string { return g.setName(at(i)) }))
	t.obs.seeAll(n, func(i int) (int, print, bool) {
		if s[i] != awaited && g.out[i].Pending() {
			tag, v := g.resolve(i, s[i] == failed)
			return tag, v, true
		}
		return -1, print{}, false
	})
	for i, r := range g.reqs {
		if !timely && g.out[i].Pending() {
			g.out[i].Err = fmt.Errorf("call %s/%s: %w", r.toName(), r.service, host.ErrTimeout)
		}
	}
	return g.out
}

// fate is what a Wait finds of one call.
type fate uint8

const (
	awaited  fate = iota // or known before
	answered             // its answer has come
	failed
)

// maxSets bounds among how many sets of answers one Wait can choose.
const maxSets = 1 << 16

// sets lists the fates of all calls with which Wait(need) can return, one after the other:
// first those without more answers than needed, which a run without surprises meets. Once
// it is too late it returns with whatever has come.
func (g *gather) sets(need int, timely bool) []fate {
	w, n := g.h.w, len(g.reqs)
	// can is how many of the calls from i on have succeeded or may, open how many must be awaited.
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

func (r *request) toName() string {
	if r.svc != nil {
		return r.svc.Host
	}
	if r.to == nil {
		return "nobody"
	}
	return r.to.Name()
}

// resolve ends call i and returns what was observed of it.
func (g *gather) resolve(i int, failed bool) (tag int, v print) {
	r, a := g.reqs[i], &g.out[i]
	w := g.h.w
	tag = -1
	if r.to != nil {
		tag = r.to.node.sym
	}
	if failed {
		a.Err = fmt.Errorf("call %s/%s: %w", r.toName(), r.service, host.ErrUnreachable)
		if r.to != nil && (r.cut || !r.to.alive) { // what came through a cut may be taken even now
			w.touch(object(objMail, r.to.node.idx, 0), Write)
			r.to.dropMail(r)
			g.h.acted = true // it cannot come any more
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

func (w *World) node(name string) *node {
	for _, n := range w.nodes {
		if n.spec.Name == name {
			return n
		}
	}
	return nil
}

func (w *World) service(to, name string) int {
	for i := range w.cfg.Services {
		if s := &w.cfg.Services[i]; s.Host == to && s.Name == name {
			return i
		}
	}
	return -1
}

// callService makes one call of an atomic service: a step of its own. If the link is cut
// meanwhile the service has carried the call out or not; if it was cut before, it has not.
func (w *World) callService(h *Host, i int, req []byte) ([]byte, error) {
	w.guard()
	w.cur.heldUp = w.heldUp(h, i)
	w.cur.wait(op{kind: opRun})
	return w.carryOut(h, i, req)
}

// ask makes one call of a Gather to an atomic service: a task of its own makes it, at any
// time from now on. So it is carried out before a Wait returns its answer, or after a Wait
// gave it up, or never because the caller died or the link is cut, as a call by Call.
func (w *World) ask(r *request, i int) {
	r.svc = &w.cfg.Services[i]
	h, from := r.from, w.cur
	t := w.spawn(h, "call", func() {
		body, err := w.carryOut(h, i, r.body)
		if r.replied, r.err = true, err; err == nil {
			r.answer = append(w.bytes(len(body))[:0], body...)
		}
		if r.ansHash = (print{}).Bool(err != nil); err == nil {
			r.ansHash = r.ansHash.Bytes(body)
		}
		w.touch(object(objReply, h.node.idx, r.g.ord), Add)
	})
	t.obs = from.obs
	t.obs.seeUint(uint64(t.ord))
	t.heldUp = w.heldUp(h, i)
	w.touch(object(objSpawn, h.node.idx, 0), Add)
}

// heldUp reports whether the link of h to service i is cut.
func (w *World) heldUp(h *Host, i int) bool {
	at := slices.Index(w.places, w.cfg.Services[i].Host)
	w.touch(link(h.node.idx, at), Read)
	return w.linkCut(h.node.idx, at)
}

// carryOut is the step in which the running task's call reaches service i.
func (w *World) carryOut(h *Host, i int, req []byte) ([]byte, error) {
	t, s := w.cur, &w.cfg.Services[i]
	at := slices.Index(w.places, s.Host)
	w.touch(link(h.node.idx, at), Read)
	cut := w.linkCut(h.node.idx, at)
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

var cutOffNames = [...]string{"the call does not come through", "the answer does not come through"}

// cutOff is what a caller gets whose link to a service is cut.
func (w *World) cutOff(h *Host, s *Service) error {
	w.cur.obs.seeUint(3)
	if w.tracer != nil {
		w.trace(h, "unreachable", "gets no answer from %s", s.Host)
	}
	return unreachable(s)
}

func unreachable(s *Service) error {
	return fmt.Errorf("call %s/%s: %w", s.Host, s.Name, host.ErrUnreachable)
}

// goesOut notes that a link of host a heals: what its tasks are about to ask of services
// goes out now.
func (w *World) goesOut(a int) {
	for _, t := range w.tasks {
		if t.alive && t.h.node.idx == a {
			t.heldUp = false
		}
	}
}

// holdUp decides which of the requests and answers that are under way between two hosts
// come through although the link is cut now. The others wait for it to heal.
func (w *World) holdUp(a, b int) {
	if b >= len(w.nodes) {
		w.loseAnswers(a, w.places[b]) // the calls of services are one step, and have come or not
		return
	}
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

// goThrough sends what the link between two hosts held up: another cut may hold it up anew, or
// not.
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

// loseAnswers decides which answers of services at a place, that a Gather of host a has not
// seen yet, are lost since the link is cut now.
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

func itoa(i int) string { return strconv.Itoa(i) }
