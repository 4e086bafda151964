//go:build rdma

package hw

import (
	"errors"
	"testing"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// TestStatuses provokes each error that two ends can provoke of each other.
func TestStatuses(t *testing.T) {
	for _, tt := range []struct {
		name   string
		cfg    verbs.QPConfig
		before func(a, b *end)
		wr     func(a, b *end) verbs.SendWR
		want   verbs.Status
		rxe    verbs.Status // what Soft-RoCE says instead, if it is something else
		// orRefused: some drivers refuse to post it.
		orRefused bool
	}{
		{"wrong rkey", verbs.QPConfig{}, nil, func(a, b *end) verbs.SendWR {
			return verbs.SendWR{Op: verbs.OpWrite, RKey: b.mr.RKey() ^ 0x5500, RemoteAddr: b.at(0), SGL: a.list(0, 8)}
		}, verbs.StatusRemAccessErr, 0, false},
		{"outside the region", verbs.QPConfig{}, nil, func(a, b *end) verbs.SendWR {
			return verbs.SendWR{Op: verbs.OpWrite, RKey: b.mr.RKey(), RemoteAddr: b.at(memSize - 4), SGL: a.list(0, 8)}
		}, verbs.StatusRemAccessErr, 0, false},
		{"wrong lkey", verbs.QPConfig{}, nil, func(a, b *end) verbs.SendWR {
			bad := a.sge(0, 8)
			bad.LKey ^= 0x5500
			return verbs.SendWR{Op: verbs.OpWrite, RKey: b.mr.RKey(), RemoteAddr: b.at(0), SGL: []verbs.SGE{bad}}
		}, verbs.StatusLocProtErr, verbs.StatusLocQPOpErr, false},
		{"misaligned atomic", verbs.QPConfig{}, nil, func(a, b *end) verbs.SendWR {
			return verbs.SendWR{Op: verbs.OpFetchAdd, RKey: b.mr.RKey(), RemoteAddr: b.at(4), SGL: a.list(0, 8)}
		}, verbs.StatusRemInvReqErr, 0, true},
		{"no receive", verbs.QPConfig{RNRRetry: 1}, nil, func(a, b *end) verbs.SendWR {
			return verbs.SendWR{Op: verbs.OpSend, SGL: a.list(0, 8)}
		}, verbs.StatusRNRRetryExcErr, 0, false},
		{"peer destroyed", verbs.QPConfig{}, func(a, b *end) { b.destroy() }, func(a, b *end) verbs.SendWR {
			return verbs.SendWR{Op: verbs.OpWrite, RKey: b.mr.RKey(), RemoteAddr: b.at(0), SGL: a.list(0, 8)}
		}, verbs.StatusRetryExcErr, 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, b := pair(t, tt.cfg)
			if tt.before != nil {
				tt.before(a, b)
			}
			wr := tt.wr(a, b)
			wr.ID, wr.Flags = 5, verbs.Signaled
			err := a.qp.PostSend([]verbs.SendWR{wr})
			if tt.orRefused && errors.Is(err, verbs.ErrInvalid) {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			wc := a.next()
			if wc.ID != 5 || wc.Status != tt.want && wc.Status != tt.rxe {
				t.Fatalf("completion %+v, want %v", wc, tt.want)
			}
			wantError(t, wc.Err(), verbs.ErrCompletion)
			if s := a.qp.State(); s != verbs.StateErr {
				t.Errorf("the QP is in %v", s)
			}
			// In ERR requests are taken, and flushed.
			a.post(verbs.SendWR{ID: 6, Op: verbs.OpWrite, RKey: 1, RemoteAddr: 8, SGL: a.list(0, 8)})
			a.want(6, verbs.StatusWRFlushErr)
		})
	}
}

// A receive that is too small fails on both sides.
func TestShortReceive(t *testing.T) {
	a, b := pair(t, verbs.QPConfig{})
	if err := b.qp.PostRecv([]verbs.RecvWR{{ID: 1, SGL: b.list(0, 4)}}); err != nil {
		t.Fatal(err)
	}
	a.post(verbs.SendWR{ID: 2, Op: verbs.OpSend, Flags: verbs.Signaled, SGL: a.list(0, 8)})
	if s := a.next().Status; s != verbs.StatusRemInvReqErr && s != verbs.StatusRemOpErr {
		t.Errorf("the sender sees %v", s)
	}
	// The specification has LOC_LEN_ERR; Soft-RoCE says something else.
	if wc := b.next(); wc.ID != 1 || wc.Status != verbs.StatusLocLenErr && wc.Status != verbs.StatusLocQPOpErr {
		t.Errorf("the receiver sees %+v", wc)
	}
}

// TestRevocation: each way in which a responder can shut a requester out.
func TestRevocation(t *testing.T) {
	modify := func(a verbs.QPAttr) func(*end) error { return func(b *end) error { return b.qp.Modify(a) } }
	for _, tt := range []struct {
		name   string
		revoke func(b *end) error
		want   verbs.Status
	}{
		{"deregister", func(b *end) error { b.dereg(); return nil }, verbs.StatusRemAccessErr},
		{"modify to ERR", modify(verbs.QPAttr{SetState: true, State: verbs.StateErr}), verbs.StatusRetryExcErr},
		{"modify to RESET", modify(verbs.QPAttr{SetState: true, State: verbs.StateReset}), verbs.StatusRetryExcErr},
		{"take access away", modify(verbs.QPAttr{Mask: verbs.AttrAccess, Access: verbs.RemoteRead}), verbs.StatusRemInvReqErr},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, b := pair(t, verbs.QPConfig{RetryCount: 1})
			wr := verbs.SendWR{ID: 1, Op: verbs.OpWrite, Flags: verbs.Signaled, RKey: b.mr.RKey(), RemoteAddr: b.at(0), SGL: a.list(0, 8)}
			fill(a.mem.Bytes()[:8], 1)
			a.post(wr)
			a.want(1, verbs.StatusSuccess)
			if err := tt.revoke(b); err != nil {
				t.Fatal(err)
			}
			fill(a.mem.Bytes()[:8], 99)
			wr.ID = 2
			a.post(wr)
			a.want(2, tt.want)
			if b.mem.Bytes()[0] != 1 {
				t.Error("a Write got in after it was revoked")
			}
		})
	}
}

