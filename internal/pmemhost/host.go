// Package pmemhost is a host with persistent memory only, for tests of logs in that memory. Its process or its power can
// fail at any store, flush or fence.
//
//	h := pmemhost.New()
//	h.After(17, func() { panic(crashed) })   // in place of the 17th step
//	...
//	next := h.Crash(func(off int) bool { return false }) // power fails: the caches are lost
//
// A store goes to a cache. A flush and a fence make it persistent; any word may become persistent earlier. Tasks are
// goroutines. There is no network, no clock and no card.
package pmemhost

import (
	"sync"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Host implements host.Host.
type Host struct {
	mu    sync.Mutex
	mems  map[string]*Memory
	steps int
	after int
	f     func()
}

var _ host.Host = (*Host)(nil)

// New returns a host whose persistent memory is empty.
func New() *Host { return &Host{mems: map[string]*Memory{}} }

// Steps returns the number of steps so far: stores of one word, flushes and fences of persistent memory.
func (h *Host) Steps() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.steps
}

// After makes the host call f before the n-th step from now; 0: never. If f panics, the step does not happen. f may
// call Crash.
func (h *Host) After(n int, f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.after, h.f = 0, f
	if n > 0 {
		h.after = h.steps + n
	}
}

// Crash returns the host as the next process finds it. If evicted is nil, only the process has failed, and the content
// of the caches stays. Otherwise the power has failed, and evicted reports which cached words had been written back.
func (h *Host) Crash(evicted func(off int) bool) *Host {
	h.mu.Lock()
	defer h.mu.Unlock()
	next := New()
	for name, m := range h.mems { //lint:ordered each is copied
		next.mems[name] = m.crash(next, evicted)
	}
	return next
}

// Memory returns a persistent region that has been opened; nil: there is none.
func (h *Host) Memory(name string) *Memory {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.mems[name]
}

// step counts a step, and calls f if it is due. It returns with the mutex held.
func (h *Host) step() {
	h.mu.Lock()
	h.steps++
	if h.steps != h.after {
		return
	}
	f := h.f
	h.mu.Unlock()
	f()
	h.mu.Lock()
}

// OpenPMEM implements host.Host.
func (h *Host) OpenPMEM(name string, size int) (host.Region, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	m := h.mems[name]
	switch {
	case m == nil:
		m = &Memory{h: h, b: make([]byte, size), persistent: make([]byte, size)}
		h.mems[name] = m
	case len(m.b) != size:
		return nil, host.ErrBounds
	}
	return m, nil
}

// Alloc implements host.Host.
func (h *Host) Alloc(size int) (host.Region, error) {
	return &Memory{h: h, b: make([]byte, size), dram: true}, nil
}

// Name implements host.Host.
func (h *Host) Name() string { return "pmem" }

// Go implements host.Host.
func (h *Host) Go(_ string, f func()) { go f() }

// NewMutex implements host.Host.
func (h *Host) NewMutex() host.Mutex { return new(sync.Mutex) }

// NewCond implements host.Host.
func (h *Host) NewCond(m host.Mutex) host.Cond { return sync.NewCond(m) }

// Visit implements host.Host.
func (h *Host) Visit(names []string) host.Visit { return host.InTurn(names) }

// Rand implements host.Host.
func (h *Host) Rand(int) int { return 0 }

// Logf implements host.Host.
func (h *Host) Logf(string, ...any) {}

// Device implements host.Host: there is none.
func (h *Host) Device() verbs.Device { return nil }

// Now implements host.Host: no time passes.
func (h *Host) Now() time.Duration { return 0 }

// Sleep implements host.Host: no time passes.
func (h *Host) Sleep(time.Duration) {}

// Listen implements host.Host: there is no network.
func (h *Host) Listen(string) (host.Listener, error) { return nil, host.ErrUnreachable }

// Call implements host.Host: there is no network.
func (h *Host) Call(string, string, []byte, time.Duration) ([]byte, error) {
	return nil, host.ErrUnreachable
}

// Gather implements host.Host: there is no network.
func (h *Host) Gather(calls []host.Call, _ time.Duration) host.Gather { return nobody(len(calls)) }

type nobody int

func (n nobody) Wait(int) []host.Answer {
	all := make([]host.Answer, n)
	for i := range all {
		all[i].Err = host.ErrUnreachable
	}
	return all
}
