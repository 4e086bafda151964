package arcadia

import (
	"errors"
	"fmt"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// inFlight is the largest number of requests that a backup has not answered.
const inFlight = 16

// queues sizes a connection between a primary and a backup. Both sides post receives in batches of inFlight.
func queues(access verbs.Access) verbs.QPConfig {
	return verbs.QPConfig{Access: access, MaxSendWR: 2 * inFlight, MaxRecvWR: 2 * inFlight, MaxSGE: 1}
}

// session is the connection of a backup to one primary. It has a task of its own.
type session struct {
	group *lend.Group
	conn  *lend.Conn
	qp    verbs.QP
	log   host.Region

	received uint64
	wr       [1]verbs.SendWR
	recv     [inFlight]verbs.RecvWR

	mu   host.Mutex
	over host.Cond
	done error // the error that ended the task
}

func newSession(b *backup, c *lend.Conn) *session {
	x := &session{group: b.group, conn: c, qp: c.QP, log: b.log.Region, mu: b.h.NewMutex()}
	x.over = b.h.NewCond(x.mu)
	return x
}

// serve executes the primary's requests until the connection fails.
func (x *session) serve() {
	var err error
	for err == nil {
		err = x.persist()
	}
	x.mu.Lock()
	x.done = err
	x.over.Signal()
	x.mu.Unlock()
}

// end puts the queue pair into the error state, and waits until the task has ended.
func (x *session) end() error {
	err := x.qp.Modify(verbs.QPAttr{SetState: true, State: verbs.StateErr})
	if errors.Is(err, verbs.ErrClosed) { // the connection had failed already
		err = nil
	}
	x.mu.Lock()
	for err == nil && x.done == nil {
		x.over.Wait()
	}
	x.mu.Unlock()
	return errors.Join(err, x.group.Drop(x.conn))
}

// persist executes one request of the primary: the backup's half of the replication primitive (3).
func (x *session) persist() error {
	wc, err := x.group.Receive(x.conn)
	if err != nil {
		return err
	}
	if wc.Op != verbs.WCRecvWriteImm {
		err = fmt.Errorf("%w: %v", ErrNonsense, wc.Op)
		x.group.Fail(x.conn, err)
		return err
	}
	off, n, err := written(wc.Imm, wc.ByteLen, x.log.Len())
	if err != nil {
		x.group.Fail(x.conn, err)
		return err
	}
	x.log.Flush(off, n)
	x.log.Fence()
	return x.answer()
}

// answer reports the oldest request as durable, with its number. It posts receives first, so that the backup has a
// receive for each request that the primary may have in flight.
func (x *session) answer() error {
	if x.received++; x.received%inFlight == 0 {
		if err := x.conn.PostRecv(x.recv[:]); err != nil {
			return err
		}
	}
	x.wr[0] = verbs.SendWR{Op: verbs.OpSendImm, Imm: uint32(x.received)}
	return post(x.group, x.conn, x.wr[:])
}

// post posts one request. The next message of the other side shows its success, so only every inFlight-th request
// is signaled, to free slots of the send queue.
func post(g *lend.Group, c *lend.Conn, wr []verbs.SendWR) error {
	wr[0].ID = c.Asked + 1
	if wr[0].ID%inFlight == 0 {
		wr[0].Flags |= verbs.Signaled
	}
	g.Room(c, 1)
	g.Post(c, wr)
	return c.Err
}
