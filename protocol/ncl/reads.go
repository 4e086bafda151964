package ncl

import "github.com/verbatim-rdma/verbatim/verbs"

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

// awaitAll waits until the last request to each of the links that were asked is
// complete, or its peer has failed.
func (r *recovery) awaitAll(asked []bool) {
	f := r.f
	open := append([]bool(nil), asked...)
	for {
		var cqs []verbs.CQ
		var links []*link
		for i, l := range f.links {
			if open[i] && l.err == nil {
				cqs, links = append(cqs, l.cq), append(links, l)
			}
		}
		if len(links) == 0 {
			return
		}
		wcs := make([]verbs.WC, len(links))
		err := f.ch.Gather(cqs, wcs, f.cfg.CompletionTimeout)
		for i, l := range links {
			f.wc[0] = wcs[i]
			if f.succeeded(l, 1, err) && wcs[i].ID == l.asked {
				open[f.linkOf(l.cq)] = false
			}
		}
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
