package arcadia

import (
	"errors"
	"fmt"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// inFlight is how many requests a backup may have to answer.
const inFlight = 16

// queues are those of a connection between a primary and a backup. Receives are posted inFlight at a time, by both.
func queues(access verbs.Access) verbs.QPConfig {
	return verbs.QPConfig{Access: access, MaxSendWR: 2 * inFlight, MaxRecvWR: 2 * inFlight, MaxSGE: 1}
}

// session is what a backup has with one primary. A task of its own serves it.
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
	done error // why the task has ended
}

func newSession(b *backup, c *lend.Conn) *session {
	x := &session{group: b.group, conn: c, qp: c.QP, log: b.log.Region, mu: b.h.NewMutex()}
	x.over = b.h.NewCond(x.mu)
	return x
}

// serve persists what the primary writes, until the connection fails.
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

// end makes the connection useless at once, and waits for its task, which notices.
func (x *session) end() error {
	err := x.qp.Modify(verbs.QPAttr{SetState: true, State: verbs.StateErr})
	if errors.Is(err, verbs.ErrClosed) { // the task has noticed something else
		err = nil
	}
	x.mu.Lock()
	for err == nil && x.done == nil {
		x.over.Wait()
	}
	x.mu.Unlock()
	return errors.Join(err, x.group.Drop(x.conn))
}

// persist carries out one request of the primary: the replication primitive's other half (3).
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

// answer says that the oldest request is durable, and which one that is. Receives are posted before, so that the primary has one for each
// request that it may have under way.
func (x *session) answer() error {
	if x.received++; x.received%inFlight == 0 {
		if err := x.conn.PostRecv(x.recv[:]); err != nil {
			return err
		}
	}
	x.wr[0] = verbs.SendWR{Op: verbs.OpSendImm, Imm: uint32(x.received)}
	return post(x.group, x.conn, x.wr[:])
}

// post posts one request. Its success shows in what the other side answers or sends next, so only every inFlight-th
// is signaled, to give places of the send queue back.
func post(g *lend.Group, c *lend.Conn, wr []verbs.SendWR) error {
	wr[0].ID = c.Asked + 1
	if wr[0].ID%inFlight == 0 {
		wr[0].Flags |= verbs.Signaled
	}
	g.Room(c, 1)
	g.Post(c, wr)
	return c.Err
}
