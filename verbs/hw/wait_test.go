//go:build rdma

package hw

import (
	"sync"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// rig is a channel with n connections whose requesters report on it.
func channelRig(t *testing.T, cfg Config, n int) (ch verbs.CompChannel, from, to []*end) {
	d := open(t, cfg)
	ch = must[verbs.CompChannel](t)(d.CreateCompChannel())
	t.Cleanup(func() { check(t, ch.Destroy()) })
	for range n {
		q := verbs.QPConfig{Access: all &^ verbs.LocalWrite}
		a, b := newEnd(t, d, ch, q, all), newEnd(t, d, nil, q, all)
		connect(t, a, b)
		from, to = append(from, a), append(to, b)
	}
	return ch, from, to
}

func write(a, b *end, id uint64) {
	a.post(verbs.SendWR{ID: id, Op: verbs.OpWrite, Flags: verbs.Signaled, RKey: b.mr.RKey(), RemoteAddr: b.at(0), SGL: a.list(0, 8)})
}

func TestWaitTimesOut(t *testing.T) {
	ch, from, _ := channelRig(t, Config{Spin: NoSpin}, 1)
	wc := make([]verbs.WC, 1)
	for _, d := range []time.Duration{0, time.Millisecond} {
		_, err := from[0].cq.Wait(wc, d)
		wantError(t, err, verbs.ErrTimeout)
		_, err = ch.Wait(d)
		wantError(t, err, verbs.ErrTimeout)
		wantError(t, ch.Gather([]verbs.CQ{from[0].cq}, wc, d), verbs.ErrTimeout)
	}
}

// Every wait that sleeps is woken, by whatever comes of whichever CQ.
func TestWaitSleeps(t *testing.T) {
	ch, from, to := channelRig(t, Config{Spin: NoSpin}, 3)
	for round := range 20 {
		for i := range from {
			write(from[i], to[i], uint64(round))
		}
		seen := map[verbs.CQ]bool{}
		for range from {
			q, err := ch.Wait(patience)
			if err != nil {
				t.Fatal(err)
			}
			wc := make([]verbs.WC, 2)
			if n, err := q.Poll(wc); n != 1 || err != nil || wc[0].ID != uint64(round) || seen[q] {
				t.Fatalf("round %d: %d completions, %v, %+v, again: %v", round, n, err, wc[0], seen[q])
			}
			seen[q] = true
		}
	}
}

func TestGather(t *testing.T) {
	ch, from, to := channelRig(t, Config{Spin: NoSpin}, 3)
	cqs := []verbs.CQ{from[2].cq, from[0].cq}
	wc := make([]verbs.WC, 2)
	write(from[0], to[0], 10)
	write(from[0], to[0], 11)
	// One of the two has nothing: nothing is polled.
	wantError(t, ch.Gather(cqs, wc, 50*time.Millisecond), verbs.ErrTimeout)
	write(from[2], to[2], 20)
	if err := ch.Gather(cqs, wc, patience); err != nil || wc[0].ID != 20 || wc[1].ID != 10 {
		t.Errorf("gathered %+v, %v", wc, err)
	}
	from[0].want(11, verbs.StatusSuccess)
	wantError(t, ch.Gather([]verbs.CQ{to[0].cq}, wc, 0), verbs.ErrInvalid, "another channel")
	wantError(t, ch.Gather([]verbs.CQ{cqs[0], cqs[0]}, wc, 0), verbs.ErrInvalid, "twice")
	wantError(t, ch.Gather(cqs, wc[:1], 0), verbs.ErrInvalid, "room")
}

// Tasks that wait on CQs of one channel each get what is theirs.
func TestWaitTogether(t *testing.T) {
	const rounds = 100
	_, from, to := channelRig(t, Config{Spin: NoSpin}, 3)
	var wg sync.WaitGroup
	for i := range from {
		wg.Go(func() {
			wc := make([]verbs.WC, 1)
			for r := range rounds {
				wr := []verbs.SendWR{{ID: uint64(r), Op: verbs.OpWrite, Flags: verbs.Signaled, RKey: to[i].mr.RKey(),
					RemoteAddr: to[i].at(0), SGL: from[i].list(0, 8)}}
				if err := from[i].qp.PostSend(wr); err != nil {
					t.Error(err)
					return
				}
				if n, err := from[i].cq.Wait(wc, patience); n != 1 || err != nil || wc[0].ID != uint64(r) {
					t.Errorf("connection %d, round %d: %d, %v, %+v", i, r, n, err, wc[0])
					return
				}
			}
		})
	}
	wg.Wait()
}

// A CQ that is destroyed wakes those who wait for it.
func TestDestroyWakes(t *testing.T) {
	d := open(t, Config{Spin: NoSpin})
	q := must[verbs.CQ](t)(d.CreateCQ(4, nil))
	done := make(chan error)
	go func() {
		_, err := q.Wait(make([]verbs.WC, 1), verbs.Forever)
		done <- err
	}()
	ch := q.(*cq).ch
	for sleeping := false; !sleeping; { // until it sleeps
		ch.mu.Lock()
		sleeping = len(ch.waiters) > 0
		ch.mu.Unlock()
	}
	check(t, q.Destroy())
	wantError(t, <-done, verbs.ErrClosed)
}
