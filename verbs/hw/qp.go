//go:build rdma

package hw

/*
#include "binding.h"
*/
import "C"

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// qp is a queue pair. It implements verbs.QP, and prepared verbs.PreparedQP.
type qp struct {
	d      *device
	pd     *pd
	num    uint32
	cfg    verbs.QPConfig
	sendCQ *cq
	recvCQ *cq

	mu       sync.Mutex
	c        *C.struct_ibv_qp // nil after Destroy
	attr     C.struct_vb_attr // all attributes that were set
	state    verbs.QPState    // the state that this side has set
	send     chain[C.struct_ibv_send_wr]
	recv     chain[C.struct_ibv_recv_wr]
	prepared bool
	failed   atomic.Pointer[string] // the event of its own error
}

type prepared qp

// stateCodes are the ibv_qp_state of verbs.QPState.
var stateCodes = [...]C.int{
	verbs.StateReset: C.IBV_QPS_RESET, verbs.StateInit: C.IBV_QPS_INIT, verbs.StateRTR: C.IBV_QPS_RTR, verbs.StateRTS: C.IBV_QPS_RTS,
	verbs.StateSQD: C.IBV_QPS_SQD, verbs.StateSQE: C.IBV_QPS_SQE, verbs.StateErr: C.IBV_QPS_ERR,
}

// attrMasks are the ibv_qp_attr_mask of verbs.Attr, bit by bit. There is no alternate
// path: Modify refuses it.
var attrMasks = [...]C.int{
	C.IBV_QP_PORT, C.IBV_QP_PKEY_INDEX, C.IBV_QP_ACCESS_FLAGS, C.IBV_QP_AV, C.IBV_QP_PATH_MTU, C.IBV_QP_DEST_QPN, C.IBV_QP_RQ_PSN,
	C.IBV_QP_MAX_DEST_RD_ATOMIC, C.IBV_QP_MIN_RNR_TIMER, C.IBV_QP_TIMEOUT, C.IBV_QP_RETRY_CNT, C.IBV_QP_RNR_RETRY,
	C.IBV_QP_SQ_PSN, C.IBV_QP_MAX_QP_RD_ATOMIC,
}

// CreateQP implements verbs.PD.
func (p *pd) CreateQP(cfg verbs.QPConfig) (verbs.PreparedQP, error) {
	d := p.d
	send, ok1 := cfg.SendCQ.(*cq)
	recv, ok2 := cfg.RecvCQ.(*cq)
	if !ok1 || !ok2 || send.d != d || recv.d != d {
		return nil, fmt.Errorf("hw: %s: create QP: %w: both CQs must be of this device", d.name, verbs.ErrInvalid)
	}
	cfg, err := checkQP(cfg, &d.attr)
	if err != nil {
		return nil, err
	}
	if err := d.alive(); err != nil {
		return nil, err
	}
	if d.soft {
		// Linux's rdma_rxe never gives up if it is 7, against the specification, so a
		// dead peer would never be detected (rxe_comp.c).
		cfg.RetryCount = min(cfg.RetryCount, 6)
	}
	for cfg.PSN == 0 {
		cfg.PSN = rand.Uint32() & (1<<24 - 1)
	}
	q := &qp{d: d, pd: p, cfg: cfg, sendCQ: send, recvCQ: recv, prepared: true}
	q.attr = C.struct_vb_attr{access: C.uint32_t(flagsOf(cfg.Access)), sq_psn: C.uint32_t(cfg.PSN), port: C.uint8_t(d.cfg.Port),
		pkey_index: C.uint16_t(d.cfg.PKeyIndex), gid_index: C.uint8_t(d.gid.index), timeout: C.uint8_t(d.cfg.Timeout), retry: C.uint8_t(cfg.RetryCount),
		rnr_retry: C.uint8_t(cfg.RNRRetry), min_rnr: C.uint8_t(d.cfg.MinRNRTimer), rd_atomic: C.uint8_t(cfg.MaxRdAtomic),
		dest_rd_atomic: C.uint8_t(d.resp), sl: C.uint8_t(d.cfg.ServiceLevel), hop_limit: C.uint8_t(d.cfg.HopLimit),
		traffic_class: C.uint8_t(d.cfg.TrafficClass)}
	if err := q.create(); err != nil {
		return nil, err
	}
	return (*prepared)(q), nil
}