// A QP that was in ERR can be reset and brought up again.
func TestResetAndReconnect(t *testing.T) {
	a, b := pair(t, verbs.QPConfig{RetryCount: 1})
	a.post(verbs.SendWR{ID: 1, Op: verbs.OpWrite, Flags: verbs.Signaled, RKey: 1, RemoteAddr: 1, SGL: a.list(0, 8)})
	a.want(1, verbs.StatusRemAccessErr)
	for _, e := range []*end{a, b} {
		for _, s := range []verbs.QPState{verbs.StateReset, verbs.StateInit, verbs.StateRTR, verbs.StateRTS} {
			mask := verbs.Attr(0)
			for _, tr := range verbs.Transitions {
				if tr.To == s && tr.From == e.qp.State() {
					mask = tr.Required
				}
			}
			if err := e.qp.Modify(verbs.QPAttr{SetState: true, State: s, Mask: mask, Access: verbs.RemoteWrite}); err != nil {
				t.Fatal(err)
			}
		}
	}
	a.post(verbs.SendWR{ID: 2, Op: verbs.OpWrite, Flags: verbs.Signaled, RKey: b.mr.RKey(), RemoteAddr: b.at(0), SGL: a.list(0, 8)})
	a.want(2, verbs.StatusSuccess)
}

func TestPostErrors(t *testing.T) {
	a, b := pair(t, verbs.QPConfig{MaxSendWR: 8, MaxSGE: 2})
	good := verbs.SendWR{ID: 1, Op: verbs.OpWrite, Flags: verbs.Signaled, RKey: b.mr.RKey(), RemoteAddr: b.at(0), SGL: a.list(0, 8)}
	bad := func(f func(wr *verbs.SendWR)) verbs.SendWR {
		wr := good
		f(&wr)
		return wr
	}
	for _, tt := range []struct {
		name string
		wr   verbs.SendWR
		want error
	}{
		{"opcode", bad(func(wr *verbs.SendWR) { wr.Op = 99 }), verbs.ErrInvalid},
		{"flags", bad(func(wr *verbs.SendWR) { wr.Flags = 0x80 }), verbs.ErrInvalid},
		{"SGEs", bad(func(wr *verbs.SendWR) { wr.SGL = make([]verbs.SGE, 3) }), verbs.ErrInvalid},
		{"inline Read", bad(func(wr *verbs.SendWR) { wr.Op, wr.Flags = verbs.OpRead, verbs.Inline }), verbs.ErrInvalid},
		{"long inline", bad(func(wr *verbs.SendWR) { wr.SGL, wr.Flags = a.list(0, 8192), verbs.Inline }), verbs.ErrInvalid},
	} {
		// The request before the bad one is posted, the one after it is not.
		err := a.qp.PostSend([]verbs.SendWR{good, tt.wr, good})
		wantError(t, err, tt.want)
		if post, ok := err.(*verbs.PostError); !ok || post.Index != 1 {
			t.Errorf("%s: %v", tt.name, err)
		}
		a.want(1, verbs.StatusSuccess)
		if n, err := a.cq.Poll(make([]verbs.WC, 1)); n != 0 || err != nil {
			t.Errorf("%s: %d more completions, %v", tt.name, n, err)
		}
	}
	attr := a.pd.(*pd).d.Attr()
	for op, has := range map[verbs.Opcode]bool{verbs.OpFlush: attr.HasFlush, verbs.OpAtomicWrite: attr.HasAtomicWrite} {
		if !has {
			wantError(t, a.qp.PostSend([]verbs.SendWR{{Op: op}}), verbs.ErrUnsupported, attr.Name, op.String())
		}
	}
	// Nothing is polled meanwhile, so the queue is full in the end.
	var err error
	for i := 0; err == nil && i < 1<<16; i++ {
		err = a.qp.PostSend([]verbs.SendWR{{Op: verbs.OpSend, SGL: a.list(0, 8)}}) // it has no receive to go to
	}
	wantError(t, err, verbs.ErrQueueFull)
}
