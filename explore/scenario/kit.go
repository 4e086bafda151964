package scenario

import (
	"errors"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// Kit is shared by the parts of one scenario in the world of one worker. It is the
// [explore.Case] of that worker and knows everything that the checks remember: a case
// has one fingerprint for all of it, and a part that set it alone would hide the
// others.
type Kit struct {
	*explore.Case
	parts []func() fingerprint.Print
}

// New begins a scenario's Build, which needs one Kit.
func New(c *explore.Case) *Kit { return &Kit{Case: c} }

// Remember adds something that the checks remember: how to reset it before each run,
// and its fingerprint, which must distinguish everything that makes the checks act
// differently.
func (k *Kit) Remember(reset func(), print func() fingerprint.Print) {
	k.OnReset(reset)
	k.Remembers(k.print)
	k.parts = append(k.parts, print)
}

// History reports to the search that what the checks remember has changed. Call it
// immediately: like [explore.Case.History] it ends the step, so make all changes
// before.
func (k *Kit) History() { k.Case.History(k.print()) }

// print returns the fingerprint of all parts.
func (k *Kit) print() fingerprint.Print {
	if len(k.parts) == 1 {
		return k.parts[0]()
	}
	var p fingerprint.Print
	for _, part := range k.parts {
		p = p.Print(part())
	}
	return p
}

// World returns a world of these hosts with the profile and the faults of the case.
func (k *Kit) World(nodes ...sim.Node) sim.Config {
	return sim.Config{Profile: k.Profile, Budget: k.Budget, Nodes: nodes}
}

// Check fails the run if err is not nil, and reports whether it is nil.
func (k *Kit) Check(err error) bool {
	if err != nil {
		k.Fail(err)
	}
	return err == nil
}

// Host returns a host that runs script, and restarts it after a crash unless [StayDown] says
// otherwise. An error of the script fails the run.
func (k *Kit) Host(name string, script func(h host.Host) error) sim.Node {
	return sim.Node{Name: name, Main: func(h host.Host, _ int) { k.Check(script(h)) }}
}

// errServed is the failure of a server that has returned without an error.
var errServed = errors.New("a server has returned")

// Server returns a host that serves others, so a run does not wait for it. After a crash it
// restarts with empty memory. The run fails if serve returns. A server must not report
// to the checks, so it uses no Recorder and no Memory: its clients observe what it
// does.
func (k *Kit) Server(name string, serve func(h host.Host) error) sim.Node {
	return sim.Node{Name: name, Daemon: true, Main: func(h host.Host, _ int) {
		err := serve(h)
		if err == nil {
			err = errServed
		}
		k.Fail(err)
	}}
}