func (q *qp) create() error {
	p, d := q.pd, q.d
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := verbs.CheckPD(p.c == nil); err != nil {
		return fmt.Errorf("hw: %s: create QP: %w", d.name, err)
	}
	for i, c := range []*cq{q.sendCQ, q.recvCQ} {
		if err := c.use(1); err != nil {
			if i == 1 {
				_ = q.sendCQ.use(-1) // it was just counted in
			}
			return fmt.Errorf("hw: %s: create QP: %w: a CQ", d.name, err)
		}
	}
	if !q.send.alloc(min(q.cfg.MaxSendWR, postBatch), q.cfg.MaxSGE, linkSend) || !q.recv.alloc(min(q.cfg.MaxRecvWR, postBatch), q.cfg.MaxSGE, linkRecv) {
		q.giveBack()
		return fmt.Errorf("hw: %s: create QP: %w", d.name, syscall.ENOMEM)
	}
	init := C.struct_vb_qp_init{send_wr: C.int(q.cfg.MaxSendWR), recv_wr: C.int(q.cfg.MaxRecvWR), sge: C.int(q.cfg.MaxSGE),
		max_inline: C.int(q.cfg.MaxInline), sig_all: flag(q.cfg.SignalAll), flush: flag(d.attr.HasFlush),
		atomic_write: flag(d.attr.HasAtomicWrite)}
	c, err := C.vb_create_qp(p.c, q.sendCQ.stash.cq, q.recvCQ.stash.cq, &init)
	if c == nil {
		q.giveBack()
		return d.errno(fmt.Sprintf("create a QP of %d and %d work requests", q.cfg.MaxSendWR, q.cfg.MaxRecvWR), err,
			hintRegister(errnoOf(err), lockLimit()))
	}
	q.c, q.num = c, uint32(c.qp_num)
	p.open++
	if err := q.to(verbs.StateInit); err != nil {
		C.ibv_destroy_qp(c)
		q.c = nil
		p.open--
		q.giveBack()
		return err
	}
	q.send.post.qp, q.recv.post.qp = c, c
	q.send.post.stash = q.sendCQ.stash
	d.mu.Lock()
	if d.qps == nil {
		d.qps = map[uint32]*qp{}
	}
	d.qps[q.num] = q
	d.mu.Unlock()
	return nil
}

// giveBack releases the resources that create has acquired, except the queue pair of the card.
func (q *qp) giveBack() {
	q.send.free()
	q.recv.free()
	q.unuse()
}

func (q *qp) unuse() {
	_ = q.sendCQ.use(-1) // cannot fail: a CQ in use cannot be destroyed
	_ = q.recvCQ.use(-1)
}

// to modifies the QP to a state with the attributes that the state machine requires.
func (q *qp) to(s verbs.QPState) error {
	for _, t := range verbs.Transitions {
		if t.From == q.state && t.To == s && t.From != t.To {
			return q.modify(s, t.Required)
		}
	}
	return verbs.CheckTransition(q.state, s, 0)
}

func (q *qp) modify(s verbs.QPState, mask verbs.Attr) error {
	var m C.int
	for i, bit := range attrMasks {
		if mask&(1<<i) != 0 {
			m |= bit
		}
	}
	if rc := C.vb_modify(q.c, &q.attr, m, stateCodes[s]); rc != 0 {
		e, hint := syscall.Errno(rc), ""
		if mask&verbs.AttrPath != 0 {
			hint = fmt.Sprintf(hintRoute, q.peer())
		}
		return callError(q.d.name, fmt.Sprintf("QP %d: %v to %v with %v", q.num, q.state, s, mask), e, hint)
	}
	q.state = s
	if s == verbs.StateReset {
		q.failed.Store(nil)
		q.forget()
	}
	return nil
}

// forget removes its completions from the stashes.
func (q *qp) forget() {
	q.sendCQ.forget(q.num)
	q.recvCQ.forget(q.num)
}

func (q *qp) peer() netip.Addr {
	var a [16]byte
	for i, b := range q.attr.dgid {
		a[i] = byte(b)
	}
	return netip.AddrFrom16(a)
}

// Num and the methods below implement verbs.PreparedQP.
func (p *prepared) Num() uint32                       { return p.num }
func (p *prepared) PostRecv(wrs []verbs.RecvWR) error { return (*qp)(p).PostRecv(wrs) }
func (p *prepared) Destroy() error                    { return (*qp)(p).Destroy() }

