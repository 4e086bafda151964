package verbstest

import (
	"time"

	"github.com/verbatim-rdma/verbatim/verbs"
)

func waitCases() []testCase {
	return []testCase{
		{"times-out", 0, waitTimesOut},
		{"no-room", 0, waitNoRoom},
		{"channel", 0, channelWait},
		{"gather", 0, gather},
		{"gather-refuses", 0, gatherRefuses},
		{"together", 0, waitTogether},
		{"one-each", 0, waitOneEach},
		{"shared-cq", 0, sharedCQ},
		{"send-and-receive-cq", 0, oneCQ},
	}
}

// channelRig returns a channel on host 0 with n connections from there to host 1.
func channelRig(t *T, n int) (ch verbs.CompChannel, from, to []*end) {
	t.on(0, func() { ch = must[verbs.CompChannel](t)(t.site.Host(0).Device().CreateCompChannel()) })
	t.cleanup(0, func() error { return ch.Destroy() })
	for range n {
		a, b := t.link(0, 1, endConfig{ch: ch})
		from, to = append(from, a), append(to, b)
	}
	return ch, from, to
}

func waitTimesOut(t *T) {
	ch, from, _ := channelRig(t, 1)
	t.on(0, func() {
		wc := make([]verbs.WC, 1)
		for _, d := range []time.Duration{0, time.Millisecond} {
			_, err := from[0].cq.Wait(wc, d)
			t.refused("Wait of a CQ", err, verbs.ErrTimeout)
			_, err = ch.Wait(d)
			t.refused("Wait of a channel", err, verbs.ErrTimeout)
			t.refused("Gather", ch.Gather([]verbs.CQ{from[0].cq}, wc, d), verbs.ErrTimeout)
		}
	})
}

// Polling or waiting for no completions is an error.
func waitNoRoom(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	a.post(a.write(1, 0, 8, b, 0))
	t.on(a.host, func() {
		_, err := a.cq.Poll(nil)
		t.refused("Poll", err, verbs.ErrInvalid)
		_, err = a.cq.Wait(nil, moment)
		t.refused("Wait", err, verbs.ErrInvalid)
	})
	a.want(1, verbs.StatusSuccess)
}

// A channel names each CQ that has completions, and no other.
func channelWait(t *T) {
	ch, from, to := channelRig(t, 3)
	for round := range uint64(5) {
		for i := range from {
			from[i].post(from[i].write(round, 0, 8, to[i], 0))
		}
		t.on(0, func() {
			var seen []verbs.CQ
			for range from {
				q, err := ch.Wait(patience)
				t.check(err)
				wc := make([]verbs.WC, 2)
				if n, err := q.Poll(wc); n != 1 || err != nil || wc[0].ID != round || wc[0].Status != verbs.StatusSuccess {
					t.fatalf("round %d: %d completions, %v, %+v", round, n, err, wc[0])
				}
				for _, s := range seen {
					if s == q {
						t.fatalf("round %d: a CQ was named twice for one completion", round)
					}
				}
				seen = append(seen, q)
			}
		})
	}
}

// Gather consumes one completion of each, or none.
func gather(t *T) {
	ch, from, to := channelRig(t, 3)
	cqs := []verbs.CQ{from[2].cq, from[0].cq}
	wc := make([]verbs.WC, 2)
	from[0].post(from[0].write(10, 0, 8, to[0], 0), from[0].write(11, 0, 8, to[0], 0))
	t.on(0, func() { t.refused("Gather of a CQ that has nothing", ch.Gather(cqs, wc, moment), verbs.ErrTimeout) })
	from[2].post(from[2].write(20, 0, 8, to[2], 0))
	t.on(0, func() {
		if err := ch.Gather(cqs, wc, patience); err != nil || wc[0].ID != 20 || wc[1].ID != 10 {
			t.errorf("gathered %+v, %v", wc, err)
		}
	})
	from[0].want(11, verbs.StatusSuccess)
}

