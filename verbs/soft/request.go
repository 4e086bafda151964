package soft

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// buffered is the size of the buffers of a connection.
const buffered = 16 << 10

// link is the requester's side of a queue pair: the connection for our requests. One
// goroutine sends requests and one receives answers. Once it breaks it stays broken, and the
// next request fails as if its retries were exhausted.
type link struct {
	q        *qp
	life     uint32 // its number among those of the queue pair
	wakes    chan struct{}
	ctx      context.Context // done when the queue pair closes it
	cancel   context.CancelFunc
	progress atomic.Int64 // the last time at which the peer was known to be alive, in ns since began
	began    time.Time

	// Under the lock of the queue pair:
	conn      net.Conn
	sent      uint64 // the position to send next
	reads     int    // outstanding Reads and Atomics
	rnr       int    // RNR NAKs for the oldest request
	notBefore time.Time
	bad       verbs.Status // the local error of the request at sent
	cut       bool         // the last request was sent in part: nothing can follow it
	broken    bool         // the connection is broken

	// Owned by the sender: its current request.
	at      uint64
	req     request
	list    []verbs.SGE
	inline  []byte
	isInl   bool
	scratch []byte
}

func newLink(q *qp) *link {
	q.lives++
	l := &link{q: q, life: q.lives, wakes: make(chan struct{}, 1), sent: q.head, began: time.Now(), scratch: make([]byte, mtu)}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l
}

// kick wakes the sender.
func (l *link) kick() {
	select {
	case l.wakes <- struct{}{}:
	default: // a kick is pending
	}
}

// budget returns how long the peer may be silent.
func (l *link) budget() time.Duration {
	return l.q.d.cfg.Timeout * time.Duration(l.q.cfg.RetryCount+1)
}

func (l *link) alive() { l.progress.Store(int64(time.Since(l.began))) }

// run connects once there is a request to send, and sends.
func (l *link) run() {
	for !l.ready() {
		if !l.sleep(0) {
			return
		}
	}
	conn, err := l.dial()
	q := l.q
	q.mu.Lock()
	if q.out != l {
		q.mu.Unlock()
		if err == nil {
			_ = conn.Close() // too late
		}
		return
	}
	if err != nil {
		q.fail(verbs.StatusRetryExcErr)
		q.mu.Unlock()
		return
	}
	l.conn = conn
	q.mu.Unlock()
	q.d.tasks.Go(func() { l.receive(conn) })
	l.send(conn)
}

// ready reports whether there is a request to send and the state permits sending.
func (l *link) ready() bool {
	l.q.mu.Lock()
	defer l.q.mu.Unlock()
	return l.q.out == l && l.q.state == verbs.StateRTS
}

// sleep waits for a kick, or for d if that is not 0. It returns false when the link is closed.
func (l *link) sleep(d time.Duration) bool {
	var after <-chan time.Time
	if d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		after = t.C
	}
	select {
	case <-l.ctx.Done():
		return false
	case <-l.wakes:
	case <-after:
	}
	return true
}

// dial connects to the peer's queue pair, and retries while the queue pair is not ready.
func (l *link) dial() (net.Conn, error) {
	end := time.Now().Add(l.budget())
	for pause := time.Millisecond; ; pause = min(2*pause, l.q.d.cfg.Timeout) {
		conn, err := l.try()
		if err == nil || time.Until(end) < pause {
			return conn, err
		}
		t := time.NewTimer(pause)
		select {
		case <-l.ctx.Done():
			t.Stop()
			return nil, err
		case <-t.C:
		}
	}
}

// try connects once.
func (l *link) try() (net.Conn, error) {
	q := l.q
	q.mu.Lock()
	to, h := q.peer(), hello{to: q.remote.QPN, from: q.num, psn: q.cfg.PSN, life: l.life, gid: q.d.at.Addr().As16(), port: q.d.at.Port()}
	q.mu.Unlock()
	if q.d.isCut(to) {
		return nil, errRefused
	}
	dialer := net.Dialer{Timeout: q.d.cfg.Timeout}
	conn, err := dialer.DialContext(l.ctx, "tcp", to.String())
	if err != nil {
		return nil, err
	}
	var b [welcomeSize]byte
	err = conn.SetDeadline(time.Now().Add(q.d.cfg.Timeout))
	stop := context.AfterFunc(l.ctx, func() { _ = conn.Close() }) // makes the calls below fail
	defer stop()
	if err == nil {
		_, err = conn.Write(h.append(nil))
	}
	if err == nil {
		_, err = io.ReadFull(conn, b[:])
	}
	if err == nil {
		err = parseWelcome(b[:])
	}
	if err == nil {
		err = conn.SetDeadline(time.Time{})
	}
	if err != nil {
		_ = conn.Close() // the first error counts
		return nil, err
	}
	return conn, nil
}

// send writes requests until the link is closed. It leaves errors of the connection to
// receive, which may still have earlier answers to process.
func (l *link) send(conn net.Conn) {
	w := bufio.NewWriterSize(conn, buffered)
	for {
		more, due := l.pick()
		if more {
			l.write(w)
			continue
		}
		if w.Flush() == nil {
			l.alive()
		}
		if !l.sleep(due) {
			return
		}
	}
}

