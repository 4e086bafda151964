package clustercheck

import (
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// Forgotten is violated, and not among [Scenarios]: it shows what a controller that
// restarts empty cannot guarantee. A process learns that its session lives, and is then
// stopped before a change of the ap-map that replaces a peer of its file. The controller
// restarts empty, and the next instance creates a file of the same name. The entry of
// this file has the version that the process saw at the earlier controller, so the
// change succeeds, and a recovery contacts the peer that the process chose. Without
// guarded the process does not ask, and can be stopped at any moment before the change.
func Forgotten(guarded bool) *explore.Scenario {
	return &explore.Scenario{
		Name: "cluster/forgotten", Profile: "strong", Faults: "none",
		Doc: "A process is stopped while it replaces a peer, and continues when the controller has restarted empty and the next instance has a file of the same name. " +
			"A record of the next instance is lost.",
		Bounds: "f=0, two peers; the first revokes its memory before the first record; a record by either instance, and a recovery",
		Build: func(c *explore.Case) (sim.Config, error) {
			x := &forgotten{c: c, guarded: guarded}
			c.OnReset(func() { x.acked = false })
			c.Remembers(x.print)
			peer := func(h host.Host, _ int) {
				panic(ncl.ServePeer(h, ncl.PeerConfig{Memory: 1024}))
			}
			return sim.Config{Profile: c.Profile, Budget: c.Budget, Services: []sim.Service{controller()}, Nodes: []sim.Node{
				{Name: app, Again: func(life int, _ bool) bool { return life < 2 }, Main: func(h host.Host, life int) {
					if err := x.life(h, life); err != nil {
						h.Logf("%v", err)
						c.Abandon()
					}
				}},
				{Name: "peer1", Daemon: true, Main: peer}, {Name: "peer2", Daemon: true, Main: peer},
			}}, nil
		},
	}
}

type forgotten struct {
	c       *explore.Case
	guarded bool
	acked   bool // the record of the second instance
}

func (x *forgotten) print() fingerprint.Print { return bits(fingerprint.Print{}, x.acked) }

// life is first the process that is stopped, then the next instance, then the instance
// that recovers.
func (x *forgotten) life(h host.Host, life int) error {
	if life > 0 {
		if err := order(h, []string{1: empty, 2: expire + app}[life]); err != nil {
			return err
		}
	}
	cfg := ncl.Config{App: app, Peers: []string{"peer1", "peer2"}, Coord: client(h)}
	i, err := begin(h, 0)
	if err != nil {
		return err
	}
	if x.guarded {
		cfg.Coord = i.Guard(cfg.Coord)
	}
	if life == 2 {
		return x.recover(h, cfg)
	}
	if life == 1 {
		cfg.Peers = append([]string{"nobody"}, cfg.Peers...) // gives its entry one more version
		cfg.Peers = cfg.Peers[h.Rand(2):]
	}
	f, err := ncl.Create(h, cfg, "log", 8)
	if err != nil {
		return err
	}
	own := i.Own(&ncl.Maintained{File: f})
	if life == 0 {
		if err := ncl.Revoke(h, "peer1", time.Second); err != nil {
			return err
		}
		if err := x.c.Inject(faults.Suspect, app); err != nil {
			return err
		}
		_ = own.Record(0, []byte{1}) // the peer is gone and gets replaced
		return nil
	}
	if err := own.Record(0, []byte{2}); err != nil {
		return err
	}
	x.acked = true
	x.c.History(x.print())
	return nil
}

// recover checks for the record of the second instance.
func (x *forgotten) recover(h host.Host, cfg ncl.Config) error {
	f, err := ncl.Recover(h, cfg, "log")
	if err != nil {
		return err
	}
	b := make([]byte, 8)
	if _, err := f.ReadAt(b, 0); err != nil {
		return err
	}
	if x.acked && b[0] != 2 {
		x.c.Fail(&violation{"lost-acknowledged-write", "the record of the second instance was acknowledged, and the recovery does not find it"})
	}
	return nil
}
