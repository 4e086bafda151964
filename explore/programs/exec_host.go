package programs

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// access calls f, which accesses memory that may have been freed or be unreadable.
func (t *task) access(f func()) {
	defer func() {
		switch x := recover().(type) {
		case nil:
		case error:
			if !errors.Is(x, host.ErrClosed) && !errors.Is(x, host.ErrMedia) {
				panic(x)
			}
			t.err(x)
		default:
			panic(x)
		}
	}()
	f()
}

// load loads the word at at, or the bytes of it that flags name.
func (t *task) load(r host.Region, at int, a *Act) {
	t.access(func() {
		if off, n := a.bytes(); n < 8 {
			b := make([]byte, 8)
			r.Load(at+off, b[:n])
			t.saw(number(b))
			return
		}
		t.saw(r.Load64(at))
	})
}

// store stores to the word at at, or to the bytes of it that flags name.
func (t *task) store(r host.Region, at int, a *Act) {
	t.access(func() {
		if off, n := a.bytes(); n < 8 {
			r.Store(at+off, bytesOf(a.spread(t.value(a.V)))[:n])
			return
		}
		r.Store64(at, t.value(a.V))
	})
}

func (t *task) loadWide(r host.Region, at int) {
	t.access(func() {
		var b [16]byte
		r.Load(at, b[:])
		t.last = number(b[8:])
		t.note(fmt.Sprint(number(b[:]), ",", t.last))
	})
}

// damage flips a bit of a cell of persistent memory, or makes it unreadable, now.
func (t *task) damage(a *Act, unreadable bool) {
	t.access(func() { t.m.h.(*sim.Host).Damage(t.m.pmem, pmemAt(a.At), 8, unreadable) })
}

func (t *task) storeWide(r host.Region, at int, v uint64) {
	t.access(func() { r.Store(at, append(bytesOf(v), bytesOf(v)...)) })
}

func (t *task) localSwap(a *Act) {
	t.access(func() {
		t.note(fmt.Sprint(t.m.mem.CompareAndSwap64(8*a.At, t.value(a.W), t.value(a.V))))
	})
}

func (t *task) localAdd(a *Act) {
	t.access(func() { t.saw(t.m.mem.Add64(8*a.At, t.value(a.V))) })
}

func (t *task) register() {
	_, err := t.m.pd.RegisterMR(t.m.mem, t.m.x.access())
	t.err(err)
}

func (t *task) free() {
	t.err(t.m.mr.Dereg())
	if !t.err(t.m.mem.Free()) {
		t.m.freed = true
	}
}

func (t *task) alloc() {
	r, err := t.m.h.Alloc(8)
	if t.err(err) {
		return
	}
	mr, err := t.m.pd.RegisterMR(r, t.m.x.access())
	if t.err(err) {
		return
	}
	r.Store64(0, 1)
	t.saw(r.Load64(0))
	t.err(mr.Dereg())
	t.err(r.Free())
}

func (t *task) spawn(a *Act) {
	path := fmt.Sprintf("%s.%d", t.path, a.id)
	links := slices.Clone(t.links)
	m, child := t.m, task{req: t.req, asked: t.asked, order: t.order}
	m.h.Go("t", func() { m.start(path, links, a.Body, child) })
}

func (t *task) lock() {
	if !t.holds {
		t.m.mu.Lock()
		t.holds = true
	}
}

func (t *task) unlock() {
	if t.holds {
		t.holds = false
		t.m.mu.Unlock()
	}
}

func (t *task) set(v int) {
	if t.holds {
		t.m.v = t.value(v)
	}
}

func (t *task) get() {
	if t.holds {
		t.saw(t.m.v)
	}
}

func (t *task) condWait() {
	if t.holds {
		t.m.cond.Wait()
	}
}

func (t *task) now() { t.note("at " + t.m.h.Now().String()) }

func (t *task) call(a *Act, timeout time.Duration) {
	if t.m.x.p.isGroup(a.To) {
		t.ask(a, timeout)
		t.gathered(len(t.order))
		return
	}
	names := t.peers(a)
	if len(names) == 0 {
		names = []string{a.To}
	}
	body, err := t.m.h.Call(names[0], "ask", bytesOf(t.value(a.V)), timeout)
	if !t.err(err) {
		t.saw(number(body))
	}
}

