package clustercheck

import (
	"errors"
	"fmt"
	"time"

	"github.com/verbatim-rdma/verbatim/cluster"
	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// coordinator is the real one. Its lives are the possible moments of its start. If it
// is timeless, no clock expires a session: otherwise it would tick forever while
// nothing else happens.
func coordinator(timeless bool) sim.Node {
	return sim.Node{Name: coordName, Daemon: true, Main: func(h host.Host, life int) {
		l, err := h.Listen(coordName)
		if timeless {
			l = forever{l}
		}
		if err == nil {
			err = cluster.Serve(h, l, cluster.ServeConfig{TTL: cluster.LeastTTL, After: coord.Session(1000 * (life + 1))})
		}
		panic(err)
	}}
}

// forever is a listener whose timers do not fire.
type forever struct{ host.Listener }

func (l forever) Accept(time.Duration) (host.Request, error) { return l.Listener.Accept(verbs.Forever) }

// serveScenarios are about the coordinator's clock.
func serveScenarios() []*explore.Scenario {
	return []*explore.Scenario{{
		Name: "cluster/sessions", Profile: "strong", Faults: "none",
		Doc: "An instance that only sends heartbeats keeps its session for three session lengths. It dies, and the waiting successor starts once the session has expired: " +
			"not before one full length, and not much later.",
		Bounds:    "the coordinator with sessions of 400 ms, one instance that lives for 1.2 s, and one that waits for at most 2.4 s",
		Sometimes: []string{"the second instance waited"},
		Build: func(c *explore.Case) (sim.Config, error) {
			var died time.Duration
			c.OnReset(func() { died = 0 })
			return sim.Config{Profile: c.Profile, Budget: c.Budget, Nodes: []sim.Node{
				{Name: "app1", Main: func(h host.Host, _ int) {
					keeps(c, h)
					died = h.Now()
				}},
				{Name: "app2", Main: func(h host.Host, _ int) { waits(c, h, &died) }},
				coordinator(false),
			}}, nil
		},
	}}
}

func begin(h host.Host, wait time.Duration) (*cluster.Instance, error) {
	c := client(h)
	return cluster.Start(h, cluster.InstanceConfig{Coord: c, Wait: wait, Claim: func() (cluster.Right, error) { return ncl.Start(ncl.Config{App: app, Coord: c}) }})
}

// keeps is an instance that does nothing, and then dies.
func keeps(c *explore.Case, h host.Host) {
	h.Sleep(7 * time.Millisecond) // so that no two timers coincide: each order would be another run
	i, err := begin(h, 0)
	if errors.Is(err, coord.ErrUnavailable) || errors.Is(err, coord.ErrExists) { // before the coordinator started, or after the other instance
		c.Abandon()
		return
	}
	if err != nil {
		c.Fail(err)
		return
	}
	h.Sleep(3 * cluster.LeastTTL)
	if err := i.Ask(); err != nil {
		c.Fail(&violation{"session-lost", "the instance has sent its heartbeats, but its session has expired"})
	}
}

// waits is the next instance.
func waits(c *explore.Case, h host.Host, died *time.Duration) {
	h.Sleep(cluster.LeastTTL + 13*time.Millisecond) // the other instance is first
	_, err := begin(h, 6*cluster.LeastTTL)
	if err != nil {
		c.Fail(&violation{"no-next-instance", fmt.Sprintf("the first instance has died, but the next one cannot begin: %v", err)})
		return
	}
	c.Sometimes(0)
	if since := h.Now() - *died; *died == 0 || since < cluster.LeastTTL/2 || since > 2*cluster.LeastTTL {
		c.Fail(&violation{"wrong-time", fmt.Sprintf("the next instance begins %v after the death of the first", since)})
	}
}
