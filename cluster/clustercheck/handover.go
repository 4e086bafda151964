package clustercheck

import (
	"errors"
	"fmt"
	"time"

	"github.com/verbatim-rdma/verbatim/cluster"
	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// handoverScenarios are about an orderly release.
func handoverScenarios() []*explore.Scenario {
	return []*explore.Scenario{{
		Name: "cluster/handover", Profile: "strong", Faults: "timeout(peer.*)<=1",
		Doc: "An instance and a name are released, at any moment of a heartbeat, and the controller expires no session. " +
			"The waiting successors still start, and the releasing side is not notified of a loss.",
		Bounds:    "two machines that have the right and the name one after the other; one timer that fires early",
		Sometimes: []string{"the second machine waited"},
		Build: func(c *explore.Case) (sim.Config, error) {
			x := &handover{c: c}
			c.OnReset(func() { x.closed = 0 })
			c.Remembers(x.print)
			return sim.Config{Profile: c.Profile, Budget: c.Budget, Services: []sim.Service{controller()}, Nodes: []sim.Node{
				{Name: "peer.a", Main: func(h host.Host, _ int) { x.machine(h, "a:1") }},
				{Name: "peer.b", Main: func(h host.Host, _ int) { x.machine(h, "b:1") }},
			}}, nil
		},
	}}
}

type handover struct {
	c      *explore.Case
	closed int // machines that have released everything
}

func (x *handover) print() fingerprint.Print { return fingerprint.Print{}.Int(x.closed) }

// machine holds the right and the name for a while.
func (x *handover) machine(h host.Host, addr string) {
	const wait = 3 * time.Second
	i, err := begin(h, wait)
	var n *cluster.Name
	if err == nil {
		n, err = cluster.Hold(h, cluster.NameConfig{Coord: client(h), Name: "peer", Addr: addr, Wait: wait, Lost: x.told})
	}
	if err != nil {
		x.c.Look()
		if x.closed == 0 && (errors.Is(err, coord.ErrExists) || errors.Is(err, cluster.ErrTaken)) {
			x.c.Abandon() // its timers fired, and the other machine is merely slow
			return
		}
		x.c.Fail(&violation{"not-given-back", fmt.Sprintf("the other machine has released everything, but this one cannot start: %v", err)})
		return
	}
	if x.closed == 1 {
		x.c.Sometimes(0)
	}
	n.Close()
	i.Close()
	if err := i.Check(); err != nil {
		x.told(err)
	}
	x.closed++
	x.c.History(x.print())
	h.Sleep(cluster.NameHeartbeat) // its heartbeats find that they are not needed
}

func (x *handover) told(err error) {
	x.c.Fail(&violation{"false-alarm", fmt.Sprintf("nothing was lost: %v", err)})
}
