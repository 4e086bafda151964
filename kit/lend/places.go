package lend

import "github.com/verbatim-rdma/verbatim/verbs"

// places counts the taken places of a send queue. A request gives its place back when the
// completion of a signaled request, its own or a later one, is taken from the completion
// queue (IBA: an unsignaled request is known to be done by that of the next one).
type places struct {
	taken int
	tail  int   // requests since the last signaled one
	runs  []int // for each signaled request, oldest first: how many requests it stands for
}

// post takes places for wrs.
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

// completed gives back the places of the oldest signaled request.
func (p *places) completed() {
	if len(p.runs) == 0 {
		return
	}
	p.taken -= p.runs[0]
	p.runs = p.runs[:copy(p.runs, p.runs[1:])]
}
