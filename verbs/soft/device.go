package soft

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// Limits of a device.
const (
	mtu         = verbs.MaxMTU // bytes of payload that are placed at once
	maxInline   = 220
	maxSGE      = 16
	maxQPWR     = 1 << 14
	maxRdAtomic = 16
	maxCQE      = 1 << 20
	maxQPN      = 1<<24 - 1
)

// device is a card made of goroutines. It implements verbs.Device.
type device struct {
	cfg    Config
	at     netip.AddrPort // of the listener; endpoints carry it
	lis    net.Listener
	tasks  sync.WaitGroup
	open   atomic.Int64 // protection domains, CQs and channels
	closed atomic.Bool
	conns  chan struct{} // a token for each connection of others
	done   chan struct{} // closed by Close

	mu   sync.RWMutex
	qps  map[uint32]*qp
	mrs  map[uint32]*mr
	live map[net.Conn]bool       // connections of others
	cut  map[netip.AddrPort]bool // devices that a test has cut off
	next uint32                  // queue pair number to try
}

// Open opens a device, which others can then reach. Close closes it.
func Open(cfg Config) (verbs.Device, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	at, err := cfg.address()
	if err != nil {
		return nil, err
	}
	d := &device{cfg: cfg.complete(), done: make(chan struct{}), qps: map[uint32]*qp{}, mrs: map[uint32]*mr{},
		live: map[net.Conn]bool{}, cut: map[netip.AddrPort]bool{}}
	if d.lis, err = net.Listen("tcp", at.String()); err != nil {
		return nil, fmt.Errorf("soft: %w", err)
	}
	d.at = at
	if tcp, ok := d.lis.Addr().(*net.TCPAddr); ok {
		d.at = netip.AddrPortFrom(at.Addr(), uint16(tcp.Port))
	}
	d.conns = make(chan struct{}, d.cfg.MaxConns)
	// Numbers of an earlier process at this address should not be reused at once.
	d.next = rand.Uint32() & maxQPN
	d.tasks.Go(d.accept)
	return d, nil
}

// Attr implements verbs.Device.
func (d *device) Attr() verbs.DeviceAttr {
	return verbs.DeviceAttr{Name: d.cfg.Name, MaxInline: maxInline, MaxSGE: maxSGE, MaxQPWR: maxQPWR, MaxRdAtomic: maxRdAtomic,
		AtomicHCA: true, AtomicGlob: true, HasFlush: true, HasAtomicWrite: true}
}

// Addr returns the address at which the device listens.
func (d *device) Addr() string { return d.at.String() }

// alive returns nil until Close.
func (d *device) alive() error {
	if d.closed.Load() {
		return d.errorf("%w", verbs.ErrClosed)
	}
	return nil
}

func (d *device) errorf(format string, args ...any) error {
	return fmt.Errorf("%s: "+format, append([]any{d.cfg.Name}, args...)...)
}

// Close implements verbs.Device. It returns when all goroutines of the device have exited.
func (d *device) Close() error {
	if n := d.open.Load(); n != 0 {
		return d.errorf("close: %w: %d protection domains, CQs or channels are left", verbs.ErrBusy, n)
	}
	if d.closed.Swap(true) {
		return d.errorf("close: %w", verbs.ErrClosed)
	}
	close(d.done)
	err := d.lis.Close()
	d.mu.Lock()
	for conn := range d.live { //lint:ordered all are closed
		_ = conn.Close() // incomplete connections, and those of failed queue pairs
	}
	d.mu.Unlock()
	d.tasks.Wait()
	return err
}

// accept serves connections until the device is closed.
func (d *device) accept() {
	for {
		select {
		case d.conns <- struct{}{}:
		case <-d.done:
			return
		}
		conn, err := d.lis.Accept()
		switch {
		case err == nil:
			d.tasks.Go(func() {
				defer func() { <-d.conns }()
				if d.track(conn) {
					defer d.forget(conn)
					d.serve(conn)
				}
			})
		case errors.Is(err, net.ErrClosed):
			return
		default: // such as too many open files, which may be temporary
			<-d.conns
			select {
			case <-time.After(d.cfg.RNRTimer):
			case <-d.done:
				return
			}
		}
	}
}

// track registers a connection, so that Close closes it. It reports whether the device is still open.
func (d *device) track(conn net.Conn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed.Load() {
		_ = conn.Close() // too late
		return false
	}
	d.live[conn] = true
	return true
}

func (d *device) forget(conn net.Conn) {
	d.mu.Lock()
	delete(d.live, conn)
	d.mu.Unlock()
	_ = conn.Close() // the connection may be closed already
}

// addQP gives a queue pair its number.
func (d *device) addQP(q *qp) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.qps) >= maxQPN/2 {
		return d.errorf("create QP: %w: there are %d", verbs.ErrInvalid, len(d.qps))
	}
	for d.next == 0 || d.qps[d.next] != nil {
		d.next = (d.next + 1) & maxQPN
	}
	q.num = d.next
	d.qps[q.num] = q
	d.next = (d.next + 1) & maxQPN
	return nil
}

func (d *device) qp(num uint32) *qp {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.qps[num]
}

func (d *device) removeQP(num uint32) {
	d.mu.Lock()
	delete(d.qps, num)
	d.mu.Unlock()
}

// isCut reports whether a test has cut the link to the device at an address.
func (d *device) isCut(at netip.AddrPort) bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.cut[at]
}
