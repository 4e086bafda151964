package lend

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
)

type quiet struct{ host.Host }

func (quiet) Logf(string, ...any) {}

// machine is a host and its card. It records what is torn down, and one operation
// fails.
type machine struct {
	quiet
	lacks string
	down  []string
	waits time.Duration    // the timeout of a call or a queue
	made  []verbs.QPConfig // of queue pairs
	asked *request         // to be accepted
	cqs   []int            // how long completion queues are
}

var errLacks, errNoMore = errors.New("there is none"), errors.New("there are no more requests")

func (m *machine) lack(what string) error {
	if m.lacks == what {
		return errLacks
	}
	return nil
}

func (m *machine) takeDown(what string) error {
	m.down = append(m.down, what)
	return m.lack("end of " + what)
}

func (m *machine) Device() verbs.Device { return card{m: m} }
func (m *machine) Alloc(int) (host.Region, error) {
	return region{m: m}, m.lack("memory")
}
func (m *machine) Call(_, _ string, _ []byte, timeout time.Duration) ([]byte, error) {
	m.waits = timeout
	g := Greeting{Endpoint: someEnd}
	return g.Encode(), m.lack("answer")
}
func (m *machine) Listen(string) (host.Listener, error) { return listener{m: m}, m.lack("service") }

// listener hands over one request, and then none any more.
type listener struct {
	host.Listener
	m *machine
}

func (l listener) Accept(time.Duration) (host.Request, error) {
	if l.m.asked == nil {
		return nil, errNoMore
	}
	r := l.m.asked
	l.m.asked = nil
	return r, nil
}

// request is one to connect; it keeps its answer.
type request struct {
	host.Request
	body     []byte
	reply    []byte
	rejected string
}

func (r *request) From() string         { return "visitor" }
func (r *request) Body() []byte         { return r.body }
func (r *request) Reply(b []byte)       { r.reply = b }
func (r *request) Reject(reason string) { r.rejected = reason }

type region struct {
	host.Region
	m *machine
}

func (r region) Free() error { return r.m.takeDown("region") }

// card implements every object of a card.
type card struct {
	verbs.Device
	m *machine
}

func (c card) AllocPD() (verbs.PD, error) { return domain{m: c.m}, c.m.lack("domain") }
func (c card) CreateCompChannel() (verbs.CompChannel, error) {
	return channel{m: c.m}, c.m.lack("channel")
}
func (c card) CreateCQ(n int, _ verbs.CompChannel) (verbs.CQ, error) {
	c.m.cqs = append(c.m.cqs, n)
	return cq{m: c.m}, c.m.lack("completion queue")
}

type domain struct {
	verbs.PD
	m *machine
}

func (d domain) Dealloc() error { return d.m.takeDown("domain") }
func (d domain) RegisterMR(verbs.Memory, verbs.Access) (verbs.MR, error) {
	return key{m: d.m}, d.m.lack("key")
}
func (d domain) CreateQP(cfg verbs.QPConfig) (verbs.PreparedQP, error) {
	d.m.made = append(d.m.made, cfg)
	return qp{m: d.m}, d.m.lack("queue pair")
}

type channel struct {
	verbs.CompChannel
	m *machine
}

func (c channel) Wait(time.Duration) (verbs.CQ, error) { return nil, c.m.lack("completion") }

func (c channel) Destroy() error { return c.m.takeDown("channel") }

type cq struct {
	verbs.CQ
	m *machine
}

func (c cq) Wait(_ []verbs.WC, timeout time.Duration) (int, error) {
	c.m.waits = timeout
	return 0, verbs.ErrTimeout
}
func (c cq) Destroy() error { return c.m.takeDown("completion queue") }

type key struct {
	verbs.MR
	m *machine
}

func (key) Addr() uint64   { return 1 << 12 }
func (key) RKey() uint32   { return 1 }
func (key) Len() int       { return 8 }
func (k key) Dereg() error { return k.m.takeDown("key") }

