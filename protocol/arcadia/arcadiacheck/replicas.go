package arcadiacheck

import (
	"errors"
	"fmt"
	"time"

	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// copies are those of a replicated log.
type copies struct {
	backups int
	quorum  int
	remote  bool // the application's host has none
	order   arcadia.Order
	// beyond: more of them may fail than the log survives. Then a force or a recovery may fail, and what is there must
	// still be right.
	beyond bool
	apart  bool // the backups are told apart by the scenario
	stay   bool // one that has crashed stays down
	gate   func(a *app) scenario.Gate
	before func(r *run) // what happens before a life opens the log
}

func (c *copies) names() (out []string) {
	for i := range c.backups {
		out = append(out, fmt.Sprint("backup", i+1))
	}
	return out
}

func (c *copies) configure(h host.Host, cfg *arcadia.Config) {
	cfg.Backups, cfg.Quorum, cfg.RemoteOnly, cfg.Order, cfg.Coord = c.names(), c.quorum, c.remote, c.order, scenario.Dial(h)
}

// join adds the backups and the cluster's service to a world.
func (c *copies) join(a *app, cfg *sim.Config) {
	size := 128 + 32*a.load.room
	for _, name := range c.names() {
		n := a.Server(name, func(h host.Host) error {
			return arcadia.ServeBackup(h, arcadia.BackupConfig{Name: "log", Size: size})
		})
		n.Symmetric = false
		if c.stay {
			n = scenario.StayDown(n)[0]
		}
		cfg.Nodes = append(cfg.Nodes, n)
	}
	if c.gate != nil {
		cfg.Gate = c.gate(a)
	}
	cfg.Injects = faults.Budget{{Kind: faults.Power, Hosts: []string{"backup*"}}}
	cfg.Services = append(cfg.Services, scenario.Controller())
}

// excused reports whether the scenario allows an error: there are too few copies.
func (r *run) excused(err error) bool {
	if r.load.copies == nil || !r.load.copies.beyond {
		return false
	}
	switch {
	case errors.Is(err, arcadia.ErrQuorum):
		r.Meet(sawNoQuorum)
	case errors.Is(err, arcadia.ErrUnavailable):
		r.Meet(sawUnavailable)
	default:
		return false
	}
	return true
}

// Conditions of replicated logs.
const (
	sawNoQuorum    = "a force failed without a quorum"
	sawUnavailable = "a recovery failed without a quorum"
)

// replicated are the scenarios of logs with copies.
var replicated = []spec{
	{
		name: "replicated", doc: "records are forced to two copies, and the application starts again; then its host and the backup have lost power at once",
		faults: "crash(app)<=1", bounds: "N=2, W=2, 2 lives, 2 records; power fails everywhere between", meets: []string{sawEvicted, sawLost},
		load: workload{room: 4, lives: 2, copies: &copies{backups: 1, quorum: 2, before: (*run).blackout, beyond: true}, script: (*run).appends},
	},
	{
		name: "quorum", doc: "a record is forced to two copies of three; before the application starts again all lose power, and one of them is out of reach",
		faults: "crash(app)<=1", bounds: "N=3, W=2, 2 lives, 1 record", meets: []string{sawEvicted, sawLost},
		load: workload{room: 4, lives: 2, copies: &copies{backups: 2, quorum: 2, before: (*run).blackout, beyond: true}, script: func(r *run) {
			if x := r.put(); x != nil {
				r.force(x)
			}
		}},
	},
	{
		name: "remote-only", doc: "the application has no persistent memory; a record is forced to both backups",
		faults: "crash(app)<=1", bounds: "N=2, W=2, 2 lives, 1 record", meets: []string{sawEvicted, sawLost},
		load: workload{room: 4, lives: 2, copies: &copies{backups: 2, quorum: 2, remote: true, before: (*run).blackout, beyond: true}, script: func(r *run) {
			if x := r.put(); x != nil {
				r.force(x)
			}
		}},
	},
	{
		name: "recovery", doc: "the application crashes while it recovers, and recovers again",
		faults: "crash(app)<=2", bounds: "N=2, W=2, 3 lives, 1 record each", meets: []string{sawEvicted, sawLost},
		load: workload{room: 4, lives: 3, copies: &copies{backups: 1, quorum: 2, before: (*run).blackout, beyond: true}, script: func(r *run) {
			if x := r.put(); x != nil {
				r.force(x)
			}
		}},
	},
}

// appends forces two records, one after the other.
func (r *run) appends() {
	for range 2 {
		if x := r.put(); x == nil || !r.force(x) {
			return
		}
	}
}

// blackout has power fail on all backups. That of the application's host fails by the budget, for the code must not
// notice.
func (r *run) blackout() {
	if r.life == 0 {
		return
	}
	for _, name := range r.load.copies.names() {
		r.Check(r.Inject(faults.Power, name))
	}
	r.h.Sleep(time.Second)
}
