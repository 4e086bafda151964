package lend

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
)

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

// Dial waits for an answer for as long as its caller requests.
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

// Without a timeout a group waits for completions as long as the card does.
func TestWaitsForEver(t *testing.T) {
	if d := GroupOf(quiet{}, nil, nil).Timeout; d != verbs.Forever {
		t.Error(d)
	}
}

// What is freed in part is freed wholly at the second try, and nothing of it twice.
func TestFreeAgain(t *testing.T) {
	m := &machine{lacks: "end of region"}
	x, err := Register(m, domain{m: m}, 8, 0)
	if err != nil {
		t.Fatal(err)
	}
	first := x.Free()
	m.lacks = ""
	if second := x.Free(); !errors.Is(first, errLacks) || second != nil || !slices.Equal(m.down, []string{"key", "region", "region"}) {
		t.Errorf("%v, %v, and taken down were %v", first, second, m.down)
	}
}

// A time-out belongs to no connection, not even to one that has been dropped and has no queue.
func TestNextIsLate(t *testing.T) {
	m := &machine{lacks: "completion"}
	if c, err := GroupOf(m, domain{m: m}, channel{m: m}).Next([]*Conn{{}}); c != nil || !errors.Is(err, errLacks) {
		t.Errorf("%v, %v", c, err)
	}
}

// With no connection that works there is nothing to wait for: the channel of this group is never asked.
func TestAwaitAllOfNone(t *testing.T) {
	GroupOf(quiet{}, nil, nil).AwaitAll([]*Conn{{Err: errLacks}})
}

// More room than there is cannot be waited for: the queue of this connection is never asked.
func TestRoomForTooMuch(t *testing.T) {
	defer func() {
		if said := recover(); said != "lend: more slots requested than the send queue has" {
			t.Error(said)
		}
	}()
	GroupOf(quiet{}, nil, nil).Room(&Conn{Depth: 1}, 2)
}

// Serve ends when there is no service, or no request any more.
func TestServeEnds(t *testing.T) {
	for lacks, want := range map[string]error{"service": errLacks, "": errNoMore} {
		m := &machine{lacks: lacks}
		if err := Serve(m, "service", nil); !errors.Is(err, want) {
			t.Errorf("without %s: %v", lacks, err)
		}
	}
}

// A malformed request admits nobody. If admission fails, the answer gives the reason.
func TestWhoIsAdmitted(t *testing.T) {
	good := hello(someEnd, nil)
	for lacks, want := range map[string]struct {
		body []byte
		why  string
	}{"": {good, ""}, "queue pair": {good, errLacks.Error()}, "bytes": {good[:3], ErrMalformed.Error()}} {
		m := &machine{}
		l, err := NewLender(m)
		if err != nil {
			t.Fatal(err)
		}
		x, err := l.Lend(8, verbs.RemoteRead)
		if err != nil {
			t.Fatal(err)
		}
		m.lacks = lacks
		r, decided := &request{body: want.body}, false
		m.asked = r
		if err := Serve(m, "service", func(v *Visitor) error { decided = true; return v.Admit(x) }); !errors.Is(err, errNoMore) {
			t.Fatal(err)
		}
		if admitted := r.reply != nil; admitted != (lacks == "") || !strings.HasPrefix(r.rejected, want.why) || admitted == (r.rejected != "") || decided == (lacks == "bytes") {
			t.Errorf("without %s: asked %v, admitted %v, rejected %q", lacks, decided, admitted, r.rejected)
		}
	}
}

// Receives come in their order, and who waits in vain for one may go on.
func TestReceives(t *testing.T) {
	m := new(machine)
	g := GroupOf(m, domain{m: m}, channel{m: m})
	g.Timeout = 7 * time.Second
	c := &Conn{CQ: cq{m: m}, inbox: []verbs.WC{{ID: 1}, {ID: 2}}}
	for _, want := range []uint64{1, 2} {
		if wc, err := g.Receive(c); err != nil || wc.ID != want {
			t.Errorf("%d, %v; want %d", wc.ID, err, want)
		}
	}
	if _, err := g.Receive(c); !errors.Is(err, verbs.ErrTimeout) || c.Err != nil || m.waits != 7*time.Second {
		t.Errorf("%v, it has failed of %v, and waited %v", err, c.Err, m.waits)
	}
}

// visitor is a host that takes note of whom somebody visits.
type visitor struct {
	quiet
	names []string
}

func (v *visitor) Visit(names []string) host.Visit {
	v.names = names
	return host.InTurn(names)
}

// Who goes through connections says which peers they are to, since the order of some may be left open, and
// can stop.
func TestEachOfSome(t *testing.T) {
	v := &visitor{}
	var met []string
	for c := range GroupOf(v, nil, nil).Each([]*Conn{{Peer: "p1"}, {Peer: "p2"}, {Peer: "p3"}}) {
		if met = append(met, c.Peer); c.Peer == "p2" {
			break
		}
	}
	if !slices.Equal(met, []string{"p1", "p2"}) || !slices.Equal(v.names, []string{"p1", "p2", "p3"}) {
		t.Errorf("met were %v of %v", met, v.names)
	}
}
