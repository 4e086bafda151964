package ncl_test

import (
	"fmt"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// An application writes to a log, crashes, and recovers it.
func Example() {
	app := func(h host.Host, life int) {
		cfg := ncl.Config{App: "db", Peers: []string{"peer1", "peer2", "peer3"}, F: 1, Coord: coord.NewClient(h, "coord", "coord")}
		if life == 0 {
			f, err := ncl.Create(h, cfg, "wal", 16)
			if err != nil {
				fmt.Println(err)
				return
			}
			fmt.Println(f.Record(0, []byte("hello, world")), f.Stamp())
			return // without closing anything, as in a crash
		}
		f, err := ncl.Recover(h, cfg, "wal")
		if err != nil {
			fmt.Println(err)
			return
		}
		b := make([]byte, 12)
		_, err = f.ReadAt(b, 0)
		fmt.Printf("%s %v %v\n", b, err, f.Stamp())
		fmt.Println(f.Release())
		_, err = ncl.Recover(h, cfg, "wal")
		fmt.Println(err)
	}
	peer := func(h host.Host, _ int) { h.Logf("%v", ncl.ServePeer(h, ncl.PeerConfig{Memory: 4096})) }

	var store coord.Store
	profile, _ := faults.ProfileByName("strong")
	world, err := sim.New(sim.Config{
		Profile: profile,
		Nodes: []sim.Node{
			{Name: "app", Main: app, Again: func(life int, _ bool) bool { return life == 0 }},
			{Name: "peer1", Main: peer, Daemon: true},
			{Name: "peer2", Main: peer, Daemon: true},
			{Name: "peer3", Main: peer, Daemon: true},
		},
		Services: []sim.Service{{Host: "coord", Name: "coord", Apply: store.Apply, Hash: store.Hash, Reset: store.Reset}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer world.Close()
	fmt.Println(world.Run(first{}))
	// Output:
	// <nil> 1.1
	// hello, world <nil> 2.1
	// <nil>
	// ncl: recover "wal": ncl: no such file: coord: no such key (get "apps/db/wal")
	// finished <nil>
}
