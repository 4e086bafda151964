package soft

import (
	"bufio"
	"io"
	"net"
	"time"

	"github.com/verbatim-rdma/verbatim/verbs"
)

const (
	// greeting is how long a new connection may take to send its hello.
	greeting = 10 * time.Second
	// stalled is how long a requester may leave answers unread.
	stalled = 30 * time.Second
)

// inbound is the responder's side of a queue pair: a connection with the peer's requests.
// One goroutine executes them, one after the other, as the hardware of a card does.
type inbound struct {
	d    *device
	q    *qp
	conn net.Conn
	life uint32 // as the requester counts
	r    *bufio.Reader
	w    *bufio.Writer
	dead bool // the queue pair has closed it; under the lock of the queue pair

	// Owned by the goroutine:
	expected uint32 // the sequence number of the next request
	skipping bool   // after an RNR NAK: drop all but the expected request
	acks     bool   // an acknowledgement of acked must be sent
	acked    uint32
	scratch  []byte
}

// serve executes the requests of a connection.
func (d *device) serve(conn net.Conn) {
	_ = conn.SetDeadline(time.Now().Add(greeting)) // a closed connection fails below
	var b [helloSize]byte
	if _, err := io.ReadFull(conn, b[:]); err != nil {
		return
	}
	h, err := parseHello(b[:])
	in := d.admit(h, conn)
	if _, werr := conn.Write(appendWelcome(nil, in == nil)); err != nil || werr != nil || in == nil {
		in.leave()
		return
	}
	_ = conn.SetDeadline(time.Time{})
	status := in.loop()
	in.leave()
	if status != verbs.StatusSuccess {
		in.refuse(status)
	}
}

// admit assigns a connection to the queue pair that it names. The queue pair must be ready, and
// connected to the requester's queue pair. Until the first request, a connection replaces an
// earlier one: the requester may have given up the earlier connection before the welcome arrived.
// Hellos may arrive out of order, so an older connection does not replace a newer one.
func (d *device) admit(h hello, conn net.Conn) *inbound {
	q := d.qp(h.to)
	if q == nil {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if d.isCut(addrOf(h.gid, h.port)) { // under the lock: a later cut finds the connection
		return nil
	}
	if q.gone || !q.responds() || q.used || h.from != q.remote.QPN || h.psn != q.remote.PSN || addrOf(h.gid, h.port) != q.peer() {
		return nil
	}
	if q.in != nil {
		if h.life < q.in.life {
			return nil
		}
		q.in.dead = true
		_ = q.in.conn.Close()
	}
	in := &inbound{d: d, q: q, conn: conn, life: h.life, expected: h.psn, scratch: make([]byte, mtu)}
	in.r, in.w = bufio.NewReaderSize(in, buffered), bufio.NewWriterSize(writer{conn}, buffered)
	q.in = in
	return in
}

// responds reports whether the state accepts requests of the peer.
func (q *qp) responds() bool {
	return q.connected && q.state >= verbs.StateRTR && q.state != verbs.StateErr
}

// leave detaches the connection from the queue pair.
func (in *inbound) leave() {
	if in == nil {
		return
	}
	in.q.mu.Lock()
	if in.q.in == in {
		in.q.in = nil
	}
	in.q.mu.Unlock()
}

// Read reads from the connection, and first sends the buffered answers. So the peer never waits for
// a buffered answer, and one acknowledgement covers many requests.
func (in *inbound) Read(b []byte) (int, error) {
	if err := in.send(); err != nil {
		return 0, err
	}
	return in.conn.Read(b)
}

func (in *inbound) send() error {
	if in.acks {
		if err := in.answer(answer{kind: ack, seq: in.acked}, nil); err != nil {
			return err
		}
	}
	return in.w.Flush()
}

// answer buffers an answer, which acknowledges all before it.
func (in *inbound) answer(a answer, payload []byte) error {
	in.acks = false
	a.length = uint32(len(payload))
	if _, err := in.w.Write(a.append(in.w.AvailableBuffer())); err != nil {
		return err
	}
	_, err := in.w.Write(payload)
	return err
}

// writer sets a deadline for each write.
type writer struct{ conn net.Conn }

func (w writer) Write(b []byte) (int, error) {
	if err := w.conn.SetWriteDeadline(time.Now().Add(stalled)); err != nil {
		return 0, err
	}
	return w.conn.Write(b)
}

// refuse sends a refusal, and waits until the requester has received it: closing a connection
// with unread requests could discard the refusal.
func (in *inbound) refuse(status verbs.Status) {
	if in.answer(answer{kind: nak, status: status, seq: in.expected}, nil) != nil || in.w.Flush() != nil {
		return
	}
	if half, ok := in.conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() != nil {
		return
	}
	_ = in.conn.SetReadDeadline(time.Now().Add(greeting))
	_, _ = io.Copy(io.Discard, in.conn) // until the requester closes, or is too slow
}

// loop executes requests until the connection closes, or until one is refused: then it returns the status.
func (in *inbound) loop() verbs.Status {
	for {
		b, err := in.r.Peek(requestSize)
		if err != nil {
			return verbs.StatusSuccess
		}
		req, err := parseRequest(b)
		if err != nil {
			return verbs.StatusSuccess // the requester notices that the connection was closed
		}
		_, _ = in.r.Discard(requestSize) // cannot fail: the request is buffered
		if req.seq != in.expected {
			if !in.skipping || !in.skip(req.payload()) {
				return verbs.StatusSuccess
			}
			continue
		}
		in.skipping = false
		switch ok, status := in.execute(&req); {
		case status != verbs.StatusSuccess:
			return status
		case !ok:
			return verbs.StatusSuccess
		}
	}
}

// skip drops a payload.
func (in *inbound) skip(n int) bool {
	_, err := in.r.Discard(n)
	return err == nil
}
