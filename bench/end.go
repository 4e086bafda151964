package bench

import (
	"errors"
	"fmt"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// access is what both ends grant each other.
const access = verbs.RemoteWrite | verbs.RemoteRead | verbs.RemoteAtomic

// patience is how long an end spins without progress before it gives up.
const patience = 20 * time.Second

// end is one end of a connection, with a buffer of two halves: the peer reads and
// writes the first, requests of this end send from and receive into the second.
type end struct {
	h        host.Host
	size     int
	half     int  // bytes of a half
	word     int  // of a half, with the last byte of a message, which is
	shift    uint // bits up in it
	inline   int
	wait     bool
	pd       verbs.PD
	cq       verbs.CQ
	mem      *lend.Memory
	prepared verbs.PreparedQP // until it is connected
	qp       verbs.QP
	mtu      int

	wrs [1]verbs.SendWR
	sgl [1]verbs.SGE
	wc  []verbs.WC
}

// newEnd allocates an end for messages of size bytes. After an error it releases what
// it had allocated.
func newEnd(h host.Host, size, depth, inline int, wait bool) (*end, error) {
	last := size - 1
	e := &end{h: h, size: size, half: (size + 63) &^ 63, word: last &^ 7, shift: 8 * uint(last&7), wait: wait, wc: make([]verbs.WC, depth)}
	if err := e.allocate(depth, inline); err != nil {
		return nil, errors.Join(err, e.close())
	}
	return e, nil
}

func (e *end) allocate(depth, inline int) (err error) {
	dev := e.h.Device()
	if inline > 0 {
		e.inline = min(inline, dev.Attr().MaxInline)
	}
	if most := dev.Attr().MaxQPWR; depth > most {
		return fmt.Errorf("%w: depth %d, and %s takes %d requests at a time", ErrConfig, depth, dev.Attr().Name, most)
	}
	if e.pd, err = dev.AllocPD(); err != nil {
		return err
	}
	if e.cq, err = dev.CreateCQ(depth, nil); err != nil {
		return err
	}
	if e.mem, err = lend.Register(e.h, e.pd, 2*e.half, access); err != nil {
		return err
	}
	e.prepared, err = e.pd.CreateQP(verbs.QPConfig{SendCQ: e.cq, RecvCQ: e.cq, Access: access, MaxSendWR: depth,
		MaxRecvWR: 1, MaxSGE: 1, MaxInline: e.inline})
	return err
}

// endpoint returns what the peer needs to connect.
func (e *end) endpoint() ([]byte, error) { return e.prepared.Endpoint().AppendBinary(nil) }

// connect connects to the peer's endpoint.
func (e *end) connect(endpoint []byte) error {
	var to verbs.Endpoint
	if err := to.UnmarshalBinary(endpoint); err != nil {
		return err
	}
	e.mtu = int(min(to.MTU, e.prepared.Endpoint().MTU))
	qp, err := e.prepared.Connect(to)
	if err != nil {
		return err
	}
	e.qp, e.prepared = qp, nil
	return nil
}

// open connects e to the peer and makes its request.
func (e *end) open(peer *remote, op verbs.Opcode) error {
	endpoint, err := e.endpoint()
	if err != nil {
		return err
	}
	a, err := peer.ask(request{Do: doOpen, Endpoint: endpoint, Addr: e.mem.MR.Addr(), RKey: e.mem.MR.RKey(), Size: e.size, Inline: e.inline})
	if err != nil {
		return err
	}
	e.aim(op, a.Addr, a.RKey)
	return e.connect(a.Endpoint)
}

func reap(wait bool) string {
	if wait {
		return "wait"
	}
	return "poll"
}

// aim prepares the one request that is posted repeatedly.
func (e *end) aim(op verbs.Opcode, addr uint64, rkey uint32) {
	e.sgl[0] = e.mem.SGE(e.half, e.size)
	e.wrs[0] = verbs.SendWR{Op: op, Flags: verbs.Signaled, RKey: rkey, RemoteAddr: addr, SGL: e.sgl[:]}
	if op == verbs.OpWrite && e.size <= e.inline {
		e.wrs[0].Flags |= verbs.Inline
	}
}

// close releases all resources.
func (e *end) close() error {
	var errs []error
	if e.prepared != nil {
		errs = append(errs, e.prepared.Destroy())
	}
	if e.qp != nil {
		errs = append(errs, e.qp.Destroy())
	}
	if e.mem != nil {
		errs = append(errs, e.mem.Free())
	}
	if e.cq != nil {
		errs = append(errs, e.cq.Destroy())
	}
	if e.pd != nil {
		errs = append(errs, e.pd.Dealloc())
	}
	return errors.Join(errs...)
}
