package oshost

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Host is a process on the operating system. It implements host.Host.
type Host struct {
	cfg     Config
	version string // of the protocol; tests use others
	start   time.Time
	ctx     context.Context // done when the host is closed
	end     context.CancelFunc
	server  *server // nil if it accepts no calls
	client  *http.Client
	mu      sync.Mutex
	peers   map[string]string
	pmem    map[string]*region
}

var _ host.Host = (*Host)(nil)

// New makes a host. From then on it accepts calls. Close releases it.
func New(cfg Config) (*Host, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	h := &Host{cfg: cfg.complete(), version: version, start: time.Now(), peers: map[string]string{}, pmem: map[string]*region{}}
	maps.Copy(h.peers, cfg.Peers)
	h.ctx, h.end = context.WithCancel(context.Background())
	h.client = h.newClient()
	if cfg.Listen != "" {
		if err := h.serve(); err != nil {
			h.end()
			return nil, err
		}
	}
	return h, nil
}

// Run runs the first task, main, and closes the host when it returns.
func (h *Host) Run(main func(host.Host)) error {
	main(h)
	return h.Close()
}

// Close closes the host: waits for messages return host.ErrClosed. Tasks are not
// stopped, since Go cannot, and regions stay mapped, since a card may still write to
// them; both last as long as the process.
func (h *Host) Close() error {
	h.end()
	h.client.CloseIdleConnections()
	if h.server != nil {
		return h.server.close()
	}
	return nil
}

// Addr returns the address at which the host accepts calls; empty if it accepts none.
func (h *Host) Addr() string {
	if h.server == nil {
		return ""
	}
	return h.server.lis.Addr().String()
}

// AddPeer sets the address of another host, or its new one.
func (h *Host) AddPeer(name, addr string) error {
	if err := checkPeer(name, addr); err != nil {
		return err
	}
	h.mu.Lock()
	moved := h.peers[name] != "" && h.peers[name] != addr
	h.peers[name] = addr
	h.mu.Unlock()
	if moved { // connections are kept by name
		h.client.CloseIdleConnections()
	}
	return nil
}

// peer returns the address of a host, which may be this one.
func (h *Host) peer(name string) (string, error) {
	h.mu.Lock()
	addr := h.peers[name]
	h.mu.Unlock()
	if addr == "" && name == h.cfg.Name {
		addr = h.Addr()
	}
	switch {
	case addr != "":
		return addr, nil
	case h.cfg.Resolve == nil:
		return "", fmt.Errorf("%w: no host of that name is known", host.ErrUnreachable)
	}
	addr, err := h.cfg.Resolve(name)
	if err != nil {
		return "", fmt.Errorf("%w: %w", host.ErrUnreachable, err)
	}
	return addr, nil
}

// unknown returns an error if it is certain, without a lookup, that no such host is known.
func (h *Host) unknown(name string) error {
	if h.cfg.Resolve != nil {
		return nil
	}
	_, err := h.peer(name)
	return err
}

// Name implements host.Host.
func (h *Host) Name() string { return h.cfg.Name }

// Device implements host.Host. It is never nil: without Config.Device, all its methods return
// errors that wrap [ErrNoDevice].
func (h *Host) Device() verbs.Device {
	if h.cfg.Device == nil {
		return noDevice{}
	}
	return h.cfg.Device
}

// Go implements host.Host.
func (h *Host) Go(name string, f func()) {
	if f == nil {
		panic(fmt.Sprintf("oshost: Go(%q, nil): a task needs a function", name))
	}
	go f()
}

// Now implements host.Host.
func (h *Host) Now() time.Duration { return time.Since(h.start) }

// Sleep implements host.Host.
func (h *Host) Sleep(d time.Duration) { time.Sleep(d) }

// Rand implements host.Host.
func (h *Host) Rand(n int) int { return rand.IntN(n) }

// Visit implements host.Host.
func (h *Host) Visit(names []string) host.Visit { return host.InTurn(names) }

// NewMutex implements host.Host.
func (h *Host) NewMutex() host.Mutex { return new(sync.Mutex) }

// NewCond implements host.Host.
func (h *Host) NewCond(m host.Mutex) host.Cond { return sync.NewCond(m) }

// Logf implements host.Host.
func (h *Host) Logf(format string, args ...any) {
	if h.cfg.Logf != nil {
		h.cfg.Logf(format, args...)
	}
}
