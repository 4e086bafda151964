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

// copies describes the copies of a replicated log.
type copies struct {
	backups int
	quorum  int
	remote  bool // the application's host has no copy
	// beyond: more copies may fail than the log survives. A force or a recovery may then fail as long as too few copies are
	// within reach, but the result of a recovery must still be right.
	beyond  bool
	answers bool         // backups have a separate service that answers while they are up: see Reaches
	stay    bool         // a crashed backup stays down
	late    bool         // nothing crashes before the first record is complete
	before  func(r *run) // runs before a life opens the log
	// crashes is the first life in which faults may happen. zombies: a life continues after another has begun.
	crashes int
	only    bool // faults happen in that life only
	zombies bool
	orders  int // the number of orders of the local flush to choose from
	// past is the history of the log before the run.
	past past
	// cuts has, for each life, the number of the backup whose link is cut; 0: none.
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
			if c.answers {
				a.Check(AnswerCalls(h))
			}
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
			with := hosts[1 : c.backups+1]
			if !c.remote {
				with = append(with[:len(with):len(with)], hosts[0])
			}
			for i, h := range with {
				a.Check(c.past.seed(h, i, len(with), size))
			}
		}
	}
	cfg.Services = append(cfg.Services, c.service())
}

// service returns the cluster's service. If the log has a past, the service has an entry for it.
func (c *copies) service() sim.Service {
	if c.past == none {
		return scenario.Controller()
	}
	known := []byte{7: c.past.epoch(), 8: 1, 16: byte(c.quorum)} // created
	if c.past == promised {
		known[8] = 0
	}
	if !c.remote {
		known = wire.AppendString(known, "app")
	}
	for _, name := range c.names() {
		known = wire.AppendString(known, name)
	}
	s, _ := scenario.SeededController(map[string][]byte{"arcadia/log": known}) // the entry is within its limits
	return s
}

// excused reports whether the scenario allows an error because too few copies are left.
func (r *run) excused(err error) bool {
	if r.load.copies == nil || !r.load.copies.beyond {
		return false
	}
	switch {
	case errors.Is(err, arcadia.ErrQuorum) && r.load.copies.zombies && r.Zombie(r.life):
		r.Meet(sawFenced)
	case errors.Is(err, arcadia.ErrQuorum) && r.load.copies.quorum > 1 && r.mayLose(): // with a quorum of 1 the last copy is enough
		r.Meet(sawNoQuorum)
	case errors.Is(err, arcadia.ErrFenced) && r.load.copies.zombies:
	case errors.Is(err, arcadia.ErrUnavailable):
		r.Meet(sawUnavailable)
	case errors.Is(err, arcadia.ErrCorrupt) && r.load.copies.past == damaged:
		r.Meet(sawDamaged)
	default:
		return false
	}
	return true
}

// Conditions of replicated logs.
const (
	sawNoQuorum    = "a force failed without a quorum"
	sawUnavailable = "a recovery failed without a quorum"
	sawDamaged     = "a recovery failed, since too few copies are undamaged"
	sawLate        = "a record was forced although a backup had failed"
	sawFenced      = "an earlier primary could not force its record"
	sawOverlap     = "an earlier primary forced its record while another recovered the log"
)

// replaced reports whether a later life has recovered the log. The model then no longer follows this life.
func (r *run) replaced() bool {
	if r.load.copies == nil || !r.load.copies.zombies {
		return false
	}
	r.Look()
	return r.owner > r.life
}

// owns makes the model follow this life.
func (r *run) owns(found []model.Found) {
	if r.owner, r.found = r.life, 0; len(found) > 0 {
		r.found = found[len(found)-1].LSN
	}
}

// acknowledged checks a record that was just forced: a later life that has recovered the log must have found it.
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
		r.Failf(Acknowledged, "an earlier primary forced record %d, but the recovery found records up to %d", x.LSN(), r.found)
	}
}

// Acknowledged is the class of a record that an earlier primary forces although the recovery did not find it.
const Acknowledged = "acknowledged-to-earlier-primary"

// number returns N.
func (c *copies) number() int {
	if c.remote {
		return c.backups
	}
	return c.backups + 1
}
