package litmus

import (
	"errors"
	"time"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// probeID is the ID of a drain's requests: no label has it.
const probeID = 1 << 62

// probe is a Read posted after everything else on an end of a queue pair: its
// completion means that all earlier requests have arrived.
type probe struct {
	life *life
	qp   verbs.QP
	cq   verbs.CQ
	read verbs.SendWR
	done bool
}

// drain completes a run.
type drain struct {
	probes []*probe
	end    time.Duration // the deadline
	bad    bool          // a queue pair is not as it was before the run
}

// drain waits until everything that a run posted has arrived. It reports whether all
// queue pairs are as they were before, so that the next run can use them. A queue pair
// on which no Read succeeds may still have requests in flight; for those it waits some
// time.
//
// It sleeps while it waits, because software cards need the processor.
func (l *Live) drain() bool {
	now := l.hosts[0].Now
	d := &drain{end: now() + l.cfg.Patience}
	for _, q := range l.r.p.qps {
		for i := range q.ends {
			at, far := q.ends[i].host.idx, l.probes[q.ends[1-i].host.idx].mr
			x, own := l.r.lives[at][0], l.probes[at].mr
			p := &probe{life: x, qp: x.qp(q.idx), cq: x.cqs[q.ends[i].send.idx]}
			p.read = verbs.SendWR{ID: probeID, Op: verbs.OpRead, Flags: verbs.Signaled, RKey: far.RKey(), RemoteAddr: far.Addr(),
				SGL: []verbs.SGE{{Addr: own.Addr(), Length: 8, LKey: own.LKey()}}}
			d.probes = append(d.probes, p)
			l.post(d, p)
		}
	}
	for _, p := range d.probes {
		for !p.done && now() < d.end {
			l.take(d, p.life, p.cq, d.end-now())
		}
		d.bad = d.bad || !p.done
	}
	for end := now() + l.cfg.Patience/50; d.bad && len(d.probes) > 0 && now() < end; {
		l.take(d, d.probes[0].life, d.probes[0].cq, end-now())
	}
	for _, lives := range l.r.lives {
		for _, c := range lives[0].cqs {
			for c != nil && l.take(d, lives[0], c, 0) {
			}
		}
		d.bad = d.bad || lives[0].recvs.Load() != 0
	}
	return !d.bad
}

// post posts a probe. Polling completions makes room in a full queue.
func (l *Live) post(d *drain, p *probe) {
	err := verbs.ErrClosed
	for p.qp != nil {
		err = p.qp.PostSend([]verbs.SendWR{p.read})
		if !errors.Is(err, verbs.ErrQueueFull) || !l.take(d, p.life, p.cq, l.cfg.Patience/50) {
			break
		}
	}
	if err != nil {
		p.done, d.bad = true, true
	}
}

// take polls completions of a host, and returns false if none arrive in time.
func (l *Live) take(d *drain, x *life, c verbs.CQ, patience time.Duration) bool {
	var wcs [16]verbs.WC
	n, err := c.Wait(wcs[:], patience)
	if err != nil && !errors.Is(err, verbs.ErrTimeout) {
		d.bad = true
	}
	for _, wc := range wcs[:n] {
		switch {
		case wc.ID == probeID:
			d.bad = d.bad || wc.Status != verbs.StatusSuccess
			for _, p := range d.probes {
				p.done = p.done || p.life == x && p.qp.Num() == wc.QPNum
			}
		default:
			l.note(x, c, wc.ID)
			if l.r.p.labels[wc.ID].recv {
				x.recvs.Add(-1)
			}
		}
	}
	return n > 0
}

// note notes that a completion came after a thread of a host had stopped waiting for it: one for each.
func (l *Live) note(x *life, c verbs.CQ, id uint64) {
	for t, v := range l.r.vain {
		if v.cq != nil && !v.came && l.r.started[t] == x && x.cqs[v.cq.idx] == c && (v.label == nil || v.label.idx == int(id)) {
			l.r.vain[t].came = true
			return
		}
	}
}
