package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// cq is a completion queue. In late mode the queue holds only receives: those of earlier
// connections, and one that a channel has reported. Other completions are decided by a
// poll, or wait in qp.done. In eager mode the card fills the queue.
type cq struct {
	h     *Host
	ord   int
	ch    *channel
	qps   []*qp // send side
	rqps  []*qp // receive side
	queue []completion
	front front
	gone  bool
}

// front is the completion at the front of a CQ if it was decided before a poll: the next one of a
// queue pair's send or receive side. Nothing that completes later overtakes it. A poll by any task
// returns it, even after the channel reports another CQ, unless its queue pair has been reset or destroyed.
type front struct {
	q    *qp
	recv bool
}

// Destroy implements verbs.CQ.
func (c *cq) Destroy() error {
	c.h.w.guard()
	c.h.w.cur.pauseShared()
	if err := verbs.CheckDestroyCQ(c.gone, len(c.qps)+len(c.rqps)); err != nil && !c.h.w.dying() {
		return c.h.w.cur.refused(fmt.Errorf("sim: destroy CQ: %w", err))
	}
	c.gone = true
	c.h.makes(endedCQ, c.ord, 0)
	return nil
}

// maxVain bounds how many polls in a row of one task may find nothing although a completion
// is available. It covers code that gives up after fewer polls, and lets polling loops
// terminate. For code that polls longer, the verdict reports the bound (Stats.VainPolls).
const maxVain = 3

// Poll implements verbs.CQ. It may find nothing although a completion has arrived.
func (c *cq) Poll(wc []verbs.WC) (int, error) {
	w := c.h.w
	w.guard()
	t := w.cur
	if c.front.q != nil {
		t.pause() // the poll returns the completion that a channel reported
	} else {
		t.pauseLook()
	}
	if err := verbs.CheckRoom(wc); err != nil {
		return 0, fmt.Errorf("sim: poll: %w", err)
	}
	if c.gone {
		return 0, t.refused(fmt.Errorf("sim: poll: %w", verbs.ErrClosed))
	}
	if c.front.q != nil {
		c.touch()
		return c.take(t, wc), nil
	}
	if t.vain > 0 {
		t.wait(op{kind: opRun}) // a loop of polls that find nothing lets others run
	}
	c.touch()
	can := c.canComplete()
	if can && t.vain == maxVain {
		w.stats.VainPolls++
	}
	if !can || t.vain < maxVain && w.choose(ChooseCompletion, 2, func(i int) string { return pollNames[i] }) == 1 {
		t.obs.seeUint(4)
		t.looked = t.looked || t.vain == maxVain // this poll could not miss a completion, so it observed that there is none
		t.vain = min(t.vain+1, maxVain)
		return 0, nil
	}
	return c.take(t, wc), nil
}

var pollNames = [...]string{"something", "nothing yet"}

// Wait implements verbs.CQ.
func (c *cq) Wait(wc []verbs.WC, timeout time.Duration) (int, error) {
	w := c.h.w
	w.guard()
	t := w.cur
	if err := verbs.CheckRoom(wc); err != nil {
		return 0, fmt.Errorf("sim: wait: %w", err)
	}
	if c.gone {
		return 0, t.refused(fmt.Errorf("sim: wait: %w", verbs.ErrClosed))
	}
	if !t.wait(c.h.within(op{kind: opCQ, cq: c}, timeout)) {
		t.obs.seeUint(5)
		return 0, verbs.ErrTimeout
	}
	if c.gone { // another task destroyed it, before the wait or meanwhile
		return 0, t.refused(fmt.Errorf("sim: wait: %w", verbs.ErrClosed))
	}
	c.touch()
	return c.take(t, wc), nil
}

// take delivers completions: one and, if there is room for more, any number of those that may be available by now.
func (c *cq) take(t *task, wc []verbs.WC) int {
	t.vain = 0
	n := 0
	for more := true; more; more = n < len(wc) && c.another() {
		t.obs.see(c.takeOne(&wc[n]))
		n++
	}
	if len(wc) > 1 {
		t.obs.seeUint(uint64(n))
	}
	return n
}