// pick takes the next request that may be sent, if any. If it must wait, due is the time to
// wait.
func (l *link) pick() (more bool, due time.Duration) {
	q := l.q
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.out != l || q.state != verbs.StateRTS || l.bad != verbs.StatusSuccess || l.sent == q.tail {
		return false, 0
	}
	if l.broken { // nothing is outstanding
		q.fail(verbs.StatusRetryExcErr)
		return false, 0
	}
	if l.cut {
		return false, 0
	}
	if !l.notBefore.IsZero() {
		if due = time.Until(l.notBefore); due > 0 {
			return false, due
		}
		l.notBefore = time.Time{}
	}
	s := q.slot(l.sent)
	responds := s.req.op.Responds()
	if s.fence && l.reads > 0 || responds && l.reads >= q.cfg.MaxRdAtomic {
		return false, 0
	}
	if l.bad = q.local(s); l.bad != verbs.StatusSuccess {
		q.settle()
		return false, 0
	}
	if q.head == l.sent {
		l.alive()
		_ = l.conn.SetReadDeadline(time.Now().Add(l.budget())) // on a closed connection this does not matter
	}
	if responds {
		l.reads++
	}
	s.got = 0
	l.at, l.req, l.isInl = l.sent, s.req, s.isInline
	l.req.seq = l.seq(l.sent)
	l.list, l.inline = append(l.list[:0], s.list...), append(l.inline[:0], s.inline...)
	l.sent++
	return true, 0
}

// local returns the local error of a request.
func (q *qp) local(s *slot) verbs.Status {
	switch {
	case s.local != verbs.StatusSuccess || s.isInline:
		return s.local
	case s.req.op == verbs.OpRead || s.req.op.IsAtomic():
		return q.pd.check(s.list, verbs.LocalWrite)
	}
	return q.pd.check(s.list, 0)
}

// write writes the request that pick has taken.
func (l *link) write(w *bufio.Writer) {
	if _, err := w.Write(l.req.append(w.AvailableBuffer())); err != nil {
		return
	}
	n := l.req.payload()
	if l.isInl {
		_, _ = w.Write(l.inline) // receive gets the error
		return
	}
	for off := 0; off < n; off += mtu {
		piece := l.scratch[:min(mtu, n-off)]
		if status := l.q.pd.gather(piece, l.list, off); status != verbs.StatusSuccess {
			l.giveUp(status)
			return
		}
		if _, err := w.Write(piece); err != nil {
			return
		}
		l.alive()
	}
}

// giveUp fails a request whose memory was deregistered while it was being sent. If an earlier request
// must be resent, the connection fails: the peer would take the resent request for the rest of this one.
func (l *link) giveUp(status verbs.Status) {
	q := l.q
	q.mu.Lock()
	defer q.mu.Unlock()
	l.cut = true
	switch {
	case q.out != l:
	case l.at < l.sent && l.at >= q.head:
		l.rewind(l.at)
		l.bad = status
		q.settle()
	default:
		_ = l.conn.Close() // receive notices
	}
}

// rewind makes i the next request to send.
func (l *link) rewind(i uint64) {
	for ; l.sent > i; l.sent-- {
		if l.q.slot(l.sent - 1).req.op.Responds() {
			l.reads--
		}
	}
}

// wait suspends sending for the RNR timer.
func (l *link) wait() { l.notBefore = time.Now().Add(l.q.d.cfg.RNRTimer) }

// receive processes answers until the connection breaks.
func (l *link) receive(conn net.Conn) {
	r := bufio.NewReaderSize(conn, buffered)
	for {
		b, err := r.Peek(answerSize)
		if errors.Is(err, os.ErrDeadlineExceeded) && !l.late() {
			continue
		}
		if err != nil {
			break
		}
		a, err := parseAnswer(b)
		if err != nil {
			break
		}
		b, err = r.Peek(answerSize + int(a.length))
		if errors.Is(err, os.ErrDeadlineExceeded) && !l.late() {
			continue
		}
		if err != nil || !l.answered(a, b[answerSize:]) {
			break
		}
		if _, err := r.Discard(answerSize + int(a.length)); err != nil {
			break
		}
	}
	l.broke()
}

// late reports whether the peer has been silent for too long.
func (l *link) late() bool {
	q := l.q
	q.mu.Lock()
	defer q.mu.Unlock()
	switch left := l.budget() - (time.Since(l.began) - time.Duration(l.progress.Load())); {
	case q.out != l:
		return true
	case q.head == l.sent: // nothing is outstanding
		return l.conn.SetReadDeadline(time.Time{}) != nil
	case left > 0:
		return l.conn.SetReadDeadline(time.Now().Add(left)) != nil
	}
	return true
}

// broke marks the link as broken, and fails the next request.
func (l *link) broke() {
	q := l.q
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.out != l:
	case l.bad != verbs.StatusSuccess && q.head == l.sent:
		q.fail(l.bad)
	case q.head < q.tail:
		q.fail(verbs.StatusRetryExcErr)
	default:
		l.broken = true
		_ = l.conn.Close() // so later writes fail
	}
}
