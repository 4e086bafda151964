package sim

import "github.com/verbatim-rdma/verbatim/verbs"

// How a Send meets its receive: the k-th that needs one takes the k-th that was
// posted, so what comes of it is known before either side has its completion.

// fits says what comes of request s, of q's peer, if it meets rw: what the requester
// learns and what the receive says, or success twice.
func (q *qp) fits(rw *verbs.RecvWR, s *sqEntry) (here, there verbs.Status) {
	if s.op == verbs.OpWriteImm {
		return verbs.StatusSuccess, verbs.StatusSuccess
	}
	if s.length > rw.Length() {
		return verbs.StatusRemInvReqErr, verbs.StatusLocLenErr
	}
	left := s.length
	for _, x := range rw.SGL {
		if left <= 0 {
			break
		}
		if _, _, ok := q.pd.sge(x, true); !ok {
			return verbs.StatusRemOpErr, verbs.StatusLocProtErr
		}
		left -= int(x.Length)
	}
	return verbs.StatusSuccess, verbs.StatusSuccess
}

// meeting is the receive that request i will meet, or nil if it takes none or there
// is none yet.
func (q *qp) meeting(i int) *verbs.RecvWR {
	p, s := q.peer, q.ent(i)
	if p == nil || s.recv || !s.op.ConsumesRecv() || p.state < verbs.StateRTR || p.state == verbs.StateErr {
		return nil
	}
	k := 0
	for j := max(p.recvNext, q.base); j < i; j++ {
		if x := q.ent(j); x.op.ConsumesRecv() && !x.recv {
			k++
		}
	}
	if k >= len(p.rq) {
		return nil
	}
	return &p.rq[k]
}

// misfit is what the requester learns if request i meets a receive that cannot take it.
func (q *qp) misfit(i int) verbs.Status {
	rw := q.meeting(i)
	if rw == nil {
		return verbs.StatusSuccess
	}
	here, _ := q.peer.fits(rw, q.ent(i))
	return here
}

// refusal is the answer of a responder that does not execute request i.
func (q *qp) refusal(i int) verbs.Status {
	if nak := q.ent(i).nak; nak != verbs.StatusSuccess {
		return nak
	}
	return q.misfit(i)
}

// blame notes for the receive that request i has met in vain what it has to say.
func (q *qp) blame(i int) {
	if rw := q.meeting(i); rw != nil {
		q.w.touch(object(objKeys, q.remoteNode(), 0), Read)
		_, q.ent(i).fault = q.peer.fits(rw, q.ent(i))
	}
}

// owed is what the next receive of a queue pair in ERR says: what its requester was
// told of has happened, and all else is flushed.
func (q *qp) owed() verbs.Status {
	if p := q.peer; p != nil {
		for i := max(q.recvNext, p.base); i < p.posted; i++ {
			s := p.ent(i)
			switch {
			case !s.op.ConsumesRecv() || s.recv:
			case s.done:
				return verbs.StatusSuccess
			case s.fault != verbs.StatusSuccess:
				return s.fault
			default:
				return verbs.StatusWRFlushErr
			}
		}
	}
	return verbs.StatusWRFlushErr
}

// receive copies the payload of a Send into the receive's scatter list.
func (w *World) receive(q *qp, rw *verbs.RecvWR, s *sqEntry) {
	var all []byte
	for _, e := range s.payload {
		all = append(all, e.data...)
	}
	for _, x := range rw.SGL {
		if len(all) == 0 {
			return
		}
		r, off, _ := q.pd.sge(x, true)
		n := min(int(x.Length), len(all))
		w.beforeWrite(r, off, n, nil)
		w.pokeBy(r, off, all[:n], true)
		all = all[n:]
	}
}
