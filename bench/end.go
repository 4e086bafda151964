package bench

import (
	"errors"
	"fmt"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// access is the access that both ends grant each other.
const access = verbs.RemoteWrite | verbs.RemoteRead | verbs.RemoteAtomic

// patience is how long an end spins without progress before it gives up.
const patience = 20 * time.Second

// end is one end of a connection, with a buffer of two halves: the peer reads and
// writes the first, requests of this end send from and receive into the second.
type end struct {
	spec
	h        host.Host
	half     int  // bytes of a half
	word     int  // the offset in a half of the word with the last byte of a message
	shift    uint // the position of this byte in the word, in bits
	inline   int
	inlined  bool // messages are sent inline
	wait     bool
	pd       verbs.PD
	cq, rcq  verbs.CQ
	mem      *lend.Memory
	prepared verbs.PreparedQP // until it is connected
	qp       verbs.QP
	mtu      int

	wrs  []verbs.SendWR // a batch
	rwrs []verbs.RecvWR
	sgl  [1]verbs.SGE
	rsgl [1]verbs.SGE
	wc   []verbs.WC
}

// receives is the number of receives that an end has posted, for Sends.
const receives = 16

// newEnd allocates an end for the measurement s. After an error nothing stays allocated.
func newEnd(h host.Host, s spec, inline int, wait bool) (*end, error) {
	last := s.size - 1
	e := &end{spec: s, h: h, half: (s.size + 63) &^ 63, word: last &^ 7, shift: 8 * uint(last&7), wait: wait, wc: make([]verbs.WC, s.depth)}
	if err := e.allocate(inline); err != nil {
		return nil, errors.Join(err, e.close())
	}
	return e, nil
}

func (e *end) allocate(inline int) (err error) {
	dev := e.h.Device()
	if inline > 0 {
		e.inline = min(inline, dev.Attr().MaxInline)
	}
	e.inlined = (e.op == Write || e.op == Send) && e.size <= e.inline
	if most := dev.Attr().MaxQPWR; e.depth > most {
		return fmt.Errorf("%w: depth %d, but %s accepts %d requests at a time", ErrConfig, e.depth, dev.Attr().Name, most)
	}
	if e.pd, err = dev.AllocPD(); err != nil {
		return err
	}
	if e.cq, err = dev.CreateCQ(e.depth, nil); err != nil {
		return err
	}
	if e.rcq, err = dev.CreateCQ(receives, nil); err != nil {
		return err
	}
	if e.mem, err = lend.Register(e.h, e.pd, 2*e.half, access); err != nil {
		return err
	}
	cfg := verbs.QPConfig{SendCQ: e.cq, RecvCQ: e.rcq, Access: access, MaxSendWR: e.depth, MaxRecvWR: receives, MaxSGE: 1}
	if e.inlined {
		cfg.MaxInline = e.size
	}
	e.prepared, err = e.pd.CreateQP(cfg)
	if err != nil || e.op != Send {
		return err
	}
	e.rsgl[0] = e.mem.SGE(0, e.size)
	e.rwrs = make([]verbs.RecvWR, receives)
	for i := range e.rwrs {
		e.rwrs[i].SGL = e.rsgl[:]
	}
	return e.prepared.PostRecv(e.rwrs)
}

// endpoint returns the encoded endpoint, which the peer needs to connect.
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
func (e *end) open(peer *remote) error {
	endpoint, err := e.endpoint()
	if err != nil {
		return err
	}
	a, err := peer.ask(request{Do: doOpen, Endpoint: endpoint, Addr: e.mem.MR.Addr(), RKey: e.mem.MR.RKey(), Size: e.size, Inline: e.inline, Op: e.op, Wait: e.wait})
	if err != nil {
		return err
	}
	e.aim(a.Addr, a.RKey)
	return e.connect(a.Endpoint)
}

func reap(wait bool) string {
	if wait {
		return "wait"
	}
	return "poll"
}

// aim prepares the batch of requests that is posted repeatedly. Its last is signaled.
func (e *end) aim(addr uint64, rkey uint32) {
	e.sgl[0] = e.mem.SGE(e.half, e.size)
	e.wrs = make([]verbs.SendWR, e.batch)
	for i := range e.wrs {
		e.wrs[i] = verbs.SendWR{Op: e.opcode(), RKey: rkey, RemoteAddr: addr, SGL: e.sgl[:]}
		if e.inlined {
			e.wrs[i].Flags |= verbs.Inline
		}
	}
	e.wrs[e.batch-1].Flags |= verbs.Signaled
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
	for _, q := range []verbs.CQ{e.cq, e.rcq} {
		if q != nil {
			errs = append(errs, q.Destroy())
		}
	}
	if e.pd != nil {
		errs = append(errs, e.pd.Dealloc())
	}
	return errors.Join(errs...)
}
