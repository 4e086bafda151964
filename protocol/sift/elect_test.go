package sift

import (
	"errors"
	"fmt"
	"testing"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// follower is a CPU node that has looked at the words, n times.
func follower(t *testing.T, h host.Host, number uint16, looks int) *Node {
	t.Helper()
	cfg := config()
	cfg.Node = number
	n, err := Start(h, cfg)
	for range looks {
		if err == nil {
			_, err = n.Watch()
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// takes makes n a candidate that wins the i-th memory node, and reaches no other.
func takes(t *testing.T, n *Node, i int) {
	t.Helper()
	won, err := n.swap(func(p *peer) bool { return p == &n.nodes[i] }, func(Word) {})
	if err != nil || won != 1 {
		t.Fatalf("%v: %d words won", err, won)
	}
}

// The words that a round has found are those with which the next one is won (3.2), and those of other
// candidates are no heartbeats.
func TestASplitRoundIsWonInTheNext(t *testing.T) {
	run(t, func(h host.Host) {
		a, b, c := follower(t, h, 1, 1), follower(t, h, 2, 1), follower(t, h, 3, 1)
		takes(t, a, 0)
		takes(t, b, 1)
		if o, err := c.Campaign(); o != Split || err != nil {
			t.Fatalf("one word each: %v, %v", o, err)
		}
		if o, err := c.Campaign(); o != Won || err != nil || c.Term() != 2 {
			t.Errorf("the next round: %v, %v, in term %d", o, err, c.Term())
		}
	}, nil)
}

// After a round that nobody has won a candidate waits for 1 to 4 units, and stands again (3.2).
func TestACandidateBacksOff(t *testing.T) {
	run(t, func(h host.Host) {
		a, b, c := follower(t, h, 1, 1), follower(t, h, 2, 1), follower(t, h, 3, 1)
		takes(t, a, 0)
		takes(t, b, 1)
		begun := h.Now()
		o, err := c.stand()
		if waited := h.Now() - begun; o != Won || err != nil || waited < config().BackOff || waited > 5*config().BackOff {
			t.Errorf("%v, %v, after %v", o, err, waited)
		}
	}, nil)
}

// A node that has won, and is replaced before it serves, follows again.
func TestACandidateThatIsReplacedFollowsAgain(t *testing.T) {
	for name, replace := range map[string]func(t *testing.T, other *Node){
		"by a candidate": func(t *testing.T, other *Node) {
			if o, err := other.Campaign(); o != Won || err != nil {
				t.Error(o, err)
			}
		},
		"by a coordinator": func(t *testing.T, other *Node) {
			if c, err := other.take(); c == nil || err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(h host.Host) {
				a := &asking{Host: h, before: func() {}}
				n, other := follower(t, a, 1, 1), follower(t, h, 2, 1)
				a.before = func() { // it has won, and connects to the memory
					a.before = func() {}
					if _, err := other.Watch(); err != nil {
						t.Error(err)
					}
					replace(t, other)
				}
				if c, err := n.take(); c != nil || err != nil {
					t.Errorf("%v", err)
				}
			}, nil)
		})
	}
}

// A coordinator that was replaced waits as long as any follower before it stands: the one that has
// replaced it may hold a lease.
func TestAReplacedCoordinatorFollowsFromTheStart(t *testing.T) {
	run(t, func(h host.Host) {
		c := lead(t, h, config())
		other := follower(t, h, 2, 1)
		if o, err := other.Campaign(); o != Won || err != nil {
			t.Fatal(o, err)
		}
		if err := c.Beat(); !errors.Is(err, ErrReplaced) {
			t.Error(err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if vacant, err := c.n.Watch(); vacant || err != nil {
			t.Errorf("at the first look: %v, %v", vacant, err)
		}
	}, nil)
}

// A CPU node waits for memory nodes that it does not reach yet.
func TestAFollowerWaitsForAMajority(t *testing.T) {
	cfg := config()
	profile, err := faults.ProfileByName("strong")
	if err != nil {
		t.Fatal(err)
	}
	world := sim.Config{Profile: profile, Nodes: []sim.Node{{Name: "cpu", Main: func(h host.Host, _ int) {
		if c := lead(t, h, cfg); c != nil && h.Now() < 3*cfg.CallTimeout {
			t.Errorf("it leads at %v", h.Now())
		}
	}}}}
	for _, name := range cfg.Memory {
		world.Nodes = append(world.Nodes, sim.Node{Name: name, Daemon: true, Main: func(h host.Host, _ int) {
			h.Sleep(3 * cfg.CallTimeout)
			t.Error(ServeMemory(h, MemoryConfig{Layout: cfg.Layout, New: true}))
		}})
	}
	w, err := sim.New(world)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if end, err := w.Run(first{}); err != nil {
		t.Fatal(end, err)
	}
}

// A candidate that finds another one with a majority follows again, and waits as long as any follower
// before it stands again.
func TestACandidateGivesWayToTheOneThatHasWon(t *testing.T) {
	run(t, func(h host.Host) {
		a, b := follower(t, h, 1, 1), follower(t, h, 2, 1+config().Missed)
		if o, err := a.Campaign(); o != Won || err != nil {
			t.Fatalf("%v, %v", o, err)
		}
		if o, err := b.Campaign(); o != Lost || err != nil {
			t.Errorf("%v, %v", o, err)
		}
		for look := 1; look <= config().Missed; look++ {
			if vacant, err := b.Watch(); err != nil || vacant != (look == config().Missed) {
				t.Errorf("look %d: %v, %v", look, vacant, err)
			}
		}
	}, nil)
}

// A candidate that has lost connects to no memory node: its term is the greatest so far, so each of them would
// admit it, and refuse the coordinator that it has lost to.
func TestACandidateThatHasLostDisturbsNobody(t *testing.T) {
	run(t, func(h host.Host) {
		c := lead(t, h, config())
		other := follower(t, h, 2, 1)
		if err := c.Beat(); err != nil {
			t.Fatal(err)
		}
		if got, err := other.take(); got != nil || err != nil || other.stood <= c.Term() {
			t.Errorf("in term %d, after term %d: leads: %v, %v", other.stood, c.Term(), got != nil, err)
		}
		if err := errors.Join(c.Write(0, make([]byte, 8)), c.Beat()); err != nil {
			t.Errorf("after another node has stood and lost: %v", err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}, nil)
}

// A change at any memory node is a heartbeat.
func TestAHeartbeatAtOneNodeIsOne(t *testing.T) {
	for i := range config().Memory {
		run(t, func(h host.Host) {
			a, b := follower(t, h, 1, 1), follower(t, h, 2, config().Missed)
			takes(t, a, i)
			if vacant, err := b.Watch(); vacant || err != nil {
				t.Errorf("%s: %v, %v", config().Memory[i], vacant, err)
			}
		}, nil)
	}
}

// A node that is connected to anew has not been looked at yet, and one that has restarted is no member:
// a candidate that counted them would use up one term after the other.
func TestNodesThatAreLostOrHaveRestartedAreNotReached(t *testing.T) {
	cfg := config()
	crashing(t, &cfg, "", func(h host.Host, crash func(mem string)) {
		n := follower(t, h, 1, 1)
		n.dialer.group.Fail(n.nodes[0].conn, host.ErrTimeout)
		if err := n.connect(); err != nil || n.reached() != 2 {
			t.Errorf("%v: %d nodes reached", err, n.reached())
		}
		crash("mem1")
		crash("mem2")
		for range 3 { // the connections fail, and then the nodes are outsiders
			h.Sleep(cfg.Period)
			if _, err := n.Watch(); !errors.Is(err, ErrUnavailable) {
				t.Error(err)
			}
		}
		if fmt.Sprint(n.Outsiders()) != "[mem1 mem2]" {
			t.Errorf("outsiders are %v", n.Outsiders())
		}
		if o, err := n.Campaign(); o != Lost || err != nil {
			t.Errorf("%v, %v", o, err)
		}
	})
}
