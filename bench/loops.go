package bench

import (
	"errors"
	"fmt"
	"time"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// spins is how often a loop polls before it reads the clock, which costs more than the
// rest on some machines.
const spins = 1 << 16

// completions reaps at least one completion and returns their number.
func (e *end) completions() (n int, err error) { return e.reap(e.cq, "a completion") }

// reap takes at least one completion of q and returns their number. It spins, as perftest
// does, or waits.
func (e *end) reap(q verbs.CQ, what string) (n int, err error) {
	var since time.Duration
	for i := 1; n == 0; i++ {
		if e.wait {
			n, err = q.Wait(e.wc, verbs.Forever)
		} else {
			n, err = q.Poll(e.wc)
		}
		if n == 0 && err == nil && i%spins == 0 {
			err = e.stuck(&since, what)
		}
		if err != nil {
			return 0, err
		}
	}
	for i := range n {
		if err := e.wc[i].Err(); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// stuck returns an error once its calls have spanned the patience.
func (e *end) stuck(since *time.Duration, what string) error {
	now := e.h.Now()
	if *since == 0 {
		*since = now
	}
	if now-*since > patience {
		return fmt.Errorf("bench: waited %v for %s", patience, what)
	}
	return nil
}

// mark returns the last byte of the message in the half at off.
func (e *end) mark(off int) byte { return byte(e.mem.Region.Load64(off+e.word) >> e.shift) }

// setMark sets the last byte of the message in the half at off to b, and the other bytes of its word to zero.
func (e *end) setMark(off int, b byte) { e.mem.Region.Store64(off+e.word, uint64(b)<<e.shift) }

// start lets the peer answer n messages.
func (e *end) start(peer *remote, n int) error {
	e.rearm()
	_, err := peer.ask(request{Do: doPong, Iters: n})
	return err
}

// arrives returns when the peer's next message has arrived. A Write has arrived when its last byte is b.
func (e *end) arrives(b byte) error {
	if e.op == Send {
		if _, err := e.reap(e.rcq, "a message of the peer"); err != nil {
			return err
		}
		return e.qp.PostRecv(e.rwrs[:1])
	}
	var since time.Duration
	for i := 1; ; i++ {
		if e.mark(0) == b {
			return nil
		}
		if i%spins == 0 {
			if err := e.stuck(&since, "a message of the peer"); err != nil {
				return err
			}
		}
	}
}

// pong waits for n messages of the peer and answers each with a message.
func (e *end) pong(n int) error {
	for i := range n {
		if err := e.arrives(byte(i + 1)); err != nil {
			return err
		}
		if err := e.send(byte(i + 1)); err != nil {
			return err
		}
	}
	return nil
}

// send writes a message that ends in b to the peer, and reaps the completion.
func (e *end) send(b byte) error {
	e.setMark(e.half, b)
	if err := e.qp.PostSend(e.wrs); err != nil {
		return err
	}
	_, err := e.completions()
	return err
}

// ping sends len(lat) messages, each when the peer's answer to the previous one has
// arrived. It sets lat to half of the ticks from one post to the next, as ib_write_lat
// and ib_send_lat report.
func (e *end) ping(lat []uint64) error {
	began := ticks()
	for i := range lat {
		if err := e.send(byte(i + 1)); err != nil {
			return err
		}
		if err := e.arrives(byte(i + 1)); err != nil {
			return err
		}
		now := ticks()
		lat[i], began = (now-began)/2, now
	}
	return nil
}

// rearm clears the byte that the next ping or pong waits for.
func (e *end) rearm() { e.setMark(0, 0) }

// closedLoop keeps depth requests in flight until len(lat) have completed. It sets lat
// to the ticks from before each post to after the poll that reaped its completion.
func (e *end) closedLoop(lat []uint64, depth int) error {
	for posted, done := 0, 0; done < len(lat); {
		for ; posted < len(lat) && posted-done < depth; posted++ {
			lat[posted] = ticks()
			if err := e.qp.PostSend(e.wrs); err != nil {
				return err
			}
		}
		n, err := e.completions()
		if err != nil {
			return err
		}
		now := ticks()
		for ; n > 0; n-- { // completions are in the order of the posts
			if done == posted {
				return errors.New("bench: more completions than requests")
			}
			lat[done] = now - lat[done]
			done++
		}
	}
	return nil
}

// stream completes n requests as fast as it can, with at most depth in flight, in calls of
// a batch each, as ib_write_bw does. Each batch has one completion.
func (e *end) stream(n int) error {
	for posted, done := 0, 0; done < n; {
		for ; posted < n && posted-done+e.batch <= e.depth; posted += e.batch {
			if err := e.qp.PostSend(e.wrs); err != nil {
				return err
			}
		}
		reaped, err := e.completions()
		if err != nil {
			return err
		}
		done += reaped * e.batch
	}
	return nil
}
