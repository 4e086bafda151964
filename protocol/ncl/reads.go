package ncl

import "github.com/verbatim-rdma/verbatim/verbs"

// The reads of a recovery from the peers' regions.

// postStampRead reads the stamp of link i into its word of the scratch region.
func (r *recovery) postStampRead(i int, l *link) bool {
	return r.postRead(l, r.scratch.SGE(stampSize*i, stampSize))
}

// fetch reads the region of the recovery peer into the local buffer.
func (r *recovery) fetch(l *link) bool {
	f := r.f
	return r.postRead(l, f.buf.SGE(0, stampSize+f.entry.size)) && f.group.Await(l, l.Asked)
}

// postRead reads the beginning of the peer's region into to.
func (r *recovery) postRead(l *link, to verbs.SGE) bool {
	if l.Err != nil {
		return false
	}
	r.ids++
	from := current(l)
	r.f.group.Room(l, 1)
	return r.f.group.Post(l, []verbs.SendWR{{ID: readID | r.ids, Op: verbs.OpRead, Flags: verbs.Signaled,
		RemoteAddr: from.Addr, RKey: from.RKey, SGL: []verbs.SGE{to}}})
}

// readID marks the requests of a recovery; those of writes are sequence numbers.
const readID = 1 << 63
