package ncl

import (
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// slot is a region with the queue pair that reaches it.
type slot struct {
	generation
	size   int
	region host.Region
	mr     verbs.MR
	qp     verbs.QP
	end    verbs.Endpoint
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
	s := &slot{generation: r.generation, size: size, region: region}
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
	p.disconnect(s)
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

// disconnect ends what the application does to the region from outside.
func (p *peer) disconnect(s *slot) {
	if s.qp != nil {
		p.note("destroy a queue pair", s.qp.Destroy())
		s.qp = nil
	}
}

// note logs an error that changes nothing for the application.
func (p *peer) note(what string, err error) {
	if err != nil {
		p.h.Logf("cannot %s: %v", what, err)
	}
}