// another decides whether one more completion is available. If one was decided before, it certainly is.
func (c *cq) another() bool {
	c.touch()
	return c.canComplete() && c.h.w.machine.more(c)
}

func (m *late) more(c *cq) bool {
	kept := slices.ContainsFunc(c.qps, func(q *qp) bool { return len(q.done) > 0 && !q.gone }) ||
		slices.ContainsFunc(c.rqps, func(q *qp) bool { return (q.misfitted || q.inCQ() >= 0) && !q.gone })
	return kept || m.w.choose(ChooseCompletion, 2, func(i int) string { return moreNames[i] }) == 1
}

var moreNames = [...]string{"no more yet", "one more"}

// takeOne delivers one completion and returns what the task observed.
func (c *cq) takeOne(wc *verbs.WC) (tag int, v print) {
	w := c.h.w
	w.cur.looked = true
	x := w.machine.next(c)
	c.front = front{}
	*wc = x.wc
	q := w.qpByNum(c.h, wc.QPNum)
	q.polled(&x)
	if w.tracer != nil {
		what := "a completion"
		if wc.Status == verbs.StatusSuccess {
			what = wc.Op.String()
		}
		w.trace(c.h, "completion", "sees %s of %s: %v", what, q.name(), wc.Status)
	}
	return q.remoteSym(), q.wcPrint(&x)
}

func (c *cq) canComplete() bool { return c.h.w.machine.has(c) }

func (m *late) has(c *cq) bool {
	var buf [24]outcome
	return len(c.outcomes(buf[:0])) > 0
}

// next decides which completion comes next.
func (m *late) next(c *cq) completion {
	w := m.w
	var buf [24]outcome
	o := c.outcomes(buf[:0])
	if f := c.front; f.q != nil {
		o = slices.DeleteFunc(o, func(x outcome) bool { return x.side() != f })
	}
	x := o[w.choose(ChooseCompletion, len(o), func(i int) string { return o[i].name() })]
	done := completion{wr: x.wr, recv: x.recv}
	w.complete(x, &done.wc)
	return done
}

// keeps decides which completion is at the front.
func (m *late) keeps(c *cq) {
	var buf [24]outcome
	o := c.outcomes(buf[:0])
	x := o[m.w.choose(ChooseCompletion, len(o), func(i int) string { return o[i].name() })]
	c.front = x.side()
	switch {
	case x.kept:
	case !x.recv:
		x.q.decided(x)
	default:
		c.queue = append(c.queue, c.keep(x))
	}
}

func (o outcome) side() front { return front{o.q, o.recv} }

// outcomes lists the completions that may come next.
func (c *cq) outcomes(o []outcome) []outcome {
	for _, q := range c.qps {
		o = q.sendOutcomes(o)
	}
	for _, q := range c.rqps {
		o = q.recvOutcomes(o)
	}
	return c.inOrder(o)
}

// touch records the objects that a look at the CQ depends on.
func (c *cq) touch() {
	for _, qs := range [2][]*qp{c.qps, c.rqps} {
		for _, q := range qs {
			q.touch(Write)
			q.touchMedia()
		}
	}
}

// channel waits for several CQs.
type channel struct {
	h    *Host
	ord  int
	cqs  []*cq
	gone bool
}

// Destroy implements verbs.CompChannel.
func (ch *channel) Destroy() error {
	ch.h.w.guard()
	if ch.h.w.dying() {
		return nil
	}
	ch.h.w.cur.pauseShared()
	left := 0
	for _, c := range ch.cqs {
		left += boolInt(!c.gone)
	}
	if err := verbs.CheckDestroyChannel(ch.gone, left); err != nil {
		return ch.h.w.cur.refused(fmt.Errorf("sim: destroy a channel: %w", err))
	}
	ch.gone = true
	ch.h.makes(endedChannel, ch.ord, 0)
	return nil
}

