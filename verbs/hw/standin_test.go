//go:build rdma

package hw

import (
	"errors"
	"fmt"
	"testing"
	"time"
	"unsafe"

	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/hw/standin"
)

// standIn returns a queue pair on a card that does nothing.
func standIn(t testing.TB, cfg verbs.QPConfig) (*qp, *standin.Card) {
	t.Helper()
	card := standin.New()
	d := &device{name: "stand-in"}
	c := &cq{d: d}
	allocate(&c.stash)
	point(&c.stash.cq, card.CQ())
	point(&c.wcs, unsafe.Pointer(&c.stash.wc))
	q := &qp{d: d, num: 1, cfg: cfg, sendCQ: c, recvCQ: c, state: verbs.StateRTS}
	point(&q.c, card.QP())
	if !q.send.alloc(min(cfg.MaxSendWR, postBatch), cfg.MaxSGE, linkSend) || !q.recv.alloc(min(cfg.MaxRecvWR, postBatch), cfg.MaxSGE, linkRecv) {
		t.Fatal("no memory")
	}
	q.send.post.qp, q.recv.post.qp, q.send.post.stash = q.c, q.c, c.stash
	t.Cleanup(func() {
		q.send.free()
		q.recv.free()
		c.freeStash()
		card.Free()
	})
	return q, card
}

// allocate and point set fields whose types are of C, which tests cannot name.
func allocate[T any](at **T)                 { *at = &zeroed[T](1)[0] }
func point[T any](at **T, to unsafe.Pointer) { *at = (*T)(to) }

// writes are n Writes. The last one is signaled and has n as its ID.
func writes(n int) []verbs.SendWR {
	wrs := make([]verbs.SendWR, n)
	for i := range wrs {
		wrs[i] = verbs.SendWR{ID: uint64(i + 1), Op: verbs.OpWrite, RKey: 1, RemoteAddr: 4096, SGL: []verbs.SGE{{Addr: 4096, Length: 128}}}
	}
	wrs[n-1].Flags = verbs.Signaled
	return wrs
}

// One call of the provider posts a chain, however long its queue may be, and completions
// keep their order.
func TestChainsOnStandIn(t *testing.T) {
	q, card := standIn(t, verbs.QPConfig{MaxSendWR: 512, MaxRecvWR: 512, MaxSGE: 1})
	wc := make([]verbs.WC, 4)
	posted, calls := 0, 0
	for _, n := range []int{1, 3, postBatch, postBatch + 1, 3 * postBatch} {
		if err := q.PostSend(writes(n)); err != nil {
			t.Fatal(err)
		}
		posted, calls = posted+n, calls+(n+postBatch-1)/postBatch
		if got, err := q.sendCQ.Poll(wc); got != 1 || err != nil || wc[0].ID != uint64(n) || wc[0].Op != verbs.WCWrite {
			t.Errorf("%d completions of %d requests: %v, %v", got, n, err, wc[0])
		}
	}
	if err := q.PostRecv(make([]verbs.RecvWR, 100)); err != nil {
		t.Error(err)
	}
	if posted, calls := posted+100, calls+2; card.Posted() != posted || card.Calls() != calls {
		t.Errorf("%d requests in %d calls, want %d in %d", card.Posted(), card.Calls(), posted, calls)
	}
}

// An error of the provider names the request, in whichever chain it is; those before it
// are posted, and none of their completions is lost.
func TestFullQueueOnStandIn(t *testing.T) {
	q, card := standIn(t, verbs.QPConfig{MaxSendWR: 512, MaxRecvWR: 1, MaxSGE: 1})
	wrs := writes(400)
	for i := range wrs {
		wrs[i].Flags = verbs.Signaled
	}
	err := q.PostSend(wrs)
	var refused *verbs.PostError
	if !errors.As(err, &refused) || !errors.Is(err, verbs.ErrQueueFull) {
		t.Fatal(err)
	}
	// The stash holds a chain's completions; the rest stays with the card until it is full.
	if want := card.Posted(); refused.Index != want || want != standin.Depth+postBatch {
		t.Errorf("request %d is refused, of %d posted", refused.Index, want)
	}
	wc := make([]verbs.WC, 7)
	for next := uint64(1); next <= uint64(refused.Index); {
		n, err := q.sendCQ.Poll(wc)
		if n == 0 || err != nil {
			t.Fatalf("completion %d is lost: %v", next, err)
		}
		for _, c := range wc[:n] {
			if c.ID != next {
				t.Fatalf("completion %d in place of %d", c.ID, next)
			}
			next++
		}
	}
	if n, err := q.sendCQ.Poll(wc); n != 0 || err != nil {
		t.Error(n, err)
	}
}

// BenchmarkPost is what a post and the poll of its completion cost, without a card,
// beside a loop in C that does the same, and a call from Go to C that does nothing. All
// three are of one run.
func BenchmarkPost(b *testing.B) {
	for _, n := range []int{1, 16} {
		b.Run(fmt.Sprintf("%d at a time", n), func(b *testing.B) {
			q, card := standIn(b, verbs.QPConfig{MaxSendWR: 64, MaxRecvWR: 1, MaxSGE: 1})
			wrs, wc := writes(n), make([]verbs.WC, 1)
			b.ReportAllocs()
			for b.Loop() {
				if err := q.PostSend(wrs); err != nil {
					b.Fatal(err)
				}
				if got, err := q.sendCQ.Poll(wc); got != 1 || err != nil {
					b.Fatal(got, err)
				}
			}
			ours := float64(b.Elapsed().Nanoseconds()) / float64(b.N*n)
			theirs := float64(card.Loop(b.N, n).Nanoseconds()) / float64(b.N*n)
			began := time.Now()
			for range b.N {
				standin.Cross()
			}
			b.ReportMetric(float64(time.Since(began).Nanoseconds())/float64(b.N), "crossing-ns")
			b.ReportMetric(ours, "ns/request")
			b.ReportMetric(theirs, "C-ns/request")
		})
	}
}