func (t *task) ask(a *Act, timeout time.Duration) {
	t.order = t.peers(a)
	var calls []host.Call
	for _, name := range t.order {
		calls = append(calls, host.Call{To: name, Service: "ask", Body: bytesOf(t.value(a.V))})
	}
	t.asked = t.m.h.Gather(calls, timeout)
}

// gathered waits for answers. It does not record which interchangeable host gave which.
func (t *task) gathered(need int) {
	if t.asked == nil {
		return
	}
	answers := t.asked.Wait(min(need, len(t.order)))
	out := make([]string, len(answers))
	for i := range answers {
		switch a := &answers[i]; {
		case a.Pending():
			out[i] = "-"
		case a.Err != nil:
			out[i] = errorName(a.Err)
		default:
			out[i] = fmt.Sprint(number(a.Body))
		}
	}
	if slices.ContainsFunc(t.m.x.p.Hosts, func(h Host) bool { return h.Copies > 0 }) {
		sort.Strings(out)
	}
	t.note(strings.Join(out, "+"))
}

func (t *task) accept(timeout time.Duration) {
	req, err := t.m.ask.Accept(timeout)
	if t.err(err) {
		return
	}
	t.req = req
	t.saw(number(req.Body()))
}

func (t *task) reply(a *Act) {
	if t.req != nil {
		t.req.Reply(bytesOf(t.value(a.V)))
	}
}

func (t *task) reject() {
	if t.req != nil {
		t.req.Reject("no")
	}
}

// serve answers every request with the last value that it has seen.
func (t *task) serve(a *Act) {
	for {
		req, err := t.m.ask.Accept(verbs.Forever)
		if err != nil {
			return
		}
		t.last = number(req.Body())
		t.req = req
		t.run(a.Body)
		req.Reply(bytesOf(t.last))
		t.log = t.log[:0] // otherwise a daemon would never reach a state twice
	}
}

func (t *task) count(a *Act) {
	body, err := t.m.h.Call("services", "counter", bytesOf(t.value(a.V)), verbs.Forever)
	if !t.err(err) {
		t.saw(number(body))
	}
}

func (t *task) counter(*Act) {
	body, err := t.m.h.Call("services", "counter", nil, verbs.Forever)
	if !t.err(err) {
		t.saw(number(body))
	}
}

func (t *task) askCount(a *Act) {
	t.order = []string{"services", "services"}
	t.asked = t.m.h.Gather([]host.Call{{To: "services", Service: "counter", Body: bytesOf(t.value(a.V))}, {To: "services", Service: "counter"}}, verbs.Forever)
}

// connect makes a new connection to a host, which must run acceptConn.
func (t *task) connect(a *Act) {
	for _, name := range t.peers(a) {
		p, cq := t.m.queues()
		body := t.m.lends().append(must(p.Endpoint().AppendBinary(nil)))
		answer, err := t.m.h.Call(name, "meet", body, verbs.Forever)
		if t.err(err) {
			continue
		}
		t.join(name, p, cq, answer)
	}
}

func (t *task) acceptConn() {
	req, err := t.m.meet.Accept(verbs.Forever)
	if t.err(err) {
		return
	}
	p, cq := t.m.queues()
	body := t.m.lends().append(must(p.Endpoint().AppendBinary(nil)))
	t.join(req.From(), p, cq, req.Body())
	req.Reply(body)
}

// join connects a queue pair to the endpoint in a message.
func (t *task) join(peer string, p verbs.PreparedQP, cq verbs.CQ, body []byte) {
	var e verbs.Endpoint
	if len(body) != verbs.EndpointSize+4*8 || e.UnmarshalBinary(body[:verbs.EndpointSize]) != nil {
		panic(fmt.Errorf("programs: a connection with %d bytes", len(body)))
	}
	qp, err := p.Connect(e)
	if t.err(err) {
		return
	}
	l := t.m.link(peer, qp, cq, readRemote(body[verbs.EndpointSize:]))
	t.links = slices.DeleteFunc(t.links, func(x *link) bool { return x.peer == peer })
	t.links = append(t.links, l)
}
