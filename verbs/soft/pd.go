package soft

import (
	"math/rand/v2"
	"sync"
	"unsafe"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// pd is a protection domain. It implements verbs.PD.
type pd struct {
	d    *device
	mu   sync.Mutex
	gone bool
	open int // regions and queue pairs of it
}

// AllocPD implements verbs.Device.
func (d *device) AllocPD() (verbs.PD, error) {
	if err := d.alive(); err != nil {
		return nil, err
	}
	d.open.Add(1)
	return &pd{d: d}, nil
}

// Dealloc implements verbs.PD.
func (p *pd) Dealloc() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := verbs.CheckDealloc(p.gone, p.open); err != nil {
		return p.d.errorf("deallocate a protection domain: %w", err)
	}
	p.gone = true
	p.d.open.Add(-1)
	return nil
}

// join counts a new region or queue pair.
func (p *pd) join() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := verbs.CheckPD(p.gone); err != nil {
		return err
	}
	p.open++
	return nil
}

func (p *pd) leave() {
	p.mu.Lock()
	p.open--
	p.mu.Unlock()
}

// mr is a registered region. It implements verbs.MR.
type mr struct {
	pd     *pd
	mem    verbs.Memory
	addr   uint64
	bytes  []byte
	access verbs.Access
	key    uint32 // of both kinds

	mu   sync.RWMutex // held for reading while the device accesses the bytes
	gone bool
}

// mapped is memory whose bytes the device can reach: pages of package host/oshost or
// verbs/hw. Memory that the garbage collector may move does not qualify.
type mapped interface{ Bytes() []byte }

// pinned is memory that counts its registrations, so that it can refuse to be freed. Pin
// fails if the memory was freed already.
type pinned interface {
	Pin() error
	Unpin()
}

// persistent is memory that can be flushed: a host.Region.
type persistent interface {
	Flush(off, n int)
	Fence()
}

// RegisterMR implements verbs.PD.
func (p *pd) RegisterMR(mem verbs.Memory, access verbs.Access) (verbs.MR, error) {
	if err := p.d.alive(); err != nil {
		return nil, err
	}
	if err := verbs.CheckRegistration(access, p.d.Attr().HasFlush); err != nil {
		return nil, p.d.errorf("register memory: %w", err)
	}
	if err := verbs.CheckMemory(mem); err != nil {
		return nil, p.d.errorf("register memory: %w", err)
	}
	if _, flushes := mem.(persistent); access&verbs.FlushPersistent != 0 && !flushes {
		return nil, p.d.errorf("register memory: %w: this memory cannot be flushed", verbs.ErrUnsupported)
	}
	if err := p.join(); err != nil {
		return nil, p.d.errorf("register memory: %w", err)
	}
	m, err := p.register(mem, access)
	if err != nil {
		p.leave()
		return nil, p.d.errorf("register memory: %w", err)
	}
	return m, nil
}

func (p *pd) register(mem verbs.Memory, access verbs.Access) (*mr, error) {
	lock, hasLock := mem.(pinned)
	if hasLock {
		if err := lock.Pin(); err != nil {
			return nil, errorOf(verbs.ErrInvalid, err.Error())
		}
	}
	m := &mr{pd: p, mem: mem, addr: mem.Addr(), access: access}
	if b, ok := mem.(mapped); ok {
		m.bytes = b.Bytes()
	}
	if at := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(m.bytes)))); len(m.bytes) != mem.Len() || at != m.addr {
		if hasLock {
			lock.Unpin()
		}
		return nil, errorOf(verbs.ErrInvalid, "the memory is not mapped; memory of package host/oshost is")
	}
	d := p.d
	d.mu.Lock()
	defer d.mu.Unlock()
	for m.key == 0 || d.mrs[m.key] != nil { // random, so that the key of a deregistered region is not reused
		m.key = rand.Uint32()
	}
	d.mrs[m.key] = m
	return m, nil
}

// Addr and the methods below implement verbs.MR.
func (m *mr) Addr() uint64 { return m.addr }
func (m *mr) Len() int     { return len(m.bytes) }
func (m *mr) LKey() uint32 { return m.key }
func (m *mr) RKey() uint32 { return m.key }

// Dereg returns when no goroutine of the device accesses the bytes any longer.
func (m *mr) Dereg() error {
	m.mu.Lock()
	gone := m.gone
	m.gone = true
	m.mu.Unlock()
	d := m.pd.d
	if gone {
		return d.errorf("deregister: %w", verbs.ErrClosed)
	}
	d.mu.Lock()
	delete(d.mrs, m.key)
	d.mu.Unlock()
	if lock, ok := m.mem.(pinned); ok {
		lock.Unpin()
	}
	m.pd.leave()
	return nil
}

// acquire finds n bytes at addr in a region of p with this key and access. They stay
// registered until release. The result is nil if there are none.
func (p *pd) acquire(key uint32, addr uint64, n int, need verbs.Access) (*mr, []byte) {
	p.d.mu.RLock()
	m := p.d.mrs[key]
	p.d.mu.RUnlock()
	if m == nil {
		return nil, nil
	}
	m.mu.RLock()
	if m.gone || m.pd != p || !m.access.Grants(need) || !verbs.Covers(m.addr, len(m.bytes), addr, n) {
		m.mu.RUnlock()
		return nil, nil
	}
	off := addr - m.addr
	return m, m.bytes[off : off+uint64(n) : off+uint64(n)]
}

func (m *mr) release() { m.mu.RUnlock() }

// reaches reports whether acquire would find the bytes.
func (p *pd) reaches(key uint32, addr uint64, n int, need verbs.Access) bool {
	m, _ := p.acquire(key, addr, n, need)
	if m != nil {
		m.release()
	}
	return m != nil
}
