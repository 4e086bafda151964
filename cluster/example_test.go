package cluster_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/verbatim-rdma/verbatim/cluster"
	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// An instance dies silently. The next one starts once the coordinator has received no
// heartbeat of the first for the length of a session, and finds the address of a peer.
func Example() {
	coordinator := func(h host.Host, _ int) {
		l, err := h.Listen("coord")
		if err == nil {
			err = cluster.Serve(h, l, cluster.ServeConfig{TTL: 2 * time.Second, After: 1000})
		}
		h.Logf("%v", err)
	}
	peer := func(h host.Host, _ int) {
		_, err := cluster.Hold(h, cluster.NameConfig{Coord: coord.NewClient(h, "coord", "coord"), Name: "peer1", Addr: "10.0.0.1:7001",
			Lost: func(err error) { h.Logf("%v", err) }})
		fmt.Println("peer1:", err)
		h.Sleep(time.Minute)
	}
	app := func(h host.Host, life int) {
		h.Sleep(time.Second) // the others have started
		c := coord.NewClient(h, "coord", "coord")
		cfg := cluster.InstanceConfig{Coord: c, Claim: func() (cluster.Right, error) { return ncl.Start(ncl.Config{App: "db", Coord: c}) }}
		i, err := cluster.Start(h, cfg)
		if errors.Is(err, coord.ErrExists) {
			fmt.Println("there is another instance")
			cfg.Wait = 10 * time.Second
			i, err = cluster.Start(h, cfg)
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		addr, err := cluster.AddressOf(c, "peer1")
		fmt.Printf("life %d: %v; peer1 is at %s, %v\n", life, i.Ask(), addr, err)
	}
	profile, _ := faults.ProfileByName("strong")
	world, err := sim.New(sim.Config{Profile: profile, Nodes: []sim.Node{
		{Name: "app", Main: app, Again: func(life int, _ bool) bool { return life == 0 }},
		{Name: "peer1", Main: peer, Daemon: true},
		{Name: "coord", Main: coordinator, Daemon: true},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer world.Close()
	fmt.Println(world.Run(first{}))
	// Output:
	// peer1: <nil>
	// life 0: <nil>; peer1 is at 10.0.0.1:7001, <nil>
	// there is another instance
	// life 1: <nil>; peer1 is at 10.0.0.1:7001, <nil>
	// finished <nil>
}

// first always takes the first choice.
type first struct{}

func (first) Pick([]sim.Event) int           { return 0 }
func (first) Choose(sim.ChoiceKind, int) int { return 0 }
