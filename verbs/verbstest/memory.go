package verbstest

import (
	"github.com/verbatim-rdma/verbatim/verbs"
)

func memoryCases() []testCase {
	return []testCase{
		{"dereg", 0, deregRevokes},
		{"dereg-local", 0, deregLocal},
		{"dereg-under-load", 0, deregUnderLoad},
		{"err-under-load", 0, errUnderLoad},
		{"access-under-load", 0, accessUnderLoad},
		{"other-pd-remote", 0, otherPDRemote},
		{"other-pd-local", 0, otherPDLocal},
		{"two-registrations", 0, twoRegistrations},
		{"fresh-keys", 0, freshKeys},
		{"rights-of-writing", 0, rightsOfWriting},
	}
}

// After the deregistration its key is invalid.
func deregRevokes(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	a.setWord(0, 1)
	wr := a.write(1, 0, 8, b, 0)
	a.done(wr)
	a.done(a.read(2, 8, 8, b, 0))
	t.on(b.host, func() { t.check(b.dereg()) })
	a.setWord(0, 2)
	wr.ID = 3
	a.post(wr)
	a.want(3, verbs.StatusRemAccessErr)
	if v := b.word(0); v != 1 {
		t.errorf("a Write got in after it was revoked: %d", v)
	}
}

// Nor does the card send from, or receive into, memory that is no longer registered.
func deregLocal(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	var mr verbs.MR
	t.on(a.host, func() {
		mr = must[verbs.MR](t)(a.pd.RegisterMR(a.mem, verbs.LocalWrite))
		t.check(mr.Dereg())
	})
	wr := a.write(1, 0, 8, b, 0)
	wr.SGL[0].LKey = mr.LKey()
	a.post(wr)
	a.want(1, verbs.StatusLocProtErr)
	a.failed()
}

// revoked writes to b while b revokes, and checks a's completions: successes, then want
// once, then flushes. Refused data is not in memory; accepted data may still arrive
// there.
func revoked(t *T, a, b *end, want verbs.Status, revoke func()) {
	const deep, most = 16, 400
	id, seen := uint64(0), uint64(0)
	failed, first := false, uint64(0) // the request that failed
	wr := a.write(0, 0, 8, b, 0)      // while b's registration is there
	round := func() {                 // keeps up to deep Writes under way and takes one completion
		var wrs []verbs.SendWR
		for ; !failed && id < seen+deep; id++ {
			off := int(id%deep) * 8
			a.mem.Store64(off, id+1)
			x := wr
			x.ID, x.RemoteAddr, x.SGL = id, wr.RemoteAddr+uint64(off), a.list(off, 8)
			wrs = append(wrs, x)
		}
		a.post(wrs...)
		wc := a.next(a.cq)
		switch {
		case wc.ID != seen:
			t.fatalf("completion %d, want %d", wc.ID, seen)
		case !failed && wc.Status == verbs.StatusSuccess:
		case !failed && wc.Status == want:
			failed, first = true, wc.ID
		case failed && wc.Status == verbs.StatusWRFlushErr:
		default:
			t.fatalf("completion %d with %v; the first in error should have %v, those behind it be flushed", wc.ID, wc.Status, want)
		}
		seen++
	}
	t.together(Task{b.host, revoke}, Task{a.host, func() {
		for seen < most && !failed {
			round()
		}
	}})
	t.on(a.host, func() { // by now it is revoked
		for !failed || seen < id {
			if round(); seen > most+2*deep && !failed {
				t.fatalf("Writes succeed although the access was revoked")
			}
		}
	})
	a.failed()
	t.on(b.host, func() {
		for i := range uint64(deep) {
			v := b.mem.Load64(int(8 * i))
			if v > id || v != 0 && (v-1)%deep != i || want != verbs.StatusRetryExcErr && v > first {
				t.fatalf("word %d is %d; request %d was the first that failed", i, v, first+1)
			}
		}
	})
}

func deregUnderLoad(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	revoked(t, a, b, verbs.StatusRemAccessErr, func() { t.check(b.dereg()) })
}

func errUnderLoad(t *T) {
	a, b := t.pair(verbs.QPConfig{RetryCount: 1})
	revoked(t, a, b, verbs.StatusRetryExcErr, func() { t.check(b.qp.Modify(verbs.QPAttr{SetState: true, State: verbs.StateErr})) })
}

func accessUnderLoad(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	revoked(t, a, b, verbs.StatusRemInvReqErr, func() {
		t.check(b.qp.Modify(verbs.QPAttr{Mask: verbs.AttrAccess, Access: verbs.RemoteRead}))
	})
}

// otherPD registers the end's memory in another protection domain.
func (e *end) otherPD() (mr verbs.MR) {
	e.t.on(e.host, func() {
		pd := must[verbs.PD](e.t)(e.dev.AllocPD())
		e.t.cleanup(e.host, pd.Dealloc)
		mr = must[verbs.MR](e.t)(pd.RegisterMR(e.mem, verbs.LocalWrite|allRemote))
		e.t.cleanup(e.host, mr.Dereg)
	})
	return mr
}

// A queue pair reaches only the memory of its own protection domain.
func otherPDRemote(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	wr := a.write(1, 0, 8, b, 0)
	wr.RKey = b.otherPD().RKey()
	a.post(wr)
	a.want(1, verbs.StatusRemAccessErr)
	b.failed()
}

func otherPDLocal(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	wr := a.write(1, 0, 8, b, 0)
	wr.SGL[0].LKey = a.otherPD().LKey()
	a.post(wr)
	a.want(1, verbs.StatusLocProtErr)
	a.failed()
}

// Memory registered twice has two keys, each with its own rights and lifetime.
func twoRegistrations(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	var ro verbs.MR
	t.on(b.host, func() { ro = must[verbs.MR](t)(b.pd.RegisterMR(b.mem, verbs.RemoteRead)) })
	t.cleanup(b.host, func() error { return ro.Dereg() })
	a.setWord(0, 5)
	a.done(a.write(1, 0, 8, b, 0))
	read := a.read(2, 8, 8, b, 0)
	t.on(b.host, func() { t.check(b.dereg()) })
	read.RKey = ro.RKey()
	a.done(read)
	if v := a.word(8); v != 5 {
		t.errorf("read %d, want 5", v)
	}
	read.Op, read.ID = verbs.OpWrite, 3
	a.post(read)
	a.want(3, verbs.StatusRemAccessErr)
}

// A new registration does not revive the key of an earlier one.
func freshKeys(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	old := a.write(1, 0, 8, b, 0)
	t.on(b.host, func() {
		t.check(b.dereg())
		b.mr = must[verbs.MR](t)(b.pd.RegisterMR(b.mem, verbs.LocalWrite|allRemote))
		if b.mr.RKey() == old.RKey {
			t.errorf("the new registration has the key of the old one")
		}
	})
	a.done(a.write(2, 0, 8, b, 0))
	a.post(old)
	a.want(1, verbs.StatusRemAccessErr)
}

// Remote write access requires local write access.
func rightsOfWriting(t *T) {
	a := t.newEnd(0, endConfig{})
	t.on(a.host, func() {
		for _, acc := range []verbs.Access{verbs.RemoteWrite, verbs.RemoteAtomic, verbs.RemoteWrite | verbs.RemoteRead} {
			mr, err := a.pd.RegisterMR(a.mem, acc)
			t.refused("remote writing without LocalWrite", err, verbs.ErrInvalid)
			if err == nil {
				t.check(mr.Dereg())
			}
		}
	})
}
