package arcadiacheck

import (
	"errors"
	"fmt"

	"github.com/verbatim-rdma/verbatim/codec/wire"
	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/model"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// copies are those of a replicated log.
type copies struct {
	backups int
	quorum  int
	remote  bool // the application's host has none
	// beyond: more of them may fail than the log survives. Then a force or a recovery may fail, and what is there must
	// still be right.
	beyond bool
	stay   bool         // one that has crashed stays down
	late   bool         // nothing crashes before the first record is complete
	before func(r *run) // what happens before a life opens the log
	// crashes is the first life in which something may fail, and zombies says that lives go on when others have begun.
	crashes int
	only    bool // in that life, and in no other
	zombies bool
	orders  int // of the local flush: one of the first of them
	// before the run there is a log, which has seen failures.
	past past
	// cuts has for each life the number of the backup that is out of its reach; 0: none is.
	cuts []int
}

func (c *copies) names() (out []string) {
	for i := range c.backups {
		out = append(out, fmt.Sprint("backup", i+1))
	}
	return out
}

func (c *copies) configure(h host.Host, cfg *arcadia.Config) {
	cfg.Backups, cfg.Quorum, cfg.RemoteOnly, cfg.Coord = c.names(), c.quorum, c.remote, scenario.Dial(h)
	if c.orders > 0 {
		cfg.Order = arcadia.Order(h.Rand(c.orders))
	}
}

// join adds the backups and the cluster's service to a world.
func (c *copies) join(a *app, cfg *sim.Config) {
	size := 128 + 32*a.load.room
	for _, name := range c.names() {
		n := a.Server(name, func(h host.Host) error {
			return arcadia.ServeBackup(h, arcadia.BackupConfig{Name: "log", Size: size})
		})
		if c.stay {
			n = scenario.StayDown(n)[0]
		}
		cfg.Nodes = append(cfg.Nodes, n)
	}
	cfg.Gate = scenario.When(func() bool {
		return (!c.late || a.next > 0) && a.Latest() >= c.crashes && (!c.only || a.Latest() == c.crashes)
	})
	cfg.Injects = faults.Budget{{Kind: faults.Power, Hosts: []string{"backup*"}}}
	if c.past > none {
		cfg.Setup = func(hosts []*sim.Host) {
			for _, h := range hosts[1:] {
				a.Check(c.past.seed(h, h.Name() == c.names()[c.backups-1], size))
			}
		}
	}
	cfg.Services = append(cfg.Services, c.service())
}

// service is the cluster's service, which knows of the log if there is one.
func (c *copies) service() sim.Service {
	if c.past == none {
		return scenario.Controller()
	}
	known := []byte{7: c.past.epoch(), 8: 1, 16: byte(c.quorum)} // created
	for _, name := range c.names() {
		known = wire.AppendString(known, name)
	}
	s, _ := scenario.SeededController(map[string][]byte{"arcadia/log": known}) // which is within its limits
	return s
}

// excused reports whether the scenario allows an error: there are too few copies.
func (r *run) excused(err error) bool {
	if r.load.copies == nil || !r.load.copies.beyond {
		return false
	}
	switch {
	case errors.Is(err, arcadia.ErrQuorum) && r.load.copies.zombies && r.Zombie(r.life):
		r.Meet(sawFenced)
	case errors.Is(err, arcadia.ErrQuorum) && r.load.copies.quorum > 1: // else one copy is enough, and there is one
		r.Meet(sawNoQuorum)
	case errors.Is(err, arcadia.ErrFenced) && r.load.copies.zombies:
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
	sawLate        = "a record was forced without a backup that was too late"
	sawFenced      = "an earlier primary could not force its record"
	sawOverlap     = "an earlier primary forced its record while another recovered the log"
)

// replaced reports whether another life has recovered the log since this one has: what this one does is nothing to the
// model any more.
func (r *run) replaced() bool {
	if r.load.copies == nil || !r.load.copies.zombies {
		return false
	}
	r.Look()
	return r.owner > r.life
}

// owns makes this life the one that the model follows.
func (r *run) owns(found []model.Found) {
	if r.owner, r.found = r.life, 0; len(found) > 0 {
		r.found = found[len(found)-1].LSN
	}
}

// acknowledged checks that a record is durable which was forced: another life that has recovered the log must have
// found it.
func (r *run) acknowledged(x *arcadia.Record) {
	c := r.load.copies
	if c == nil {
		return
	}
	if r.log.Copies() < c.number() {
		r.Meet(sawLate)
	}
	if c.zombies && r.Zombie(r.life) {
		r.Meet(sawOverlap)
	}
	if r.replaced() && x.LSN() > r.found {
		r.Failf(Acknowledged, "record %d was forced by an earlier primary, and the recovery had found %d", x.LSN(), r.found)
	}
}

// Acknowledged is the class of a record that an earlier primary forces although a later one has no such record.
const Acknowledged = "acknowledged-to-earlier-primary"

// number is N.
func (c *copies) number() int {
	if c.remote {
		return c.backups
	}
	return c.backups + 1
}
