package ncl

import (
	"fmt"

	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// slot is a region that is lent to a file, and the end of the connection that reaches it.
type slot struct {
	*lend.Loan
	generation
	size int
	end  verbs.Endpoint
}

// newSlot makes a region of size bytes, and a queue pair connected to the one
// that sent r.
func (p *peer) newSlot(r *request, size int) (*slot, error) {
	if left := p.limit - p.used; stampSize+size > left {
		return nil, fmt.Errorf("%w: peer %s has %d bytes left to lend, and the file takes %d", errNoMemory, p.h.Name(), left, stampSize+size)
	}
	loan, err := p.lender.Lend(stampSize+size, verbs.RemoteWrite|verbs.RemoteRead)
	if err != nil {
		return nil, err
	}
	p.used += stampSize + size
	s := &slot{Loan: loan, generation: r.generation, size: size}
	if s.end, err = loan.Admit(r.endpoint); err != nil {
		p.free(s)
		return nil, err
	}
	return s, nil
}

// offer is the answer to alloc, join and recover: the end of the connection, and what may be
// reached, of which the slot comes last.
func (s *slot) offer(before ...lend.Window) []byte {
	g := lend.Greeting{Endpoint: s.end, Windows: append(before, s.Window())}
	return g.Encode()
}

// free takes a slot down. If its memory cannot be freed its bytes stay lent.
func (p *peer) free(s *slot) {
	p.note("take a region down", s.End())
	if s.Region == nil {
		p.used -= stampSize + s.size
	}
}

// disconnect ends what the application does to the region from outside.
func (p *peer) disconnect(s *slot) { p.note("destroy a queue pair", s.Expel()) }

// note logs an error that changes nothing for the application.
func (p *peer) note(what string, err error) {
	if err != nil {
		p.h.Logf("cannot %s: %v", what, err)
	}
}
