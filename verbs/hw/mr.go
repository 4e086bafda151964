//go:build rdma

package hw

/*
#include "binding.h"
*/
import "C"

import (
	"fmt"
	"sync"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// pd is a protection domain. It implements verbs.PD.
type pd struct {
	d    *device
	mu   sync.Mutex
	c    *C.struct_ibv_pd // nil after Dealloc
	open int              // regions and queue pairs of it
	mrs  map[uint32]*mr   // by LKey
}

// AllocPD implements verbs.Device.
func (d *device) AllocPD() (verbs.PD, error) {
	if err := d.alive(); err != nil {
		return nil, err
	}
	c, err := C.ibv_alloc_pd(d.ctx)
	if c == nil {
		return nil, d.errno("allocate a protection domain", err, hintOpen)
	}
	d.open.Add(1)
	return &pd{d: d, c: c, mrs: map[uint32]*mr{}}, nil
}

// Dealloc implements verbs.PD.
func (p *pd) Dealloc() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := verbs.CheckDealloc(p.c == nil, p.open); err != nil {
		return fmt.Errorf("hw: %s: deallocate a protection domain: %w", p.d.name, err)
	}
	if rc := C.ibv_dealloc_pd(p.c); rc != 0 {
		return p.d.err("deallocate a protection domain", rc, "")
	}
	p.c = nil
	p.d.open.Add(-1)
	return nil
}

// mr is a registered region. It implements verbs.MR.
type mr struct {
	pd         *pd
	c          *C.struct_ibv_mr // nil after Dereg
	mem        verbs.Memory
	addr       uint64
	size       int
	lkey, rkey uint32
}

// pinned is memory that counts its registrations, so that it can refuse to be freed. Pin
// fails if the memory was freed already.
type pinned interface {
	Pin() error
	Unpin()
}

// accessFlags are the ibv_access_flags of verbs.Access, bit by bit.
var accessFlags = [...]C.int{C.IBV_ACCESS_LOCAL_WRITE, C.IBV_ACCESS_REMOTE_WRITE, C.IBV_ACCESS_REMOTE_READ,
	C.IBV_ACCESS_REMOTE_ATOMIC, 1 << 8, 1 << 9} // older headers lack the last two

// relaxedOrdering is IBV_ACCESS_RELAXED_ORDERING, which older headers lack. Libraries and
// kernels ignore unknown flags in its range.
const relaxedOrdering = 1 << 20

// flagsOf translates flags that were checked.
func flagsOf(a verbs.Access) (flags C.int) {
	for i, f := range accessFlags {
		if a&(1<<i) != 0 {
			flags |= f
		}
	}
	return flags
}

// RegisterMR implements verbs.PD. The memory must not belong to the garbage collector:
// see [NewMemory].
func (p *pd) RegisterMR(mem verbs.Memory, access verbs.Access) (verbs.MR, error) {
	what := fmt.Sprintf("register %d bytes of memory", mem.Len())
	if err := verbs.CheckRegistration(access, p.d.attr.HasFlush); err != nil {
		return nil, fmt.Errorf("hw: %s: %s: %w", p.d.name, what, err)
	}
	if err := verbs.CheckMemory(mem); err != nil {
		return nil, fmt.Errorf("hw: %s: %s: %w", p.d.name, what, err)
	}
	if err := p.d.alive(); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := verbs.CheckPD(p.c == nil); err != nil {
		return nil, fmt.Errorf("hw: %s: %s: %w", p.d.name, what, err)
	}
	lock, hasLock := mem.(pinned)
	if hasLock {
		if err := lock.Pin(); err != nil {
			return nil, fmt.Errorf("hw: %s: %s: %w: %w", p.d.name, what, verbs.ErrInvalid, err)
		}
	}
	flags := flagsOf(access)
	if p.d.cfg.RelaxedOrdering {
		flags |= relaxedOrdering
	}
	c, err := C.vb_reg_mr(p.c, C.uint64_t(mem.Addr()), C.uint64_t(mem.Len()), flags)
	if c == nil {
		if hasLock {
			lock.Unpin()
		}
		return nil, p.d.errno(what, err, hintRegister(errnoOf(err), lockLimit()))
	}
	m := &mr{pd: p, c: c, mem: mem, addr: mem.Addr(), size: mem.Len(), lkey: uint32(c.lkey), rkey: uint32(c.rkey)}
	p.mrs[m.lkey] = m
	p.open++
	return m, nil
}

// Addr and the methods below implement verbs.MR.
func (m *mr) Addr() uint64 { return m.addr }
func (m *mr) Len() int     { return m.size }
func (m *mr) LKey() uint32 { return m.lkey }
func (m *mr) RKey() uint32 { return m.rkey }

func (m *mr) Dereg() error {
	p := m.pd
	p.mu.Lock()
	defer p.mu.Unlock()
	if m.c == nil {
		return fmt.Errorf("hw: %s: deregister: %w", p.d.name, verbs.ErrClosed)
	}
	if rc := C.ibv_dereg_mr(m.c); rc != 0 {
		return p.d.err("deregister", rc, "is a memory window bound to it?")
	}
	m.c = nil
	delete(p.mrs, m.lkey)
	p.open--
	if lock, ok := m.mem.(pinned); ok {
		lock.Unpin()
	}
	return nil
}

// covers reports whether a registration of p covers the piece of memory.
func (p *pd) covers(s verbs.SGE) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := p.mrs[s.LKey]
	return m != nil && verbs.Covers(m.addr, m.size, s.Addr, int(s.Length))
}
