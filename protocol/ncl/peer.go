package ncl

import (
	"errors"
	"fmt"
	"time"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/lend"
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
	h      host.Host
	lender *lend.Lender
	coord  coord.Client // nil: the peer does not register, nor collect
	quiet  bool         // it does not register
	limit  int
	used   int
	told   int           // what of it the controller knows
	every  time.Duration // collect so often; 0: when asked to
	due    time.Duration // the next time
	// mrMap is the paper's mr-map. It is a slice so that the order of whatever
	// is done to it follows from the requests.
	mrMap []*mapping
}

// mapping is one entry of the mr-map.
type mapping struct {
	app, file string
	current   *slot // nil until a peer that joins is up to date
	fresh     *slot // being filled, or nil
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
	if err := p.register(); err != nil {
		return fmt.Errorf("ncl: log peer: register with the controller: %w", err)
	}
	for {
		req, err := p.acceptOrCollect(lis)
		if err != nil {
			return fmt.Errorf("ncl: log peer: %w", err)
		}
		answer, err := p.handle(req.Body())
		if err != nil {
			h.Logf("rejects a request of %s: %v", req.From(), err)
			req.Reject(err.Error())
		} else {
			req.Reply(answer)
		}
		p.tell() // also if it was rejected: what leaked may have been freed
	}
}

func newPeer(h host.Host, cfg PeerConfig) (*peer, error) {
	p := &peer{h: h, coord: cfg.Coord, quiet: cfg.Unlisted, limit: cfg.Memory, every: cfg.CollectEvery, due: h.Now() + cfg.CollectEvery}
	var err error
	p.lender, err = lend.NewLender(h)
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
	case opJoin:
		return p.join(&r)
	case opCollect:
		p.collect()
		return p.lent(), nil
	case opRevoke:
		p.revoke()
		return nil, nil
	default:
		return nil, p.release(&r)
	}
}

// alloc sets up a region and enters it into the mr-map (4.3, step 3). What the
// peer holds of an earlier file of the name leaked and is replaced.
func (p *peer) alloc(r *request) ([]byte, error) {
	m := p.find(r)
	if m != nil {
		if !r.newerThan(m.seen()) {
			return nil, errThere
		}
		p.remove(m)
	}
	s, err := p.newSlot(r, r.size)
	if err != nil {
		return nil, err
	}
	p.mrMap = append(p.mrMap, &mapping{app: r.app, file: r.file, current: s})
	return s.offer(), nil
}

// join sets up a region for the content of a file that has lost a peer (4.5.2). Until
// the content is there the region is not in the mr-map, and what is there stays.
func (p *peer) join(r *request) ([]byte, error) {
	m := p.find(r)
	if m != nil && !r.newerThan(m.seen()) {
		return nil, errEpoch
	}
	if m != nil && r.id != m.seen().id {
		p.remove(m)
		m = nil
	}
	if m != nil {
		p.freeFresh(m)
	}
	s, err := p.newSlot(r, r.size)
	if err != nil {
		if m != nil && m.current == nil {
			p.remove(m) // nothing is left of it
		}
		return nil, err
	}
	if m == nil {
		m = &mapping{app: r.app, file: r.file}
		p.mrMap = append(p.mrMap, m)
	}
	m.fresh = s
	return s.offer(), nil
}

// recover gives access to the region of a file to a new instance of the
// application, and a fresh region for the copy that will replace it (4.5.1). A
// peer that has crashed since has no entry any more, and rejects.
//
// The instance that had the region loses its connection first. It may live on, and
// must not have a write acknowledged that this recovery does not see: finding 2.
func (p *peer) recover(r *request) ([]byte, error) {
	m := p.find(r)
	if m == nil || m.current == nil || m.current.id != r.id {
		return nil, errAbsent
	}
	if !r.newerThan(m.seen()) {
		return nil, errEpoch
	}
	p.disconnect(m.current)
	p.freeFresh(m)
	s, err := p.newSlot(r, m.current.size)
	if err != nil {
		return nil, err
	}
	m.fresh = s
	return s.offer(m.current.Window()), nil
}

// switchOver points the mr-map to the fresh region (4.5.1). This is one
// assignment, so that a crash of the application finds one region or the other.
func (p *peer) switchOver(r *request) error {
	m := p.find(r)
	if m == nil {
		return errAbsent
	}
	if m.fresh == nil || m.fresh.generation != r.generation {
		return errNoFresh
	}
	old := m.current
	m.current, m.fresh = m.fresh, nil
	if old != nil {
		p.free(old)
	}
	return nil
}

// release frees the regions of a file (4.3). A file that is not there has been
// released already.
func (p *peer) release(r *request) error {
	m := p.find(r)
	if m == nil {
		return nil
	}
	if m.seen().newerThan(r.generation) {
		return errEpoch
	}
	p.remove(m)
	return nil
}

// revoke takes all memory back at once (4.5.2, "Memory Revocation"). The applications
// notice when they write, and take it for a failure of this peer.
func (p *peer) revoke() {
	for len(p.mrMap) > 0 {
		p.remove(p.mrMap[len(p.mrMap)-1])
	}
}

func (p *peer) find(r *request) *mapping {
	for _, m := range p.mrMap {
		if m.app == r.app && m.file == r.file {
			return m
		}
	}
	return nil
}

// seen is the latest generation that m has heard of.
func (m *mapping) seen() generation {
	if m.fresh != nil {
		return m.fresh.generation
	}
	return m.current.generation
}

func (p *peer) remove(m *mapping) {
	p.freeFresh(m)
	if m.current != nil {
		p.free(m.current)
	}
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
