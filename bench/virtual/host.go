package virtual

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Cluster has the hosts of one run of a world.
type Cluster struct {
	model Model
	hosts map[string]*Host
	ends  map[end]*Host // the owner of each queue pair
}

// end names a queue pair in the cluster.
type end struct {
	gid [16]byte
	qpn uint32
}

// New makes an empty cluster.
func New(m Model) (*Cluster, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	return &Cluster{model: m, hosts: map[string]*Host{}, ends: map[end]*Host{}}, nil
}

// Host is a host with a clock. It implements host.Host.
type Host struct {
	host.Host
	c       *Cluster
	peer    bool // lends memory
	now     time.Duration
	tx, rx  time.Duration // its link is busy until then, in each direction
	history []Event
}

// Event is an operation that took a host's time, for the tables.
type Event struct {
	Kind         string // lookup, update, call, setup, register, clear, read, wait
	Began, Ended time.Duration
}

// Host gives inner a clock, which starts at 0. Every host of the world that others call
// must have one.
func (c *Cluster) Host(inner host.Host) *Host {
	h := &Host{Host: inner, c: c}
	c.hosts[inner.Name()] = h
	return h
}

// Events returns the operations that have taken this host's time since the last call.
func (h *Host) Events() []Event {
	e := h.history
	h.history = nil
	return e
}

// Peer is Host for a log peer, which clears the memory that it lends.
func (c *Cluster) Peer(inner host.Host) *Host {
	h := c.Host(inner)
	h.peer = true
	return h
}

func (h *Host) event(kind string, began time.Duration) {
	h.history = append(h.history, Event{kind, began, h.now})
}

// spend advances the clock by work of the CPU.
func (h *Host) spend(d time.Duration) { h.now += d }

// until advances the clock to the time of an awaited event.
func (h *Host) until(t time.Duration) { h.now = max(h.now, t) }

// Now implements host.Host.
func (h *Host) Now() time.Duration { return h.now }

// Sleep implements host.Host.
func (h *Host) Sleep(d time.Duration) {
	h.Host.Sleep(d)
	h.spend(max(d, 0))
}

// Device implements host.Host.
func (h *Host) Device() verbs.Device { return &device{h.Host.Device(), h} }

// Alloc implements host.Host. The time of the registration includes its time.
func (h *Host) Alloc(size int) (host.Region, error) {
	r, err := h.Host.Alloc(size)
	if err != nil {
		return nil, err
	}
	return &region{r, h}, nil
}

// OpenPMEM implements host.Host. The model does not include the cost of persistence.
func (h *Host) OpenPMEM(name string, _ int) (host.Region, error) {
	return nil, fmt.Errorf("virtual: %w: persistent memory %q has no model", host.ErrNoMemory, name)
}

// region is memory whose copies take time. Every copy counts as a call of the
// application, since it is one in the experiments.
type region struct {
	host.Region
	h *Host
}

func (r *region) Load(off int, p []byte) {
	r.h.spend(r.h.c.model.ReadCall + r.h.c.model.copying(len(p)))
	r.Region.Load(off, p)
}

func (r *region) Store(off int, p []byte) {
	r.h.spend(r.h.c.model.WriteCall + r.h.c.model.copying(len(p)))
	r.Region.Store(off, p)
}

// Messages carry their arrival time after their bytes.

const stampSize = 8

func (h *Host) stamped(body []byte) []byte {
	return binary.LittleEndian.AppendUint64(append([]byte(nil), body...), uint64(h.now+h.c.model.Message))
}

// arrived removes the time from a message and advances the clock to it.
func (h *Host) arrived(body []byte) []byte {
	if len(body) < stampSize {
		return body // from a host without a clock
	}
	n := len(body) - stampSize
	h.until(time.Duration(binary.LittleEndian.Uint64(body[n:])))
	return body[:n]
}

// Listen implements host.Host.
func (h *Host) Listen(service string) (host.Listener, error) {
	l, err := h.Host.Listen(service)
	if err != nil {
		return nil, err
	}
	return &listener{l, h}, nil
}

type listener struct {
	host.Listener
	h *Host
}

func (l *listener) Accept(timeout time.Duration) (host.Request, error) {
	r, err := l.Listener.Accept(timeout)
	if err != nil {
		return nil, err
	}
	return &request{r, l.h, l.h.arrived(r.Body())}, nil
}

type request struct {
	host.Request
	h    *Host
	body []byte
}

func (r *request) Body() []byte { return r.body }

func (r *request) Reply(body []byte) { r.Request.Reply(r.h.stamped(body)) }

// Call implements host.Host. A call to a host without a clock takes no time.
func (h *Host) Call(to, service string, body []byte, timeout time.Duration) ([]byte, error) {
	if h.c.hosts[to] == nil {
		return h.Host.Call(to, service, body, timeout)
	}
	a := h.Gather([]host.Call{{To: to, Service: service, Body: body}}, timeout).Wait(1)[0]
	if a.Pending() {
		return nil, fmt.Errorf("call %s/%s: %w", to, service, host.ErrTimeout)
	}
	return a.Body, a.Err
}

// Gather implements host.Host.
func (h *Host) Gather(calls []host.Call, timeout time.Duration) host.Gather {
	stamped := make([]host.Call, len(calls))
	for i, c := range calls {
		stamped[i] = host.Call{To: c.To, Service: c.Service, Body: h.stamped(c.Body)}
	}
	return &gather{Gather: h.Host.Gather(stamped, timeout), h: h, began: h.now, seen: make([]bool, len(calls)), out: make([]host.Answer, len(calls))}
}

type gather struct {
	host.Gather
	h     *Host
	began time.Duration
	seen  []bool
	out   []host.Answer
}

func (g *gather) Wait(need int) []host.Answer {
	for i, a := range g.Gather.Wait(need) {
		if a.Pending() || g.seen[i] {
			continue
		}
		g.seen[i], g.out[i] = true, a
		if a.Err == nil {
			g.out[i].Body = g.h.arrived(a.Body)
		}
	}
	g.h.event("call", g.began)
	return g.out
}
