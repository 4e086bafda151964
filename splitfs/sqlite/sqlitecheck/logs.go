package sqlitecheck

import (
	"fmt"

	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
	"github.com/verbatim-rdma/verbatim/splitfs"
	"github.com/verbatim-rdma/verbatim/splitfs/recordstore"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// Places for SQLite's write-ahead log.
const (
	NCL     = "ncl"     // on log peers, by protocol/ncl
	Arcadia = "arcadia" // in persistent memory, by protocol/arcadia
)

const (
	peers   = 3
	logSize = 256 << 10 // of Arcadia's log
)

// surround adds the hosts and services that the log needs, and returns the fault budget.
func (w *world) surround(c *sim.Config) (faults.Budget, error) {
	if w.cfg.Log == Arcadia {
		return faults.ParseBudget("crash(app)<=2, power(app)<=2")
	}
	c.Services = []sim.Service{scenario.Controller()}
	for _, p := range peerNames() {
		c.Nodes = append(c.Nodes, sim.Node{Name: p, Main: w.servePeer, Daemon: true})
	}
	return faults.ParseBudget("crash(app)<=2, crash(peer*)<=1")
}

// store opens the store that holds the log.
func (w *world) store(h host.Host) (splitfs.Store, error) {
	if w.cfg.Log == NCL {
		return splitfs.NCL(h, ncl.Config{App: "bank", Peers: peerNames(), F: peers / 2, Coord: scenario.Dial(h)}, 0), nil
	}
	log, err := arcadia.Open(h, arcadia.Config{Name: "bank", Size: logSize})
	if err != nil {
		return nil, err
	}
	return recordstore.Open(h, log)
}

func peerNames() []string {
	var names []string
	for i := range peers {
		names = append(names, fmt.Sprint("peer", i+1))
	}
	return names
}

func (w *world) servePeer(h host.Host, _ int) {
	if err := ncl.ServePeer(lender{h, &w.lent}, ncl.PeerConfig{Memory: 64 << 20}); err != nil {
		panic(err)
	}
}
