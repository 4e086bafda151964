package lend

import "github.com/verbatim-rdma/verbatim/verbs"

// places counts the occupied slots of a send queue. A request's slot is freed when the
// completion of a signaled request, its own or a later one, is polled (IBA: the next
// completion implies that an unsignaled request is done).
type places struct {
	taken int
	tail  int   // requests since the last signaled one
	runs  []run // the signaled requests, oldest first
}

// run is a signaled request whose completion has not been polled.
type run struct {
	id    uint64
	slots int // it frees
}

// post occupies slots for wrs.
func (p *places) post(wrs []verbs.SendWR, all bool) {
	for i := range wrs {
		p.tail++
		if all || wrs[i].Flags&verbs.Signaled != 0 {
			p.runs = append(p.runs, run{wrs[i].ID, p.tail})
			p.tail = 0
		}
	}
	p.taken += len(wrs)
}

// completed frees the slots of the oldest signaled request.
func (p *places) completed() {
	if len(p.runs) == 0 {
		return
	}
	p.taken -= p.runs[0].slots
	p.runs = p.runs[:copy(p.runs, p.runs[1:])]
}

// open reports whether the completion of signaled request id has yet to be polled.
func (p *places) open(id uint64) bool {
	for i := range p.runs {
		if p.runs[i].id == id {
			return true
		}
	}
	return false
}
