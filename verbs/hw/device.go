//go:build rdma

package hw

/*
#cgo LDFLAGS: -libverbs
#cgo CFLAGS: -O2 -Wall
#include <stdlib.h>
#include "binding.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// Built reports whether this program can open cards.
const Built = true

// device is an opened card. It implements verbs.Device.
type device struct {
	name   string
	cfg    Config
	ctx    *C.struct_ibv_context
	attr   verbs.DeviceAttr
	gid    gidEntry
	lid    uint16
	mtu    int // bytes
	roce   bool
	maxCQE int
	resp   int           // Reads and atomics that a QP can serve at a time
	vector atomic.Uint32 // of the next CQ, from 1
	events *descriptor
	soft   bool         // Soft-RoCE
	open   atomic.Int64 // objects on it
	dead   atomic.Pointer[string]
	closed atomic.Bool

	mu       sync.Mutex
	channels []*channel     // their waiters must be woken if the device dies
	qps      map[uint32]*qp // by number, to notify a QP of its own error
}

// Devices returns the names of the cards of this machine.
func Devices() ([]string, error) {
	var names []string
	_, err := eachDevice(func(_ *C.struct_ibv_device, name string) bool {
		names = append(names, name)
		return false
	})
	return names, err
}

// eachDevice calls f for every card until it returns true. The card is valid
// during the call only.
func eachDevice(f func(d *C.struct_ibv_device, name string) bool) (bool, error) {
	var n C.int
	list, err := C.ibv_get_device_list(&n)
	if list == nil {
		e, _ := err.(syscall.Errno)
		return false, callError("libibverbs", "list the devices", e, "is the module ib_uverbs loaded?")
	}
	defer C.ibv_free_device_list(list)
	for _, d := range unsafe.Slice(list, int(n)) {
		if f(d, C.GoString(C.ibv_get_device_name(d))) {
			return true, nil
		}
	}
	return false, nil
}

// Open opens a card. Close releases it.
func Open(cfg Config) (verbs.Device, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	d := &device{cfg: cfg.complete()}
	names, err := Devices()
	if err != nil {
		return nil, err
	}
	d.name = cfg.Device
	if cfg.Device == "" && len(names) == 1 {
		d.name = names[0]
	}
	var openErr error
	found, err := eachDevice(func(c *C.struct_ibv_device, name string) bool {
		if name != d.name {
			return false
		}
		ctx, err := C.ibv_open_device(c)
		if d.ctx = ctx; ctx == nil {
			e, _ := err.(syscall.Errno)
			openErr = callError(name, "open", e, hintOpen)
		}
		return true
	})
	if err = errors.Join(err, openErr); err != nil {
		return nil, err
	}
	if !found {
		return nil, noDevice(cfg.Device, names)
	}
	if err := d.describe(); err != nil {
		C.ibv_close_device(d.ctx)
		return nil, err
	}
	if err := d.listen(); err != nil {
		C.ibv_close_device(d.ctx)
		return nil, err
	}
	return d, nil
}

// describe queries the card and the port.
func (d *device) describe() error {
	var a C.struct_vb_device
	if rc := C.vb_query_device(d.ctx, &a); rc != 0 {
		return d.err("query the device", rc, "")
	}
	const softRoCE = 0xffffff
	d.soft = a.vendor == softRoCE
	d.maxCQE, d.resp = int(a.max_cqe), min(int(a.max_rd_atomic), 255)
	d.attr = verbs.DeviceAttr{Name: d.name, MaxSGE: int(a.max_sge), MaxQPWR: int(a.max_qp_wr),
		MaxRdAtomic: min(int(a.max_init_rd_atomic), 255), AtomicHCA: a.atomic_hca != 0, AtomicGlob: a.atomic_glob != 0}
	p, err := d.port()
	if err != nil {
		return err
	}
	d.lid, d.roce, d.mtu = uint16(p.lid), p.ethernet != 0, mtuBytes(int(p.active_mtu))
	if d.cfg.MTU > d.mtu {
		return fmt.Errorf("hw: %s: %w: MTU is %d, and port %d has an active MTU of %d (at most %d); raise the MTU of its interface, or lower Config.MTU",
			d.name, ErrConfig, d.cfg.MTU, d.cfg.Port, d.mtu, mtuBytes(int(p.max_mtu)))
	}
	if d.cfg.MTU != 0 {
		d.mtu = d.cfg.MTU
	}
	if err := d.address(); err != nil {
		return err
	}
	const flushGlobal, flushPersistent, atomicWrite = 1 << 38, 1 << 39, 1 << 40
	return d.probe(a.caps&(flushGlobal|flushPersistent) != 0, a.caps&atomicWrite != 0)
}

// port queries the state of the port. A port that is down is an error.
func (d *device) port() (C.struct_vb_port, error) {
	var p C.struct_vb_port
	if rc := C.vb_query_port(d.ctx, C.int(d.cfg.Port), &p); rc != 0 {
		return p, d.err(fmt.Sprintf("query port %d", d.cfg.Port), rc, "ports count from 1")
	}
	if p.state != C.IBV_PORT_ACTIVE {
		return p, fmt.Errorf("hw: %s: %w: port %d is in state %s; bring its interface up (ip link), or wait for the subnet manager",
			d.name, ErrPortDown, d.cfg.Port, C.GoString(C.ibv_port_state_str(uint32(p.state))))
	}
	return p, nil
}

// gids returns the GID tables of all ports. The kernel refuses a buffer in which not all fit.
func (d *device) gids() ([]C.struct_ibv_gid_entry, error) {
	const most = 1 << 16
	for size := 256; ; size *= 4 {
		raw := make([]C.struct_ibv_gid_entry, size)
		n, err := C._ibv_query_gid_table(d.ctx, &raw[0], C.size_t(size), 0, C.sizeof_struct_ibv_gid_entry)
		if n >= 0 {
			return raw[:n], nil
		}
		e := syscall.Errno(-n)
		if errno, ok := err.(syscall.Errno); ok && n == -1 {
			e = errno
		}
		if e != syscall.EINVAL || size >= most {
			return nil, callError(d.name, "query the GID table", e, "")
		}
	}
}

func (d *device) address() error {
	raw, err := d.gids()
	if err != nil {
		return err
	}
	types := map[C.uint32_t]GIDType{C.IBV_GID_TYPE_IB: IB, C.IBV_GID_TYPE_ROCE_V1: RoCEv1, C.IBV_GID_TYPE_ROCE_V2: RoCEv2}
	var table []gidEntry
	for i := range raw {
		e := &raw[i]
		table = append(table, gidEntry{gid: e.gid, typ: types[e.gid_type], index: int(e.gid_index), port: int(e.port_num)})
	}
	if d.gid, err = d.cfg.pickGID(table); err != nil {
		return fmt.Errorf("hw: %s: %w", d.name, err)
	}
	return nil
}

// probe creates a temporary queue pair to find the limits of the driver. One is the size of
// inline data, which libibverbs does not report otherwise. The other is whether extended
// operations work: an old library lacks them even if the card has them.
func (d *device) probe(flush, atomicWrite bool) error {
	pd, err := C.ibv_alloc_pd(d.ctx)
	if pd == nil {
		return d.errno("allocate a protection domain", err, hintOpen)
	}
	defer C.ibv_dealloc_pd(pd)
	cq, err := C.ibv_create_cq(d.ctx, 4, nil, nil, 0)
	if cq == nil {
		return d.errno("create a CQ", err, hintRegister(errnoOf(err), lockLimit()))
	}
	defer C.ibv_destroy_cq(cq)
	try := func(inline int, flush, atomicWrite bool) bool {
		init := C.struct_vb_qp_init{send_wr: 4, recv_wr: 4, sge: 1, max_inline: C.int(inline), flush: flag(flush), atomic_write: flag(atomicWrite)}
		qp, e := C.vb_create_qp(pd, cq, cq, &init)
		if err = e; qp == nil {
			return false
		}
		C.ibv_destroy_qp(qp)
		return true
	}
	d.attr.HasFlush = flush && try(0, true, false)
	d.attr.HasAtomicWrite = atomicWrite && try(0, false, true)
	for n := d.cfg.MaxInline; n > 0; n /= 2 {
		if try(n, d.attr.HasFlush, d.attr.HasAtomicWrite) {
			d.attr.MaxInline = n
			return nil
		}
	}
	if !try(0, d.attr.HasFlush, d.attr.HasAtomicWrite) {
		return d.errno("create a QP", err, hintRegister(errnoOf(err), lockLimit()))
	}
	return nil
}

func flag(b bool) C.int {
	if b {
		return 1
	}
	return 0
}

// Attr implements verbs.Device.
func (d *device) Attr() verbs.DeviceAttr { return d.attr }

// GIDIndex returns the index of our address in the port's table, which other programs on the
// same card, such as perftest, need.
func (d *device) GIDIndex() int { return d.gid.index }

// alive returns nil as long as the device is usable.
func (d *device) alive() error {
	if d.closed.Load() {
		return fmt.Errorf("hw: %s: %w", d.name, verbs.ErrClosed)
	}
	if why := d.dead.Load(); why != nil {
		return fmt.Errorf("hw: %s: %w: %s", d.name, ErrDead, *why)
	}
	return nil
}

// Close implements verbs.Device.
func (d *device) Close() error {
	if n := d.open.Load(); n != 0 {
		return fmt.Errorf("hw: %s: close: %w: %d protection domains, CQs or channels are left", d.name, verbs.ErrBusy, n)
	}
	if d.closed.Swap(true) {
		return fmt.Errorf("hw: %s: close: %w", d.name, verbs.ErrClosed)
	}
	d.events.close()
	if rc, err := C.ibv_close_device(d.ctx); rc != 0 {
		return d.errno("close", err, "")
	}
	return nil
}

// err converts a returned errno into an error.
func (d *device) err(what string, rc C.int, hint string) error {
	return callError(d.name, what, syscall.Errno(rc), hint)
}

// errno converts a call's errno into an error.
func (d *device) errno(what string, err error, hint string) error {
	return callError(d.name, what, errnoOf(err), hint)
}

func errnoOf(err error) syscall.Errno {
	if e, ok := err.(syscall.Errno); ok && e != 0 {
		return e
	}
	return syscall.EIO
}
