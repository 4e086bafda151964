package ncl

import (
	"slices"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// What a recovery asks of the cards: Reads of the peers' regions, and completions.

// postStampRead reads the stamp of link i into its word of the scratch region.
func (r *recovery) postStampRead(i int, l *link) bool {
	return r.postRead(l, verbs.SGE{Addr: r.mr.Addr() + uint64(stampSize*i), Length: stampSize, LKey: r.mr.LKey()})
}

// fetch reads the region of the recovery peer into the local buffer.
func (r *recovery) fetch(l *link) bool {
	f := r.f
	all := verbs.SGE{Addr: f.mr.Addr(), Length: uint32(f.mr.Len()), LKey: f.mr.LKey()}
	return r.postRead(l, all) && r.await(l, l.asked)
}

// postRead reads the beginning of the peer's region into to.
func (r *recovery) postRead(l *link, to verbs.SGE) bool {
	if l.err != nil {
		return false
	}
	r.ids++
	l.asked = readID | r.ids
	wr := verbs.SendWR{ID: l.asked, Op: verbs.OpRead, Flags: verbs.Signaled, RemoteAddr: l.current.addr,
		RKey: l.current.key, SGL: []verbs.SGE{to}}
	if err := l.qp.PostSend([]verbs.SendWR{wr}); err != nil {
		r.f.fail(l, err)
		return false
	}
	return true
}

// readID marks the requests of a recovery; those of writes are sequence numbers.
const readID = 1 << 63

// awaitAll waits until the last request to each of links is complete, or its peer has
// failed.
func (f *File) awaitAll(links []*link) {
	open := slices.Clone(links)
	for {
		open = slices.DeleteFunc(open, func(l *link) bool { return l.err != nil })
		if len(open) == 0 {
			return
		}
		cqs := make([]verbs.CQ, len(open))
		for i, l := range open {
			cqs[i] = l.cq
		}
		wcs := make([]verbs.WC, len(open))
		err := f.ch.Gather(cqs, wcs, f.cfg.CompletionTimeout)
		waiting := open[:0:0]
		for i, l := range open {
			f.wc[0] = wcs[i]
			if !f.succeeded(l, 1, err) || wcs[i].ID != l.asked {
				waiting = append(waiting, l)
			}
		}
		open = waiting
	}
}

// await waits for the completion of request id of a peer.
func (r *recovery) await(l *link, id uint64) bool {
	f := r.f
	for l.err == nil {
		n, err := l.cq.Wait(f.wc, f.cfg.CompletionTimeout)
		if f.succeeded(l, n, err) && f.wc[0].ID == id {
			return true
		}
	}
	return false
}
