package clustercheck

import (
	"errors"
	"fmt"

	"github.com/verbatim-rdma/verbatim/cluster"
	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// The conditions of the scenarios with a directory.
const (
	metMoment = iota
	metTurnedAway
	metKnew
)

var directoryConditions = []string{
	metMoment:     "a change that began before the session expired took effect after the next instance began",
	metTurnedAway: "a change was refused since the controller reported the session as expired",
	metKnew:       "a write to an open file was refused since the instance had learned that its session had expired",
}

// directoryScenarios are about resources without a fence: they show what asking the
// controller guarantees, and no more.
func directoryScenarios() []*explore.Scenario {
	return []*explore.Scenario{
		{
			Name: "cluster/directory", Profile: "strong", Faults: "none", Sometimes: directoryConditions,
			Doc: "A process is stopped, its session expires, and the next instance takes the directory, which has no fence. Then it continues: operations that it starts then have no effect. " +
				"An operation started before may take effect, and the search reaches that case.",
			Bounds: "one change by either instance, of each kind; the process continues before or after its next heartbeat",
			Build: func(c *explore.Case) (sim.Config, error) {
				x := newDirectoryWorld(c)
				x.end = func(h host.Host) error { return order(h, expire+app) }
				return sim.Config{Profile: c.Profile, Budget: c.Budget, Services: []sim.Service{controller(), x.folder()}, Nodes: []sim.Node{x.node()}}, nil
			},
		},
		{
			Name: "cluster/any-moment", Profile: "strong", Faults: "none", Timers: "free", Sometimes: directoryConditions,
			Doc:    "Like cluster/directory, but a heartbeat arrives at any moment, or never: the promise does not depend on time.",
			Bounds: "one of four changes, or a record, by the stopped process; one heartbeat",
			Build: func(c *explore.Case) (sim.Config, error) {
				x := newDirectoryWorld(c)
				x.free = true
				x.end = func(h host.Host) error { return order(h, expire+app) }
				return sim.Config{Profile: c.Profile, Budget: c.Budget, Services: []sim.Service{controller(), x.folder()}, Nodes: []sim.Node{x.node()}}, nil
			},
		},
		{
			Name: "cluster/anew", Profile: "strong", Faults: "none", Sometimes: directoryConditions,
			Doc: "Like cluster/directory, but the coordinator crashes and restarts empty. Its sessions have other numbers than before, so the process does not " +
				"mistake the session of the next instance for its own.",
			Bounds: "the coordinator without a clock that expires sessions, which crashes once; one change by either instance, of each kind; the process continues before or after its next heartbeat",
			Build: func(c *explore.Case) (sim.Config, error) {
				x := newDirectoryWorld(c)
				x.end = func(host.Host) error { return c.Inject(faults.Crash, coordName) }
				return sim.Config{Profile: c.Profile, Budget: c.Budget, Services: []sim.Service{x.folder()}, Nodes: []sim.Node{x.node(), coordinator(true)}}, nil
			},
		},
	}
}

// directoryWorld is the state of the checks for instances with one directory.
type directoryWorld struct {
	c   *explore.Case
	end func(h host.Host) error // the first session
	// free: timers fire at any moment, so heartbeats are few, and so are the changes.
	free bool
	directoryHistory
}

type directoryHistory struct {
	next, over, second bool // the next instance starts; the first session has expired; the second has begun
}

func newDirectoryWorld(c *explore.Case) *directoryWorld {
	x := &directoryWorld{c: c}
	c.OnReset(func() { x.directoryHistory = directoryHistory{} })
	c.Remembers(x.print)
	return x
}

func (x *directoryWorld) note() { x.c.History(x.print()) }

func (x *directoryWorld) print() fingerprint.Print {
	return bits(fingerprint.Print{}, x.next, x.over, x.second)
}

// folder is a directory and a store that count their changes.
func (x *directoryWorld) folder() sim.Service {
	n := uint64(0)
	return sim.Service{Host: "folder", Name: "folder", Reset: func() { n = 0 }, Hash: func() fingerprint.Print { return fingerprint.Print{}.Uint(n) },
		Apply:    func(string, []byte) []byte { n++; return nil },
		ReadOnly: func([]byte) bool { return false }}
}

// node is the process: life 0 is stopped and resumes, life 1 is the next instance.
func (x *directoryWorld) node() sim.Node {
	return sim.Node{Name: app, Again: func(life int, _ bool) bool { return life == 0 }, Main: func(h host.Host, life int) {
		if life == 0 {
			x.first(h)
		} else {
			x.after(h)
		}
	}}
}

// first is the process that is stopped.
func (x *directoryWorld) first(h host.Host) {
	i := x.start(h, 1)
	if i == nil {
		return
	}
	d := &changed{h: h}
	b, err := open(d, i)
	if err == nil {
		err = x.c.Inject(faults.Suspect, app)
	}
	if err != nil {
		x.c.Fail(err)
		return
	}
	if !x.free && h.Rand(2) == 1 {
		h.Sleep(2 * cluster.DefaultHeartbeat)
	}
	d.n = 0
	if n := x.pick(h); n < len(changes) {
		over := x.over
		x.judge(changes[n].name, over, changes[n].do(b), d.n)
	} else {
		knows := i.Check() != nil
		x.judgeWrite(knows, writes[n-len(changes)](b), d.n)
	}
}

// pick chooses one of the changes and writes.
func (x *directoryWorld) pick(h host.Host) int {
	if x.free {
		return 3 * h.Rand(5) // a rename, a new file, the deletion of an object, of a key, a record
	}
	return h.Rand(len(changes) + len(writes))
}

// after is the next instance.
func (x *directoryWorld) after(h host.Host) {
	x.next = true
	x.note()
	if err := x.end(h); err != nil {
		x.c.Fail(err)
		return
	}
	x.over = true
	x.note()
	if x.start(h, 0) == nil {
		return
	}
	x.second = true
	x.note()
	h.Sleep(4 * cluster.DefaultHeartbeat) // the run lasts as long as this life
}

// start starts an instance. If the controller is gone it would retry: other runs cover
// that.
func (x *directoryWorld) start(h host.Host, beats int) *cluster.Instance {
	if x.free {
		h = newFewBeats(h, beats)
	}
	i, err := begin(h, 0)
	switch {
	case errors.Is(err, coord.ErrUnavailable):
		x.c.Abandon()
	case err != nil:
		x.c.Fail(err)
	default:
		return i
	}
	return nil
}

// judge checks the effect of a change: none if it begins after the session has expired.
func (x *directoryWorld) judge(what string, over bool, err error, done int) {
	switch {
	case over && done > 0:
		x.c.Fail(&violation{"done-after-session", fmt.Sprintf("%s began after the session had expired, and took effect", what)})
	case done > 0 && x.second:
		x.c.Sometimes(metMoment)
	case err != nil && !x.over:
		x.c.Fail(&violation{"false-alarm", fmt.Sprintf("the session lives, and %s is refused: %v", what, err)})
	case err != nil:
		x.c.Sometimes(metTurnedAway)
	}
}

// judgeWrite checks the effect of a write to an open resource: none once the process
// has learned of the expiry.
func (x *directoryWorld) judgeWrite(knows bool, err error, done int) {
	switch {
	case knows && (done > 0 || err == nil):
		x.c.Fail(&violation{"touched-after-session", "the process has learned that its session has expired, and it writes"})
	case knows:
		x.c.Sometimes(metKnew)
	}
}