func (ch *channel) canComplete() bool {
	for _, c := range ch.cqs {
		if !c.gone && c.canComplete() {
			return true
		}
	}
	return false
}

// Wait implements verbs.CompChannel: it returns any CQ that may have a completion, and
// decides which one a poll of the CQ returns.
func (ch *channel) Wait(timeout time.Duration) (verbs.CQ, error) {
	w := ch.h.w
	w.guard()
	t := w.cur
	if !t.wait(ch.h.within(op{kind: opChan, ch: ch}, timeout)) {
		t.obs.seeUint(6)
		return nil, verbs.ErrTimeout
	}
	if ch.gone {
		return nil, t.refused(fmt.Errorf("sim: wait for a channel: %w", verbs.ErrClosed))
	}
	var can [24]*cq
	c := can[:0]
	for _, q := range ch.cqs {
		q.touch()
		if !q.gone && q.canComplete() {
			c = append(c, q)
		}
	}
	i := w.choose(ChooseCompletion, len(c), func(i int) string { return c[i].name() })
	t.obs.see(c[i].remoteSym(), print{}.Int(8).Int(c[i].place(ch)))
	if c[i].front.q == nil {
		w.machine.keeps(c[i])
	}
	t.dirty = false
	return c[i], nil
}

// Gather implements verbs.CompChannel. The completion of each CQ is decided separately.
func (ch *channel) Gather(cqs []verbs.CQ, wc []verbs.WC, timeout time.Duration) error {
	w := ch.h.w
	w.guard()
	t := w.cur
	if err := verbs.CheckGather(cqs, wc, ch.has); err != nil {
		return fmt.Errorf("sim: gather: %w", err)
	}
	if len(cqs) == 0 {
		return nil
	}
	if !t.wait(ch.h.within(op{kind: opAll, cqs: cqs}, timeout)) {
		t.obs.seeUint(9)
		return verbs.ErrTimeout
	}
	if anyGone(cqs) {
		return t.refused(fmt.Errorf("sim: gather: %w", verbs.ErrClosed))
	}
	t.vain = 0
	t.obs.seeAll(len(cqs), func(i int) (int, print, bool) {
		c := cqs[i].(*cq)
		c.touch()
		tag, v := c.takeOne(&wc[i])
		return tag, v, true
	})
	return nil
}

// has reports whether c belongs to the channel.
func (ch *channel) has(c verbs.CQ) bool {
	q, ok := c.(*cq)
	return ok && q.ch == ch
}

func anyGone(cqs []verbs.CQ) bool {
	return slices.ContainsFunc(cqs, func(c verbs.CQ) bool { return c.(*cq).gone })
}

func allComplete(cqs []verbs.CQ) bool {
	for _, c := range cqs {
		if !c.(*cq).canComplete() {
			return false
		}
	}
	return true
}

func (c *cq) name() string {
	for _, q := range c.qps {
		return q.name()
	}
	for _, q := range c.rqps {
		return q.name()
	}
	return "CQ"
}

// remoteSym returns the interchangeable host that all of the CQ's QPs lead to, or -1.
func (c *cq) remoteSym() int {
	sym := -2
	for _, qs := range [2][]*qp{c.qps, c.rqps} {
		for _, q := range qs {
			if s := q.remoteSym(); sym == -2 || sym == s {
				sym = s
			} else {
				return -1
			}
		}
	}
	return max(sym, -1)
}

// place identifies c among the CQs of its channel: by its index or, if it leads to an
// interchangeable host, by how many earlier CQs lead there.
func (c *cq) place(ch *channel) int {
	sym, n := c.remoteSym(), 0
	for i, x := range ch.cqs {
		switch {
		case x == c && sym < 0:
			return i
		case x == c:
			return n
		case sym >= 0 && x.remoteSym() == sym:
			n++
		}
	}
	return n
}
