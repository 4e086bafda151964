package verbstest

import (
	"github.com/verbatim-rdma/verbatim/verbs"
)

func cutCases() []testCase {
	return []testCase{
		{"gives-up", 0, cutGivesUp},
		{"prefix-or-nothing", 0, cutMidway},
		{"heals", 0, cutHeals},
		{"one-pair-only", 3, cutOnePair},
		{"connects-after", 0, connectsAfterCut},
	}
}

// cut cuts a link and heals it at the end, or skips the case.
func (t *T) cut(i, j int) {
	t.can(t.site.Cut(i, j))
	t.undo = append(t.undo, func() { t.check(t.site.Heal(i, j)) })
}

// Across a cut nothing answers, and the requester gives up after its retries.
func cutGivesUp(t *T) {
	a, b := t.pair(verbs.QPConfig{RetryCount: 1})
	a.setWord(0, 1)
	a.done(a.write(1, 0, 8, b, 0))
	a.done(a.read(1, 8, 8, b, 0)) // it is in memory
	t.cut(0, 1)
	a.setWord(0, 2)
	a.post(a.write(2, 0, 8, b, 0), a.read(3, 8, 8, b, 0), a.add(4, 8, b, 64, 1))
	a.want(2, verbs.StatusRetryExcErr)
	a.want(3, verbs.StatusWRFlushErr)
	a.want(4, verbs.StatusWRFlushErr)
	a.failed()
	if v, w := b.word(0), b.word(64); v != 1 || w != 0 {
		t.errorf("behind the cut memory changed to %d and %d", v, w)
	}
	if s := b.state(); s != verbs.StateRTS {
		t.errorf("the responder, which received nothing, is in %v", s)
	}
}

// After Writes that a cut interrupts, each word is the old or the new one, and
// acknowledged ones are there.
func cutMidway(t *T) {
	const words = 1024
	a, b := t.pair(verbs.QPConfig{RetryCount: 1})
	t.on(a.host, func() {
		for i := range words {
			a.mem.Store64(8*i, uint64(i)+1)
		}
	})
	a.done(a.write(1, 0, 8*words, b, 0))
	a.done(a.read(2, 16<<10, 8*words, b, 0))
	t.on(a.host, func() {
		for i := range words {
			a.mem.Store64(8*i, uint64(i)+1+words)
		}
	})
	a.post(a.write(3, 0, 8*words, b, 0))
	t.cut(0, 1)
	wc := a.next(a.cq)
	if wc.ID != 3 || wc.Status != verbs.StatusSuccess && wc.Status != verbs.StatusRetryExcErr {
		t.fatalf("completion %+v", wc)
	}
	t.on(b.host, func() {
		for i := range words {
			if v := b.mem.Load64(8 * i); v != uint64(i)+1 && v != uint64(i)+1+words {
				t.fatalf("word %d is %d, neither old nor new", i, v)
			}
		}
	})
}

// A cut that heals in time only costs time; otherwise the request fails.
func cutHeals(t *T) {
	a, b := t.pair(verbs.QPConfig{RetryCount: 7})
	t.cut(0, 1)
	a.setWord(0, 2)
	a.post(a.write(1, 0, 8, b, 0), a.read(2, 8, 8, b, 0))
	t.check(t.site.Heal(0, 1))
	wc := a.next(a.cq)
	if wc.ID == 1 && wc.Status == verbs.StatusRetryExcErr {
		t.notef("it gave up before the cut was healed")
		a.want(2, verbs.StatusWRFlushErr)
		return
	}
	if wc.ID != 1 || wc.Status != verbs.StatusSuccess {
		t.fatalf("completion %+v", wc)
	}
	wc = a.next(a.cq)
	if v := a.word(8); wc.ID != 2 || wc.Status == verbs.StatusSuccess && v != 2 {
		t.errorf("completion %+v, and read %d", wc, v)
	}
}

// A cut is between two hosts; others reach both.
func cutOnePair(t *T) {
	a, b := t.link(0, 2, endConfig{})
	c, d := t.link(1, 2, endConfig{})
	t.cut(0, 1)
	a.done(a.write(1, 0, 8, b, 0))
	c.done(c.write(2, 0, 8, d, 0))
	d.done(d.read(3, 0, 8, c, 0))
}

// After the cut has healed new connections can be made.
func connectsAfterCut(t *T) {
	a, b := t.pair(verbs.QPConfig{RetryCount: 1})
	t.cut(0, 1)
	a.post(a.write(1, 0, 8, b, 0))
	a.want(1, verbs.StatusRetryExcErr)
	t.check(t.site.Heal(0, 1))
	c, d := t.pair(verbs.QPConfig{})
	c.done(c.write(2, 0, 8, d, 0))
	d.done(d.write(3, 0, 8, c, 0))
}
