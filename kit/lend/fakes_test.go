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
	waits time.Duration    // that a call was told to
	made  []verbs.QPConfig // of queue pairs
	cqs   []int            // how long completion queues are
}

var errLacks = errors.New("there is none")

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

func (c channel) Destroy() error { return c.m.takeDown("channel") }

type cq struct {
	verbs.CQ
	m *machine
}

func (c cq) Destroy() error { return c.m.takeDown("completion queue") }

type key struct {
	verbs.MR
	m *machine
}

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
		"end of queue pair": loan,
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

// A connection that cannot be dialled, or to a visitor that cannot be met, leaves nothing behind, and the
// error says so.
func TestNoConnection(t *testing.T) {
	for name, connect := range map[string]func(*Group) (*Conn, error){
		"dial": func(g *Group) (*Conn, error) { return g.Dial("peer", "service", nil, 0, verbs.QPConfig{}, time.Second) },
		"meet": func(g *Group) (*Conn, error) { return (&Visitor{From: "peer"}).Meet(g, verbs.QPConfig{}) },
	} {
		for lacks, want := range map[string][]string{
			"completion queue": nil, "queue pair": {"completion queue"}, "connection": {"queue pair", "completion queue"},
			"answer": {"queue pair", "completion queue"},
		} {
			if name == "meet" && lacks == "answer" {
				continue // it calls nobody
			}
			m := &machine{lacks: lacks}
			c, err := connect(GroupOf(m, domain{m: m}, channel{m: m}))
			if c != nil || !errors.Is(err, errLacks) || !slices.Equal(m.down, want) {
				t.Errorf("%s without %s: %v, %v, and taken down were %v; want %v", name, lacks, c, err, m.down, want)
			}
		}
	}
}

// Dial waits for an answer as long as its caller says.
func TestDialWaits(t *testing.T) {
	m := new(machine)
	if _, err := GroupOf(m, domain{m: m}, channel{m: m}).Dial("peer", "service", nil, 0, verbs.QPConfig{}, 7*time.Second); err != nil || m.waits != 7*time.Second {
		t.Errorf("%v, and it waits %v", err, m.waits)
	}
}

// A lender posts nothing: its queue pairs have the shortest queues, where 0 would be the default.
func TestShortestQueues(t *testing.T) {
	m := new(machine)
	if err := lendAndEnd(m); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(m.cqs, []int{1}) {
		t.Errorf("completion queues of %d", m.cqs)
	}
	for _, cfg := range m.made {
		if cfg.MaxSendWR != 1 || cfg.MaxRecvWR != 1 || cfg.MaxSGE != 1 {
			t.Errorf("%+v", cfg)
		}
	}
}

// A connection's completion queue has room for all requests and receives, and lengths that are not said are
// those that the card takes.
func TestLengths(t *testing.T) {
	for _, x := range []struct{ send, recv, depth, cq int }{{0, 0, 64, 128}, {3, 0, 3, 67}, {0, 2, 64, 66}, {3, 2, 3, 5}} {
		m := new(machine)
		c, err := GroupOf(m, domain{m: m}, channel{m: m}).Prepare("peer", verbs.QPConfig{MaxSendWR: x.send, MaxRecvWR: x.recv})
		if err != nil || c.Depth != x.depth || !slices.Equal(m.cqs, []int{x.cq}) {
			t.Errorf("%+v: %v, and the completion queue has %d", x, err, m.cqs)
		}
	}
}
