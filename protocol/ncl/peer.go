package ncl

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/lend"
)

// The reasons for which a peer rejects requests.
var (
	errAbsent   = errors.New("the mr-map has no such file")
	errThere    = errors.New("the peer already has memory for a file of this name")
	errEpoch    = errors.New("the epoch is over")
	errNoFresh  = errors.New("no copy of that epoch")
	errSize     = errors.New("the peer's file of this name has a different size")
	errNoMemory = errors.New("no memory left to lend")
)

// peer is a log peer (4.2): it lends memory. Its CPU is involved only in set-up and
// recovery.
type peer struct {
	h      host.Host
	lender *lend.Lender
	coord  coord.Client // nil: the peer neither registers nor collects
	quiet  bool         // the peer does not register
	limit  int
	taken  int           // claims of the files in the mr-map, and memory that could not be freed
	lent   int           // bytes of all regions
	told   int           // taken, as last reported to the controller
	every  time.Duration // interval of collections; 0: on request
	due    time.Duration // of the next collection
	// mrMap is the paper's mr-map. It is a slice so that the order of its entries
	// follows from the requests.
	mrMap []*mapping
}

// mapping is one entry of the mr-map.
type mapping struct {
	app, file string
	size      int   // of the file
	current   *slot // nil until a joining peer is up to date
	fresh     *slot // being filled, or nil
}

// ServePeer lends memory to applications. It returns only when requests can no longer
// be received.
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
		p.tell() // even after a rejection: leaked memory may have been freed
	}
}

func newPeer(h host.Host, cfg PeerConfig) (*peer, error) {
	p := &peer{h: h, coord: cfg.Coord, quiet: cfg.Unlisted, limit: cfg.Memory, every: cfg.CollectEvery, due: h.Now() + cfg.CollectEvery}
	var err error
	p.lender, err = lend.NewLender(h)
	return p, err
}

// handle carries out one request. Its error is the reason for a rejection.
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
		return binary.BigEndian.AppendUint64(nil, uint64(p.lent)), nil
	case opRevoke:
		p.revoke()
		return nil, nil
	default:
		return nil, p.release(&r)
	}
}

// alloc sets up a region and enters it into the mr-map (4.3, step 3). A region of an
// earlier file with the name has leaked and is replaced.
func (p *peer) alloc(r *request) ([]byte, error) {
	m := p.find(r)
	if m != nil {
		if !r.newerThan(m.seen()) {
			return nil, errThere
		}
		p.remove(m)
	}
	m, err := p.accept(r)
	if err != nil {
		return nil, err
	}
	if m.current, err = p.newSlot(r, m.size); err != nil {
		p.remove(m)
		return nil, err
	}
	return m.current.offer(), nil
}

// join sets up a region for the content of a file that has lost a peer (4.5.2). Until
// the content has arrived the region is not in the mr-map, and an existing one stays
// there.
func (p *peer) join(r *request) ([]byte, error) {
	m := p.find(r)
	if m != nil && !r.newerThan(m.seen()) {
		return nil, errEpoch
	}
	if m != nil && r.id != m.seen().id {
		p.remove(m)
		m = nil
	}
	if m == nil {
		var err error
		if m, err = p.accept(r); err != nil {
			return nil, err
		}
	} else if m.size != r.size {
		return nil, errSize
	}
	p.freeFresh(m)
	s, err := p.newSlot(r, m.size)
	if err != nil {
		if m.current == nil {
			p.remove(m) // m has no region left
		}
		return nil, err
	}
	m.fresh = s
	return s.offer(), nil
}

// recover gives a new instance of the application access to the region of a file, and a
// fresh region for the copy that will replace it (4.5.1). A peer that has crashed in
// the meantime has no entry, and rejects the request.
//
// The previous instance loses its connection first. It may still be alive, and must not
// have a write acknowledged that this recovery does not see: finding 2.
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
	s, err := p.newSlot(r, m.size)
	if err != nil {
		return nil, err
	}
	m.fresh = s
	return s.offer(m.current.Window()), nil
}

// switchOver points the mr-map to the fresh region (4.5.1). This is a single
// assignment, so after a crash of the application a recovery finds one region or the
// other.
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

// release frees the regions of a file (4.3). A missing file has already been released.
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

// revoke revokes all memory at once (4.5.2, "Memory Revocation"). Applications detect
// this when they write, and treat it as a failure of the peer.
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

// seen returns the latest generation known to m.
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
	p.taken -= claim(m.size)
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
