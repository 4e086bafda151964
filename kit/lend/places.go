package lend

import "github.com/verbatim-rdma/verbatim/verbs"

// places counts the occupied slots of a send queue. A request's slot is freed when the
// completion of a signaled request, its own or a later one, is polled (IBA: the next
// completion implies that an unsignaled request is done).
type places struct {
	taken int
	tail  int   // requests since the last signaled one
	runs  []int // for each signaled request, oldest first: the slots that it frees
}

// post occupies slots for wrs.
func (p *places) post(wrs []verbs.SendWR, all bool) {
	for i := range wrs {
		p.tail++
		if all || wrs[i].Flags&verbs.Signaled != 0 {
			p.runs = append(p.runs, p.tail)
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
	p.taken -= p.runs[0]
	p.runs = p.runs[:copy(p.runs, p.runs[1:])]
}