type qp struct {
	verbs.QP
	m *machine
}

func (q qp) Endpoint() verbs.Endpoint { return someEnd }
func (q qp) Destroy() error           { return q.m.takeDown("queue pair") }
func (q qp) Connect(verbs.Endpoint) (verbs.QP, error) {
	if err := q.m.lack("connection"); err != nil {
		return nil, err
	}
	return q, nil
}

// A failed set-up leaves nothing behind. A successful one is torn down once, in order:
// connections, key, memory.
func TestNothingIsLeft(t *testing.T) {
	loan := []string{"queue pair", "queue pair", "key", "region", "completion queue", "domain"}
	for lacks, want := range map[string][]string{
		"": loan, "domain": nil, "completion queue": {"domain"}, "memory": {"completion queue", "domain"},
		"key": {"region", "completion queue", "domain"}, "queue pair": {"key", "region", "completion queue", "domain"},
		"connection": {"queue pair", "key", "region", "completion queue", "domain"}, "end of region": loan, "end of key": loan,
		"end of queue pair": loan, "end of completion queue": loan, "end of domain": loan,
	} {
		m := &machine{lacks: lacks}
		err := lendAndEnd(m)
		if (err == nil) != (lacks == "") || err != nil && !errors.Is(err, errLacks) || !slices.Equal(m.down, want) {
			t.Errorf("without %s: %v, and taken down were %v; want %v", lacks, err, m.down, want)
		}
	}
}

// lendAndEnd lends to two borrowers, and revokes everything.
func lendAndEnd(h host.Host) error {
	l, err := NewLender(h)
	if err != nil {
		return err
	}
	x, err := l.Lend(8, verbs.RemoteRead)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	for range 2 {
		if _, err = x.Admit(someEnd); err != nil {
			break
		}
	}
	err = errors.Join(err, x.End())
	if (x.Region == nil) == (h.(*machine).lacks == "end of region") {
		err = errors.New("whether the memory is there is said wrongly")
	}
	return errors.Join(err, l.Close())
}

// A group or a connection that cannot be made leaves nothing behind.
func TestGroupsLeaveNothing(t *testing.T) {
	all := []string{"queue pair", "completion queue", "channel", "domain"}
	for lacks, want := range map[string][]string{
		"": all, "end of queue pair": all, "end of completion queue": all, "end of channel": all, "end of domain": all, "domain": nil, "channel": {"domain"},
		"completion queue": {"channel", "domain"}, "queue pair": {"completion queue", "channel", "domain"},
		"connection": all,
	} {
		m := &machine{lacks: lacks}
		err := connectAndDrop(m)
		if (err == nil) != (lacks == "") || err != nil && !errors.Is(err, errLacks) || !slices.Equal(m.down, want) {
			t.Errorf("without %s: %v, and taken down were %v; want %v", lacks, err, m.down, want)
		}
	}
}

func connectAndDrop(h host.Host) error {
	g, err := NewGroup(h)
	if err != nil {
		return err
	}
	c, err := g.Prepare("peer", verbs.QPConfig{})
	if err == nil {
		err = errors.Join(c.Connect(someEnd), g.Drop(c), g.Drop(c))
	}
	return errors.Join(err, g.Close())
}

// A connection to a lender that the card cannot make is an error, and no connection.
func TestAnsweredReportsThatTheCardCannotConnect(t *testing.T) {
	m := &machine{lacks: "connection"}
	g, err := NewGroup(m)
	if err != nil {
		t.Fatal(err)
	}
	c, err := g.Prepare("lender", verbs.QPConfig{})
	if err != nil {
		t.Fatal(err)
	}
	lent := Greeting{Endpoint: someEnd, Windows: []Window{{Addr: 1 << 12, RKey: 1, Len: 8}}}
	if err := c.Answered(&host.Answer{Body: lent.Encode()}, 8); !errors.Is(err, errLacks) {
		t.Errorf("got %v", err)
	}
}
