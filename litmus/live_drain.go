package litmus

import (
	"errors"
	"runtime"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// probeID is the number of the requests of a drain: no label has it.
const probeID = 1 << 62

// drain waits until all that a run posted has arrived: on each queue pair a Read
// behind it says so.
type drain struct {
	l     *Live
	todo  []verbs.QP        // that still have no room for a Read
	reads []verbs.SendWR    // theirs
	open  map[verbs.QP]bool // Reads under way
	bad   bool              // a queue pair is not as it was before the run
}

// drain ends a run. It reports whether all queue pairs are as they were before it,
// so that the next run can use them. A queue pair on which no Read gets through may
// still have sent something, so then it waits for a while.
func (l *Live) drain() bool {
	d := &drain{l: l, open: map[verbs.QP]bool{}}
	for _, q := range l.r.p.qps {
		for i := range q.ends {
			at, peer := q.ends[i].host.idx, q.ends[1-i].host.idx
			qp := l.r.lives[at][0].qp(q.idx)
			if qp == nil {
				d.bad = true
				continue
			}
			own, far := l.probes[at].mr, l.probes[peer].mr
			d.todo = append(d.todo, qp)
			d.reads = append(d.reads, verbs.SendWR{ID: probeID, Op: verbs.OpRead, Flags: verbs.Signaled, RKey: far.RKey(), RemoteAddr: far.Addr(),
				SGL: []verbs.SGE{{Addr: own.Addr(), Length: 8, LKey: own.LKey()}}})
		}
	}
	now := l.hosts[0].Now
	for end := now() + l.cfg.Patience; ; runtime.Gosched() {
		d.post()
		d.poll()
		if len(d.todo) == 0 && len(d.open) == 0 {
			break
		}
		if now() > end {
			d.bad = true
			break
		}
	}
	for end := now() + l.cfg.Patience/50; d.bad && now() < end; runtime.Gosched() {
		d.poll()
	}
	for _, lives := range l.r.lives {
		d.bad = d.bad || lives[0].recvs.Load() != 0
	}
	return !d.bad
}

// post posts what there is room for.
func (d *drain) post() {
	for i := 0; i < len(d.todo); {
		err := d.todo[i].PostSend(d.reads[i : i+1])
		if errors.Is(err, verbs.ErrQueueFull) {
			i++
			continue
		}
		if err == nil {
			d.open[d.todo[i]] = true
		} else {
			d.bad = true
		}
		d.todo = append(d.todo[:i], d.todo[i+1:]...)
		d.reads = append(d.reads[:i], d.reads[i+1:]...)
	}
}

// poll takes all completions that there are.
func (d *drain) poll() {
	var wcs [16]verbs.WC
	for _, lives := range d.l.r.lives {
		x := lives[0]
		for _, c := range x.cqs {
			if c == nil {
				continue
			}
			n, err := c.Poll(wcs[:])
			if err != nil {
				d.bad = true
			}
			for _, wc := range wcs[:n] {
				d.take(x, &wc)
			}
		}
	}
}

func (d *drain) take(x *life, wc *verbs.WC) {
	if wc.ID != probeID {
		if d.l.r.p.labels[wc.ID].recv {
			x.recvs.Add(-1)
		}
		return
	}
	for qp := range d.open { //lint:ordered one of them at most has the number
		if qp.Num() == wc.QPNum && x.has(qp) {
			delete(d.open, qp)
		}
	}
	d.bad = d.bad || wc.Status != verbs.StatusSuccess
}

// has reports whether a queue pair is one of the host's: numbers are a card's own.
func (l *life) has(qp verbs.QP) bool {
	for i := range l.qps {
		if l.qps[i].qp == qp {
			return true
		}
	}
	return false
}
