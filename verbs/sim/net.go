package sim

import (
	"fmt"
	"strconv"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
)

// request is a control-plane request, from the call until its answer has been observed.
type request struct {
	g       *gather
	idx     int // in the gather
	from    *Host
	to      *Host // the life to which it was sent; nil if the host was down
	service string
	body    []byte
	nth     int // how many earlier calls of the gather go to the same host
	hash    print
	cut     bool // sent while the link was cut; it waits for the heal
	taken   bool // the server has received it
	replied bool
	repCut  bool // the answer waits for a heal of the link
	answer  []byte
	ansHash print
	lost    bool     // no host was up under the name when it was sent
	svc     *Service // set if it goes to an atomic service; a task carries it out
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
	switch {
	case h.w.preparing || h.w.dying():
	case h.live > 1:
		h.w.cur.pause() // another task may have listened first
	default:
		h.w.cur.passes()
	}
	for _, l := range h.lis {
		if l.service == service && !l.closed {
			h.w.cur.obs.seeUint(1)
			return nil, fmt.Errorf("sim: %s already listens to %q", h.Name(), service)
		}
	}
	l := &listener{h: h, ord: len(h.lis), service: service}
	h.lis = append(h.lis, l)
	h.numbers(madeListener, l.ord)
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

// Accept implements host.Listener. Any request that may have arrived may come next.
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
	h.acted = true // the caller can distinguish a host that crashes now from one that does not: see serving
	t.obs.see(r.from.node.sym, r.heard())
	if w.tracer != nil {
		w.traceCall(r, r.from, h, "request", "receives %s from %s", r.service, r.from.Name())
	}
	return r, nil
}

// name returns a name that is stable over edits: caller, service and call.
func (r *request) name() string {
	return r.from.Name() + "." + strconv.Itoa(r.from.life) + " to " + r.toName() + " " + r.service + " " + strconv.Itoa(r.g.ord)
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
		w.cur.pauseDirty() // requests may have arrived and been taken
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
	w.cur.seam()
	w.cur.drainShared() // another task may have answered first
	if r.replied {
		return
	}
	r.replied, r.answer, r.err = true, append(w.bytes(len(body))[:0], body...), err
	if body == nil {
		r.answer = nil
	}
	r.ansHash = r.answerPrint(w.cur)
	r.repCut = w.linkCut(r.from.node.idx, r.to.node.idx)
	r.from.touchLife()
	w.touch(object(objReply, r.from.node.idx, r.g.ord), Add)
	w.cur.reach()
	if w.tracer != nil {
		w.traceCall(r, r.from, r.to, "answer", "answers %s of %s%s", r.service, r.from.Name(), errSuffix(err))
	}
}

// heard returns what the server observes of r.
func (r *request) heard() print {
	p := r.id(tagMail).Print(r.hash)
	if r.from.node.sym < 0 {
		p = p.Int(r.from.node.idx)
	}
	return p
}

// answerPrint returns the print of the answer that t gives.
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

// send sends r.
//
// A message in flight when the link is cut gets through or is held up (holdUp). A
// message sent after that waits for the heal. A caller can give up in both cases.
//
// The fingerprint of a request to an interchangeable host covers the state of its sender, not its content: see told.
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
	w.touch(n.current(), Read)
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

// canAnswer and canFail report how a pending call may finish now.
func (r *request) canAnswer() bool {
	return r.replied && (!r.repCut || !r.from.w.linkCut(r.from.node.idx, r.to.node.idx))
}

func (r *request) canFail() bool {
	if r.svc != nil {
		return false // a failure of a service is an answer
	}
	if r.to == nil || r.lost {
		return !r.replied
	}
	return !r.to.alive || r.from.w.linkCut(r.from.node.idx, r.to.node.idx)
}

const (
	awaited  fate = iota // or already known
	answered             // its answer has arrived
	failed
)

// maxSets bounds the number of sets of answers that one Wait can choose from.
const maxSets = 1 << 16

func (r *request) toName() string {
	if r.svc != nil {
		return r.svc.Host
	}
	if r.to == nil {
		return "nobody"
	}
	return r.to.Name()
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
// meanwhile, the service may have carried the call out; if the link was cut before, it has not.
func (w *World) callService(h *Host, i int, req []byte) ([]byte, error) {
	w.guard()
	w.cur.calls(i)
	w.cur.wait(op{kind: opRun})
	return w.carryOut(h, i, req)
}

// ask makes one call of a Gather to an atomic service: a task of its own carries it out at any
// later time. So it is carried out before a Wait returns its answer, or after a Wait gave it up,
// or never because the caller died or the link is cut. A call by Call has the same outcomes.
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
	t.calls(i)
	w.touch(object(objSpawn, h.node.idx, 0), Add)
}

var cutOffNames = [...]string{"the call does not come through", "the answer does not come through"}

func itoa(i int) string { return strconv.Itoa(i) }
