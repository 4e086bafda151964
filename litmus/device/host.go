package device

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/host/oshost"
)

// network carries the messages between the hosts of a test, in this process.
type network struct {
	patience time.Duration // the longest wait for an answer
	mu       sync.Mutex
	services map[string]chan *message // by host and service
	cut      map[[2]string]bool       // links that nothing passes; both directions
}

func newNetwork(patience time.Duration) *network {
	return &network{patience: patience, services: map[string]chan *message{}, cut: map[[2]string]bool{}}
}

// setCut cuts the link between two hosts, or heals it.
func (n *network) setCut(a, b string, cut bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cut[[2]string{a, b}], n.cut[[2]string{b, a}] = cut, cut
}

// passes reports whether a message gets from one host to another.
func (n *network) passes(from, to string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return !n.cut[[2]string{from, to}]
}

// queue bounds the pending messages of one service.
const queue = 64

// member is a host of a test: one on the operating system, except for its messages, its
// persistent memory and its random numbers. It implements host.Host.
type member struct {
	*oshost.Host
	net  *network
	mu   sync.Mutex
	rand *rand.Rand
}

var _ host.Host = (*member)(nil)

// OpenPMEM is Alloc: without power failures there is no difference.
func (h *member) OpenPMEM(_ string, size int) (host.Region, error) { return h.Alloc(size) }

// Rand is derived from the seed.
func (h *member) Rand(n int) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.rand.IntN(n)
}

// Listen implements host.Host.
func (h *member) Listen(service string) (host.Listener, error) {
	h.net.mu.Lock()
	defer h.net.mu.Unlock()
	key := h.Name() + "/" + service
	if h.net.services[key] != nil {
		return nil, fmt.Errorf("device: %s listens to %q already", h.Name(), service)
	}
	ch := make(chan *message, queue)
	h.net.services[key] = ch
	return &listener{h.net, key, ch}, nil
}

// Call implements host.Host.
func (h *member) Call(to, service string, req []byte, timeout time.Duration) ([]byte, error) {
	m, err := h.net.send(h.Name(), to, service, req)
	if err != nil {
		return nil, err
	}
	a, ok := within(h.net.limit(timeout), m.answer)
	if !ok {
		return nil, host.ErrTimeout
	}
	return a.Body, a.Err
}

// limit converts a timeout of package host: nothing waits forever here.
func (n *network) limit(timeout time.Duration) time.Duration {
	if timeout < 0 {
		return n.patience
	}
	return timeout
}

// within receives from ch in time d. A value that is already there arrives even with d
// = 0.
func within[T any](d time.Duration, ch <-chan T) (v T, ok bool) {
	select {
	case v = <-ch:
		return v, true
	default:
	}
	after := time.NewTimer(d)
	defer after.Stop()
	select {
	case v = <-ch:
		return v, true
	case <-after.C:
		return v, false
	}
}

// Gather implements host.Host.
func (h *member) Gather(calls []host.Call, timeout time.Duration) host.Gather {
	g := &gather{timeout: h.net.limit(timeout), answers: make([]host.Answer, len(calls)), sent: make([]*message, len(calls))}
	for i, c := range calls {
		g.sent[i], g.answers[i].Err = h.net.send(h.Name(), c.To, c.Service, c.Body)
	}
	return g
}

// send delivers a request. One that a cut link does not let pass has no answer.
func (n *network) send(from, to, service string, body []byte) (*message, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	ch := n.services[to+"/"+service]
	if ch == nil {
		return nil, fmt.Errorf("%w: %s at %s", host.ErrUnreachable, service, to)
	}
	m := &message{net: n, from: from, to: to, service: to + "/" + service, body: body, answer: make(chan host.Answer, 1)}
	if n.cut[[2]string{from, to}] {
		return m, nil
	}
	select {
	case ch <- m:
		return m, nil
	default:
		return nil, fmt.Errorf("%w: %d messages wait for %s at %s", host.ErrUnreachable, queue, service, to)
	}
}

// message is a request and its way back. It implements host.Request.
type message struct {
	net               *network
	from, to, service string
	body              []byte
	answer            chan host.Answer
}

func (m *message) From() string   { return m.from }
func (m *message) Body() []byte   { return m.body }
func (m *message) Reply(b []byte) { m.reply(host.Answer{Body: append([]byte{}, b...)}) }
func (m *message) Reject(reason string) {
	m.reply(host.Answer{Err: &host.RemoteError{Service: m.service, Reason: reason}})
}

func (m *message) reply(a host.Answer) {
	if !m.net.passes(m.to, m.from) {
		return
	}
	select {
	case m.answer <- a:
	default: // a second answer is ignored
	}
}

// listener implements host.Listener.
type listener struct {
	net *network
	key string
	ch  chan *message
}

func (l *listener) Accept(timeout time.Duration) (host.Request, error) {
	m, ok := within(l.net.limit(timeout), l.ch)
	if !ok {
		return nil, host.ErrTimeout
	}
	return m, nil
}

func (l *listener) Close() error {
	l.net.mu.Lock()
	defer l.net.mu.Unlock()
	delete(l.net.services, l.key)
	return nil
}

// gather implements host.Gather.
type gather struct {
	timeout time.Duration
	sent    []*message
	answers []host.Answer
}

// Wait implements host.Gather. It waits for the calls in their order.
func (g *gather) Wait(need int) []host.Answer {
	after := time.NewTimer(g.timeout)
	defer after.Stop()
	good := 0
	for i, m := range g.sent {
		if g.answers[i].Pending() && good < need {
			select {
			case g.answers[i] = <-m.answer:
			case <-after.C:
				after.Reset(0) // for the others
				g.answers[i].Err = host.ErrTimeout
			}
		}
		if g.answers[i].Err == nil && !g.answers[i].Pending() {
			good++
		}
	}
	return g.answers
}