func (p *prepared) Endpoint() verbs.Endpoint {
	return verbs.Endpoint{GID: p.d.gid.gid, LID: p.d.lid, QPN: p.num, PSN: p.cfg.PSN, MTU: uint16(p.d.mtu)}
}

func (p *prepared) Connect(remote verbs.Endpoint) (verbs.QP, error) {
	q := (*qp)(p)
	q.mu.Lock()
	defer q.mu.Unlock()
	what := fmt.Sprintf("hw: %s: connect QP %d", q.d.name, q.num)
	switch {
	case q.c == nil:
		return nil, fmt.Errorf("%s: %w", what, verbs.ErrClosed)
	case !q.prepared:
		return nil, fmt.Errorf("%s: %w: it is connected already", what, verbs.ErrState)
	}
	if err := checkEndpoint(remote, q.d.roce); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	if err := q.d.alive(); err != nil {
		return nil, err
	}
	if _, err := q.d.port(); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	q.attr.dest_qpn, q.attr.rq_psn, q.attr.dlid = C.uint32_t(remote.QPN), C.uint32_t(remote.PSN), C.uint16_t(remote.LID)
	q.attr.mtu = C.uint8_t(mtuCode(min(int(remote.MTU), q.d.mtu)))
	if q.d.roce || remote.LID == 0 {
		q.attr.global = 1
	}
	for i, b := range remote.GID {
		q.attr.dgid[i] = C.uint8_t(b)
	}
	for _, s := range []verbs.QPState{verbs.StateRTR, verbs.StateRTS} {
		if err := q.to(s); err != nil {
			return nil, err
		}
	}
	q.prepared = false
	return q, nil
}

// Num and the methods below implement verbs.QP.
func (q *qp) Num() uint32 { return q.num }

// State queries the device, since a QP can go to ERR by itself.
func (q *qp) State() verbs.QPState {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.ask()
}

// Err returns the error of the queue pair that the card has reported by an event, if any. The
// queue pair is then in ERR, and its requests complete with WR_FLUSH_ERR, which does not give
// the reason. Err is for logs: it is not part of package verbs, so protocols cannot call it. A
// reset clears the error.
func (q *qp) Err() error {
	why := q.failed.Load()
	if why == nil {
		return nil
	}
	return fmt.Errorf("hw: %s: QP %d: %w: %s", q.d.name, q.num, verbs.ErrState, *why)
}

func (q *qp) ask() verbs.QPState {
	if q.c == nil || q.d.alive() != nil {
		return verbs.StateErr
	}
	code := C.vb_state(q.c)
	for s, c := range stateCodes {
		if c == code {
			q.state = verbs.QPState(s)
		}
	}
	return q.state
}

// Modify implements verbs.QP. Attributes in the mask other than the access flags keep
// the values with which the QP was connected.
func (q *qp) Modify(a verbs.QPAttr) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	what := fmt.Sprintf("hw: %s: modify QP %d", q.d.name, q.num)
	if q.c == nil {
		return fmt.Errorf("%s: %w", what, verbs.ErrClosed)
	}
	if err := q.d.alive(); err != nil {
		return err
	}
	from := q.ask()
	to := from
	if a.SetState {
		to = a.State
	}
	if err := verbs.CheckTransition(from, to, a.Mask); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if a.Mask&verbs.AttrAltPath != 0 {
		return fmt.Errorf("%s: %w: an alternate path", what, verbs.ErrUnsupported)
	}
	old := q.attr.access
	if a.Mask&verbs.AttrAccess != 0 {
		if err := verbs.CheckAccess(a.Access, q.d.attr.HasFlush); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		q.attr.access = C.uint32_t(flagsOf(a.Access))
	}
	if err := q.modify(to, a.Mask); err != nil {
		q.attr.access = old
		return err
	}
	return nil
}

// Destroy implements verbs.QP.
func (q *qp) Destroy() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.c == nil {
		return fmt.Errorf("hw: %s: destroy QP %d: %w", q.d.name, q.num, verbs.ErrClosed)
	}
	if rc := C.ibv_destroy_qp(q.c); rc != 0 {
		return q.d.err(fmt.Sprintf("destroy QP %d", q.num), rc, "")
	}
	q.c = nil
	q.d.mu.Lock()
	delete(q.d.qps, q.num)
	q.d.mu.Unlock()
	q.forget()
	q.send.free()
	q.recv.free()
	q.unuse()
	q.pd.mu.Lock()
	q.pd.open--
	q.pd.mu.Unlock()
	return nil
}
