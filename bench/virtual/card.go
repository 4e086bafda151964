package virtual

import (
	"fmt"
	"time"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// device is a card with a model of time.
type device struct {
	verbs.Device
	h *Host
}

func (d *device) Attr() verbs.DeviceAttr {
	a := d.Device.Attr()
	a.MaxInline = min(a.MaxInline, d.h.c.model.MaxInline)
	return a
}

func (d *device) AllocPD() (verbs.PD, error) {
	p, err := d.Device.AllocPD()
	if err != nil {
		return nil, err
	}
	return &pd{p, d.h}, nil
}

func (d *device) CreateCompChannel() (verbs.CompChannel, error) {
	ch, err := d.Device.CreateCompChannel()
	if err != nil {
		return nil, err
	}
	return &channel{CompChannel: ch, h: d.h}, nil
}

func (d *device) CreateCQ(depth int, ch verbs.CompChannel) (verbs.CQ, error) {
	c := &cq{h: d.h, due: map[uint32][]pending{}}
	var err error
	if ch == nil {
		c.CQ, err = d.Device.CreateCQ(depth, nil)
		return c, err
	}
	of, ok := ch.(*channel)
	if !ok {
		return nil, fmt.Errorf("virtual: create CQ: %w: a channel of another device", verbs.ErrInvalid)
	}
	of.cqs = append(of.cqs, c)
	c.CQ, err = d.Device.CreateCQ(depth, of.CompChannel)
	return c, err
}

type pd struct {
	verbs.PD
	h *Host
}

func (p *pd) RegisterMR(mem verbs.Memory, access verbs.Access) (verbs.MR, error) {
	began := p.h.now
	if r, ok := mem.(*region); ok {
		mem = r.Region
	}
	m, err := p.PD.RegisterMR(mem, access)
	if err != nil {
		return nil, err
	}
	model := &p.h.c.model
	p.h.spend(model.registering(mem.Len()))
	p.h.event("register", began)
	if began = p.h.now; p.h.peer {
		p.h.spend(time.Duration(model.Clears) * model.copying(mem.Len()))
		p.h.event("clear", began)
	}
	return m, nil
}

func (p *pd) CreateQP(cfg verbs.QPConfig) (verbs.PreparedQP, error) {
	send, ok := cfg.SendCQ.(*cq)
	recv, ok2 := cfg.RecvCQ.(*cq)
	if !ok || !ok2 {
		return nil, fmt.Errorf("virtual: create QP: %w: both CQs must be of this device", verbs.ErrInvalid)
	}
	cfg.SendCQ, cfg.RecvCQ = send.CQ, recv.CQ
	q, err := p.PD.CreateQP(cfg)
	if err != nil {
		return nil, err
	}
	e := q.Endpoint()
	p.h.c.ends[end{e.GID, e.QPN}] = p.h
	return &prepared{q, p.h, send}, nil
}

type prepared struct {
	verbs.PreparedQP
	h  *Host
	cq *cq
}

func (p *prepared) Connect(to verbs.Endpoint) (verbs.QP, error) {
	began := p.h.now
	q, err := p.PreparedQP.Connect(to)
	if err != nil {
		return nil, err
	}
	p.h.spend(p.h.c.model.QPSetup)
	p.h.event("setup", began)
	return &qp{QP: q, h: p.h, cq: p.cq, peer: p.h.c.ends[end{to.GID, to.QPN}]}, nil
}

// qp is a queue pair: it determines the time of a request.
type qp struct {
	verbs.QP
	h    *Host
	cq   *cq
	peer *Host         // nil: no host of the cluster
	last time.Duration // requests complete in order
	n    int           // requests since the last one with a signal
}

func (q *qp) PostSend(wrs []verbs.SendWR) error {
	m := &q.h.c.model
	if err := q.QP.PostSend(wrs); err != nil {
		return err
	}
	q.h.spend(m.Post + time.Duration(len(wrs)-1)*m.PostMore + time.Duration(len(wrs))*m.Issue)
	ready := q.h.now
	if len(wrs) > 1 {
		ready += m.PCIeRead // a single request is pushed with its doorbell; the card reads a list from memory
	}
	for i := range wrs {
		wr := &wrs[i]
		q.last = max(q.last, q.course(wr, ready))
		q.n++
		if wr.Op == verbs.OpRead {
			q.h.history = append(q.h.history, Event{"read", q.h.now, q.last})
		}
		// Like the simulator, the clock treats unsignaled requests as done when a later
		// one completes.
		if wr.Flags&verbs.Signaled != 0 {
			q.cq.due[q.Num()] = append(q.cq.due[q.Num()], pending{wr.ID, q.last, q.n})
			q.n = 0
		}
	}
	return nil
}

// course returns the completion time of a request that reaches the card at ready.
func (q *qp) course(wr *verbs.SendWR, ready time.Duration) time.Duration {
	m, n := &q.h.c.model, wr.Length()
	if wr.Op == verbs.OpRead || wr.Op.IsAtomic() {
		at := q.h.sends(ready, 0, m) + m.oneWay() + m.PCIeRead
		return q.peer.sends(at, n, m) + m.oneWay()
	}
	if wr.Flags&verbs.Inline == 0 {
		ready += m.PCIeRead
	}
	return q.peer.receives(q.h.sends(ready, n, m)+m.oneWay(), n, m) + m.oneWay()
}

// sends puts n bytes on the host's link from ready on, and returns the time when the last
// byte is on the link.
func (h *Host) sends(ready time.Duration, n int, m *Model) time.Duration {
	if h == nil {
		return ready + m.wire(n)
	}
	h.tx = max(h.tx, ready) + m.wire(n)
	return h.tx
}

// receives returns the time when the host has received n bytes; on a shared link the last byte
// arrives at last.
func (h *Host) receives(last time.Duration, n int, m *Model) time.Duration {
	if h == nil {
		return last
	}
	h.rx = max(h.rx+m.wire(n), last)
	return h.rx
}

// pending is a signaled request and when it is complete.
type pending struct {
	id     uint64
	due    time.Duration
	covers int // requests: itself and those without a signal before it
}

type cq struct {
	verbs.CQ
	h   *Host
	due map[uint32][]pending // by queue pair, in order
}

func (c *cq) Poll(wc []verbs.WC) (int, error) {
	n, err := c.CQ.Poll(wc)
	c.taken(wc[:n])
	return n, err
}

func (c *cq) Wait(wc []verbs.WC, timeout time.Duration) (int, error) {
	began := c.h.now
	n, err := c.CQ.Wait(wc, timeout)
	c.taken(wc[:n])
	c.h.event("wait", began)
	return n, err
}

// taken moves the clock to the completions.
func (c *cq) taken(wcs []verbs.WC) {
	for i := range wcs {
		wc := &wcs[i]
		list, covers := c.due[wc.QPNum], 0
		for len(list) > 0 {
			first := list[0]
			list = list[1:]
			covers += first.covers
			if first.id == wc.ID {
				c.h.until(first.due)
				break
			}
		}
		c.due[wc.QPNum] = list
		m, polls := &c.h.c.model, 1
		if m.SignalAll {
			polls = max(covers, 1)
		}
		c.h.spend(time.Duration(polls)*m.Poll + time.Duration(covers)*m.Settle)
	}
}

type channel struct {
	verbs.CompChannel
	h   *Host
	cqs []*cq
}

func (ch *channel) Wait(timeout time.Duration) (verbs.CQ, error) {
	found, err := ch.CompChannel.Wait(timeout)
	if err != nil {
		return nil, err
	}
	for _, c := range ch.cqs {
		if c.CQ == found {
			return c, nil
		}
	}
	return nil, fmt.Errorf("virtual: wait: %w: a CQ of another device", verbs.ErrInvalid)
}

func (ch *channel) Gather(cqs []verbs.CQ, wc []verbs.WC, timeout time.Duration) error {
	began := ch.h.now
	inner := make([]verbs.CQ, len(cqs))
	for i, c := range cqs {
		of, ok := c.(*cq)
		if !ok {
			return fmt.Errorf("virtual: gather: %w: a CQ of another device", verbs.ErrInvalid)
		}
		inner[i] = of.CQ
	}
	if err := ch.CompChannel.Gather(inner, wc, timeout); err != nil {
		return err
	}
	for i, c := range cqs {
		c.(*cq).taken(wc[i : i+1])
	}
	ch.h.event("wait", began)
	return nil
}
