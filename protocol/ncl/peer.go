package ncl

import (
	"errors"
	"fmt"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// What a peer rejects, and why.
var (
	errAbsent   = errors.New("the mr-map has no such file")
	errThere    = errors.New("it has memory for a file of this name already")
	errEpoch    = errors.New("the epoch is over")
	errNoFresh  = errors.New("no copy of that epoch")
	errNoMemory = errors.New("no memory left to lend")
)

// peer is a log peer (4.2): it lends memory, and its CPU takes part in setting
// up and recovering only.
type peer struct {
	h     host.Host
	pd    verbs.PD
	cq    verbs.CQ // nothing completes at a peer; a queue pair must have one
	limit int
	used  int
	// mrMap is the paper's mr-map. It is a slice so that the order of whatever
	// is done to it follows from the requests.
	mrMap []*mapping
}

// mapping is one entry of the mr-map.
type mapping struct {
	app, file string
	current   *slot
	fresh     *slot // being filled by a recovery, or nil
}

// slot is a region with the queue pair that reaches it.
type slot struct {
	epoch  uint32
	size   int
	region host.Region
	mr     verbs.MR
	qp     verbs.QP
	end    verbs.Endpoint
}

// ServePeer lends memory to applications. It returns when requests cannot be
// received any more, and not before.
func ServePeer(h host.Host, cfg PeerConfig) error {
	if err := cfg.Validate(); err != nil {
		return err
	}
	p, err := newPeer(h, cfg)
	if err != nil {
		return fmt.Errorf("ncl: log peer: %w", err)
	}
	lis, err := h.Listen(service)
	if err != nil {
		return fmt.Errorf("ncl: log peer: %w", err)
	}
	for {
		req, err := lis.Accept(verbs.Forever)
		if err != nil {
			return fmt.Errorf("ncl: log peer: %w", err)
		}
		answer, err := p.handle(req.Body())
		if err != nil {
			h.Logf("rejects a request of %s: %v", req.From(), err)
			req.Reject(err.Error())
			continue
		}
		req.Reply(answer)
	}
}

func newPeer(h host.Host, cfg PeerConfig) (*peer, error) {
	p := &peer{h: h, limit: cfg.Memory}
	var err error
	if p.pd, err = h.Device().AllocPD(); err != nil {
		return nil, err
	}
	p.cq, err = h.Device().CreateCQ(1, nil)
	return p, err
}

// handle carries out one request. Its error is the reason of a rejection.
func (p *peer) handle(body []byte) ([]byte, error) {
	r, err := decodeRequest(body)
	if err != nil {
		return nil, err
	}
	switch r.op {
	case opAlloc:
		return p.alloc(&r)
	case opRecover:
		return p.recover(&r)
	case opSwitch:
		return nil, p.switchOver(&r)
	default:
		return nil, p.release(&r)
	}
}

// alloc sets up a region and enters it into the mr-map (4.3, step 3). What the
// peer holds from an older epoch leaked and is replaced.
func (p *peer) alloc(r *request) ([]byte, error) {
	m := p.find(r)
	if m != nil {
		if r.epoch <= m.seen() {
			return nil, errThere
		}
		p.remove(m)
	}
	s, err := p.newSlot(r, r.size)
	if err != nil {
		return nil, err
	}
	p.mrMap = append(p.mrMap, &mapping{app: r.app, file: r.file, current: s})
	o := offer{endpoint: s.end, fresh: s.window()}
	return o.encode(opAlloc), nil
}

// recover gives access to the region of a file to a new instance of the
// application, and a fresh region for the copy that will replace it (4.5.1). A
// peer that has crashed since has no entry any more, and rejects.
func (p *peer) recover(r *request) ([]byte, error) {
	m := p.find(r)
	if m == nil {
		return nil, errAbsent
	}
	if r.epoch <= m.seen() {
		return nil, errEpoch
	}
	p.freeFresh(m)
	s, err := p.newSlot(r, m.current.size)
	if err != nil {
		return nil, err
	}
	m.fresh = s
	o := offer{endpoint: s.end, current: m.current.window(), fresh: s.window()}
	return o.encode(opRecover), nil
}

// switchOver points the mr-map to the fresh region (4.5.1). This is one
// assignment, so that a crash of the application finds one region or the other.
func (p *peer) switchOver(r *request) error {
	m := p.find(r)
	if m == nil {
		return errAbsent
	}
	if m.fresh == nil || m.fresh.epoch != r.epoch {
		return errNoFresh
	}
	old := m.current
	m.current, m.fresh = m.fresh, nil
	p.free(old)
	return nil
}

// release frees the regions of a file (4.3). A file that is not there has been
// released already.
func (p *peer) release(r *request) error {
	m := p.find(r)
	if m == nil {
		return nil
	}
	if r.epoch < m.seen() {
		return errEpoch
	}
	p.remove(m)
	return nil
}

func (p *peer) find(r *request) *mapping {
	for _, m := range p.mrMap {
		if m.app == r.app && m.file == r.file {
			return m
		}
	}
	return nil
}

// seen is the highest epoch that m has heard of.
func (m *mapping) seen() uint32 {
	if m.fresh != nil {
		return m.fresh.epoch
	}
	return m.current.epoch
}

func (p *peer) remove(m *mapping) {
	p.freeFresh(m)
	p.free(m.current)
	for i, x := range p.mrMap {
		if x == m {
			p.mrMap = append(p.mrMap[:i], p.mrMap[i+1:]...)
			return
		}
	}
}

func (p *peer) freeFresh(m *mapping) {
	if m.fresh != nil {
		p.free(m.fresh)
		m.fresh = nil
	}
}

// newSlot makes a region of size bytes, and a queue pair connected to the one
// that sent r.
func (p *peer) newSlot(r *request, size int) (*slot, error) {
	if stampSize+size > p.limit-p.used {
		return nil, errNoMemory
	}
	region, err := p.h.Alloc(stampSize + size)
	if err != nil {
		return nil, err
	}
	s := &slot{epoch: r.epoch, size: size, region: region}
	p.used += region.Len()
	s.mr, err = p.pd.RegisterMR(region, verbs.LocalWrite|verbs.RemoteWrite|verbs.RemoteRead)
	if err == nil {
		err = p.connect(s, r.endpoint)
	}
	if err != nil {
		p.free(s)
		return nil, err
	}
	return s, nil
}

func (p *peer) connect(s *slot, to verbs.Endpoint) error {
	prepared, err := p.pd.CreateQP(verbs.QPConfig{SendCQ: p.cq, RecvCQ: p.cq, Access: verbs.RemoteWrite | verbs.RemoteRead,
		MaxSendWR: 1, MaxRecvWR: 1, MaxSGE: 1})
	if err != nil {
		return err
	}
	s.end = prepared.Endpoint()
	if s.qp, err = prepared.Connect(to); err != nil {
		p.note("destroy a queue pair", prepared.Destroy())
		return err
	}
	return nil
}

func (s *slot) window() window {
	return window{addr: s.mr.Addr(), key: s.mr.RKey(), size: s.size}
}

// free takes a slot down: first the connection, so that nothing more comes in,
// then the key, then the memory.
func (p *peer) free(s *slot) {
	if s.qp != nil {
		p.note("destroy a queue pair", s.qp.Destroy())
	}
	if s.mr != nil {
		p.note("deregister a region", s.mr.Dereg())
	}
	n := s.region.Len()
	if err := s.region.Free(); err != nil {
		p.note("free a region", err)
		return // its bytes stay lent
	}
	p.used -= n
}

// note logs an error that changes nothing for the application.
func (p *peer) note(what string, err error) {
	if err != nil {
		p.h.Logf("cannot %s: %v", what, err)
	}
}
