package cluster

import (
	"errors"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/host"
)

// busy is a host with a listener that always has a request: one for a session, and then
// nothing but questions of another host. A request takes a millisecond.
type busy struct {
	host.Host
	accepted int
	over     []any // what is logged
}

func (b *busy) Name() string                         { return controller }
func (b *busy) Now() time.Duration                   { return time.Duration(b.accepted) * time.Millisecond }
func (b *busy) Logf(_ string, args ...any)           { b.over = append(b.over, args...) }
func (b *busy) Listen(string) (host.Listener, error) { return b, nil }
func (b *busy) Close() error                         { return nil }
func (b *busy) Accept(time.Duration) (host.Request, error) {
	b.accepted++
	switch {
	case b.accepted == 1:
		return asked{from: "dead", ask: func(c coord.Client) { _, _ = c.NewSession() }}, nil
	case b.Now() < 2*LeastTTL:
		return asked{from: "alive", ask: func(c coord.Client) { _, _, _ = c.Get("k") }}, nil
	}
	return nil, host.ErrClosed
}

// asked is a request of a client.
type asked struct {
	host.Request
	from string
	ask  func(coord.Client)
}

func (a asked) From() string { return a.from }
func (a asked) Reply([]byte) {}
func (a asked) Body() []byte {
	var c capture
	a.ask(coord.NewClient(&c, controller, controller))
	return c.body
}

// capture is a host that keeps what is called.
type capture struct {
	host.Host
	body []byte
}

func (c *capture) Name() string { return "client" }
func (c *capture) Call(_, _ string, body []byte, _ time.Duration) ([]byte, error) {
	c.body = body
	return nil, host.ErrTimeout
}

// A coordinator that always has something to answer expires sessions all the same.
func TestBusyCoordinatorExpiresSessions(t *testing.T) {
	b := &busy{}
	if err := Serve(b, b, ServeConfig{TTL: LeastTTL}); !errors.Is(err, host.ErrClosed) {
		t.Fatal(err)
	}
	if len(b.over) != 2 || b.over[1] != "dead" {
		t.Errorf("sessions that are over: %v", b.over)
	}
}
