package ncl

import (
	"fmt"

	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// slot is a region that is lent to a file, and the peer's end of its connection.
type slot struct {
	*lend.Loan
	generation
	size int
	end  verbs.Endpoint
}

// claim returns how much of a peer's memory a file of size bytes takes: its region, and as much again for the copy
// that a recovery or a replacement makes. So no file that a peer has accepted is lost because memory for the
// copy is missing.
func claim(size int) int { return 2 * (stampSize + size) }

// accept enters a file into the mr-map, if there is memory for it. The file has no region yet.
func (p *peer) accept(r *request) (*mapping, error) {
	if left := p.limit - p.taken; claim(r.size) > left {
		return nil, fmt.Errorf("%w: peer %s has %d bytes left to lend, and the file takes %d", errNoMemory, p.h.Name(), left, claim(r.size))
	}
	m := &mapping{app: r.app, file: r.file, size: r.size}
	p.taken += claim(m.size)
	p.mrMap = append(p.mrMap, m)
	return m, nil
}

// newSlot creates a region of size bytes, and a queue pair connected to the sender of
// r.
func (p *peer) newSlot(r *request, size int) (*slot, error) {
	loan, err := p.lender.Lend(stampSize+size, verbs.RemoteWrite|verbs.RemoteRead)
	if err != nil {
		return nil, err
	}
	p.lent += stampSize + size
	s := &slot{Loan: loan, generation: r.generation, size: size}
	if s.end, err = loan.Admit(r.endpoint); err != nil {
		p.free(s)
		return nil, err
	}
	return s, nil
}

// offer returns the answer to alloc, join and recover: the peer's endpoint, and the
// windows; the slot's own comes last.
func (s *slot) offer(before ...lend.Window) []byte {
	g := lend.Greeting{Endpoint: s.end, Windows: append(before, s.Window())}
	return g.Encode()
}

// free frees a slot. If its memory cannot be freed it still counts as lent, and no file
// can use it.
func (p *peer) free(s *slot) {
	p.note("release a region", s.End())
	if s.Region == nil {
		p.lent -= stampSize + s.size
	} else {
		p.taken += stampSize + s.size
	}
}

// disconnect stops the application's remote access to the region.
func (p *peer) disconnect(s *slot) { p.note("destroy a queue pair", s.Expel()) }

// note logs an error that does not affect the application.
func (p *peer) note(what string, err error) {
	if err != nil {
		p.h.Logf("cannot %s: %v", what, err)
	}
}
