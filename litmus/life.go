package litmus

import (
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/verbatim-rdma/verbatim/codec/wire"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// life holds a host's resources from start to end: memory, registrations, queues. The
// threads of the host share it; only connect changes it.
type life struct {
	h         host.Host
	regions   []host.Region // by block of the host
	mrs       []verbs.MR    // by registration of the host
	cells     []private     // by thread
	cqs       []verbs.CQ    // by index; those of other hosts are nil
	mu        sync.Mutex
	qps       []queuePair // by index, under mu
	peers     []peer      // by host, under mu
	old       []queuePair // replaced by connect, under mu
	listeners map[string]host.Listener
	pd        verbs.PD
	recvs     atomic.Int64 // receives that were posted and may be unused
}

// qp is the host's end of a queue pair; nil if it is not connected.
func (l *life) qp(i int) verbs.QP {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.qps[i].qp
}

// peer returns the data about another host.
func (l *life) peer(i int) peer {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.peers[i]
}

// private is a thread's own memory.
type private struct {
	region host.Region
	mr     verbs.MR
}

type queuePair struct {
	prepared verbs.PreparedQP
	qp       verbs.QP
}

// peer is a host's data about another: its memory, and the keys.
type peer struct {
	addrs []uint64
	keys  []uint32
}

// setup creates the first life of all hosts, fully connected.
func (m *runner) setup(hosts []host.Host) error {
	for i, at := range m.p.hosts {
		if err := m.boot(at, hosts[i]); err != nil {
			return err
		}
	}
	for _, q := range m.p.qps {
		a, b := m.lives[q.ends[0].host.idx][0], m.lives[q.ends[1].host.idx][0]
		for i, l := range []*life{a, b} {
			if err := l.prepare(q, i, true); err != nil {
				return err
			}
		}
		pa, pb := a.qps[q.idx].prepared, b.qps[q.idx].prepared
		var err error
		if a.qps[q.idx].qp, err = pa.Connect(pb.Endpoint()); err != nil {
			return err
		}
		if b.qps[q.idx].qp, err = pb.Connect(pa.Endpoint()); err != nil {
			return err
		}
	}
	for _, at := range m.p.hosts {
		for i := range m.p.hosts {
			m.lives[at.idx][0].peers[i] = m.lives[i][0].own()
		}
	}
	return nil
}

// boot creates a life of one host, without connections.
func (m *runner) boot(at *hostProg, h host.Host) error {
	l := &life{h: h, cqs: make([]verbs.CQ, len(m.p.cqs)), qps: make([]queuePair, len(m.p.qps)), peers: make([]peer, len(m.p.hosts)),
		cells: make([]private, len(m.p.threads)), listeners: map[string]host.Listener{}}
	first := len(m.lives[at.idx]) == 0
	m.lives[at.idx] = append(m.lives[at.idx], l)
	var err error
	if l.pd, err = h.Device().AllocPD(); err != nil {
		return err
	}
	for _, b := range at.blocks {
		if err := l.memory(b, first); err != nil {
			return fmt.Errorf("memory of %s: %w", at.name, err)
		}
	}
	for _, mr := range at.mrs {
		x, err := l.pd.RegisterMR(l.regions[mr.block.at], grantable(h, verbs.LocalWrite|mr.access))
		if err != nil {
			return err
		}
		l.mrs = append(l.mrs, x)
	}
	for _, t := range at.threads {
		if err := l.private(t); err != nil {
			return err
		}
	}
	for _, c := range m.p.cqs {
		if c.host == at {
			if l.cqs[c.idx], err = h.Device().CreateCQ(max(c.depth, 1), nil); err != nil {
				return err
			}
		}
	}
	for _, s := range at.listens {
		if l.listeners[s], err = h.Listen(s); err != nil {
			return err
		}
	}
	return nil
}

// memory allocates a block. Persistent memory is initialized only once.
func (l *life) memory(b *blockProg, first bool) error {
	var r host.Region
	var err error
	if b.persistent {
		r, err = l.h.OpenPMEM(b.name, b.size)
	} else {
		r, err = l.h.Alloc(b.size)
	}
	if err != nil {
		return err
	}
	l.regions = append(l.regions, r)
	if !b.persistent || first {
		b.fill(r)
	}
	return nil
}

// fill initializes a block.
func (b *blockProg) fill(r host.Region) {
	for _, x := range b.locs {
		if x.init != 0 {
			buf := make([]byte, x.size)
			fill(buf, x.init)
			r.Store(x.off, buf)
			if b.persistent {
				r.Flush(x.off, x.size)
				r.Fence()
			}
		}
	}
}

// grantable removes from access what the host's card does not support.
func grantable(h host.Host, access verbs.Access) verbs.Access {
	if !h.Device().Attr().HasFlush {
		access &^= verbs.FlushGlobal | verbs.FlushPersistent
	}
	return access
}

// private allocates a thread's own memory, with the values of its messages.
func (l *life) private(t *threadProg) error {
	if t.scratch == 0 {
		return nil
	}
	r, err := l.h.Alloc(t.scratch)
	if err != nil {
		return err
	}
	t.fill(r)
	mr, err := l.pd.RegisterMR(r, verbs.LocalWrite)
	l.cells[t.idx] = private{r, mr}
	return err
}

// fill initializes a thread's own memory with the values of its messages.
func (t *threadProg) fill(r host.Region) {
	for _, c := range t.consts {
		b := make([]byte, c.cell.n)
		fill(b, c.v)
		r.Store(c.cell.off, b)
	}
}

// prepare creates an end of a queue pair; samePSN uses the sequence number of the test,
// if it has one.
func (l *life) prepare(q *qpProg, end int, samePSN bool) error {
	e := &q.ends[end]
	cfg := e.cfg
	if cfg.MaxInline == 0 {
		cfg.MaxInline = l.h.Device().Attr().MaxInline
	}
	cfg.SendCQ, cfg.RecvCQ = l.cqs[e.send.idx], l.cqs[e.recv.idx]
	if !samePSN {
		cfg.PSN = 0
	}
	cfg.Access = grantable(l.h, cfg.Access)
	p, err := l.pd.CreateQP(cfg)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.qps[q.idx].prepared != nil {
		l.old = append(l.old, l.qps[q.idx])
	}
	l.qps[q.idx] = queuePair{prepared: p}
	return nil
}

// own is the data that others need about this host.
func (l *life) own() peer {
	var p peer
	for _, r := range l.regions {
		p.addrs = append(p.addrs, r.Addr())
	}
	for _, m := range l.mrs {
		p.keys = append(p.keys, m.RKey())
	}
	return p
}

// hello is the message with which the ends of a queue pair connect.
func (l *life) hello(q *qpProg) []byte {
	b := lend.AppendEndpoint(nil, l.qps[q.idx].prepared.Endpoint())
	p := l.own()
	for _, a := range p.addrs {
		b = binary.BigEndian.AppendUint64(b, a)
	}
	for _, k := range p.keys {
		b = binary.BigEndian.AppendUint32(b, k)
	}
	return b
}

// meet decodes the other end's message, and connects.
func (l *life) meet(q *qpProg, other *hostProg, b []byte) error {
	r := wire.NewReader(b)
	e := lend.ReadEndpoint(r)
	p := peer{}
	for range other.blocks {
		p.addrs = append(p.addrs, r.Uint64())
	}
	for range other.mrs {
		p.keys = append(p.keys, r.Uint32())
	}
	if err := r.End(); err != nil {
		return fmt.Errorf("litmus: %s sent %d bytes to connect: %w", other.name, len(b), err)
	}
	l.mu.Lock()
	l.peers[other.idx] = p
	prepared := l.qps[q.idx].prepared
	l.mu.Unlock()
	qp, err := prepared.Connect(e) // not under mu, so that others may run here
	l.mu.Lock()
	l.qps[q.idx].qp = qp
	l.mu.Unlock()
	return err
}

// accept waits for a message; nil if none will arrive.
func (x *exec) accept(service string) (req host.Request) {
	x.until(func(patience time.Duration) (got bool, err error) {
		req, err = x.life.listeners[service].Accept(patience)
		return err == nil, err
	})
	return req
}

// connect creates the thread's end again. The first end calls, the other answers.
func (x *exec) connect(q *qpProg, samePSN bool, loop int) bool {
	end := q.end(x.t.host)
	if err := x.life.prepare(q, end, samePSN); err != nil {
		return x.m.broken(err)
	}
	other := q.ends[1-end].host
	if end == 0 {
		answer, err := x.h.Call(other.name, q.service, x.life.hello(q), verbs.Forever)
		if err != nil {
			return x.look(loop, false) // it would retry
		}
		if err := x.life.meet(q, other, answer); err != nil {
			return x.m.broken(err)
		}
		return x.look(loop, true)
	}
	req := x.accept(q.service)
	if req == nil {
		return false
	}
	if err := x.life.meet(q, other, req.Body()); err != nil {
		return x.m.broken(err)
	}
	req.Reply(x.life.hello(q))
	return x.look(loop, true)
}