func gatherRefuses(t *T) {
	ch, from, _ := channelRig(t, 2)
	cqs := []verbs.CQ{from[0].cq, from[1].cq}
	t.on(0, func() {
		wc := make([]verbs.WC, 2)
		t.refused("a CQ of no channel", ch.Gather([]verbs.CQ{from[0].rcq}, wc, moment), verbs.ErrInvalid)
		t.refused("a CQ twice", ch.Gather([]verbs.CQ{cqs[0], cqs[0]}, wc, moment), verbs.ErrInvalid)
		t.refused("no room", ch.Gather(cqs, wc[:1], moment), verbs.ErrInvalid)
		t.check(ch.Gather(nil, nil, moment))
	})
}

// Tasks that wait on CQs of one channel each get their own completions.
func waitTogether(t *T) {
	_, from, to := channelRig(t, 3)
	var tasks []Task
	for i, e := range from {
		tasks = append(tasks, Task{0, func() {
			for r := range uint64(20) {
				e.done(e.write(100*uint64(i)+r, 0, 8, to[i], 0))
			}
		}})
	}
	t.together(tasks...)
}

// Of tasks that wait on one CQ, each gets one of as many completions, though these come
// together, and an event need not wake all.
func waitOneEach(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	var wrs []verbs.SendWR
	var tasks []Task
	got := make([]verbs.WC, 6)
	for i := range got {
		wrs = append(wrs, a.write(uint64(i), 0, 8, b, 0))
		tasks = append(tasks, Task{a.host, func() {
			if n, err := a.cq.Wait(got[i:i+1], patience); n != 1 || err != nil {
				t.errorf("task %d has %d completions, %v", i, n, err)
			}
		}})
	}
	t.together(append(tasks, Task{a.host, func() { t.check(a.qp.PostSend(wrs)) }})...)
	seen := make([]bool, len(got))
	for _, wc := range got {
		if seen[wc.ID] || wc.Status != verbs.StatusSuccess {
			t.errorf("a completion twice, or a failed one: %+v", wc)
		}
		seen[wc.ID] = true
	}
}

// Queue pairs that share a CQ each report in order.
func sharedCQ(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	c, d := t.newEnd(0, endConfig{}), t.newEnd(1, endConfig{})
	t.on(0, func() {
		t.check(c.destroy())
		c.prepared = must[verbs.PreparedQP](t)(c.pd.CreateQP(verbs.QPConfig{SendCQ: a.cq, RecvCQ: c.rcq, Access: allRemote}))
	})
	t.connect(c, d)
	const n = 20
	for i := range uint64(n) {
		a.post(a.write(i, 0, 8, b, 0))
		c.post(c.write(1000+i, 0, 8, d, 0))
	}
	next := []uint64{0, 1000}
	for range 2 * n {
		wc := a.next(a.cq)
		k, e := 0, a
		if wc.ID >= 1000 {
			k, e = 1, c
		}
		if wc.ID != next[k] || wc.QPNum != e.qp.Num() || wc.Status != verbs.StatusSuccess {
			t.fatalf("completion %+v, want %d of QP %d", wc, next[k], e.qp.Num())
		}
		next[k]++
	}
	t.on(0, func() { t.check(c.destroy()) }) // before a's CQ
}

// One CQ can serve a send queue and a receive queue.
func oneCQ(t *T) {
	c, d := t.newEnd(0, endConfig{}), t.newEnd(1, endConfig{})
	t.on(0, func() {
		t.check(c.destroy())
		c.prepared = must[verbs.PreparedQP](t)(c.pd.CreateQP(verbs.QPConfig{SendCQ: c.cq, RecvCQ: c.cq, Access: allRemote}))
	})
	t.connect(c, d)
	c.recv(verbs.RecvWR{ID: 1, SGL: c.list(64, 8)})
	c.post(c.write(2, 0, 8, d, 0))
	d.post(d.send(3, 0, 8))
	sum := uint64(0)
	for range 2 {
		wc := c.next(c.cq)
		if wc.Status != verbs.StatusSuccess || (wc.ID == 1) != (wc.Op == verbs.WCRecv) || (wc.ID == 2) != (wc.Op == verbs.WCWrite) {
			t.errorf("completion %+v", wc)
		}
		sum += wc.ID
	}
	if sum != 3 {
		t.errorf("the completions are not 1 and 2")
	}
}
