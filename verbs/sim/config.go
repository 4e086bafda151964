package sim

import (
	"errors"
	"fmt"
	"slices"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
)

// Config describes a world: its hosts, their cards, and the faults that may happen.
type Config struct {
	Nodes   []Node
	Profile faults.Profile
	Budget  faults.Budget
	// Timers says when a timer may fire; the zero value is idle.
	Timers   faults.Timers
	Services []Service
	// Reset restores the initial state of everything that the nodes' code keeps outside
	// the world. It is called before each run.
	Reset func()
	// Unreported, if set, reports whether the memory of the checks has changed since the last SetHistory
	// or Report. If it has changed at the end of a step, the run fails with ErrUnreported.
	Unreported func() bool
	// Gate, if set, reports whether a fault of kind k, or a heal of a link, may happen
	// now. It may depend only on the current lives of the hosts concerned.
	Gate func(k faults.Kind, heal bool) bool
	// Eager makes every arrival, placement and acknowledgement a step of its own, instead of resolving
	// them when code observes them. It is slow, and shows that late resolution loses nothing.
	Eager bool
	// Strengthen makes the card do what the program does not do itself.
	Strengthen Strengthen
	// MaxPieces bounds the number of pieces into which a message may tear. 0 means that each cell
	// of the profile is a piece. Verdicts report whether the bound mattered (Stats.CutShort).
	MaxPieces int
	// MaxSteps stops a run that does not finish by itself. Default 100000.
	MaxSteps int
	// Setup, if set, prepares the hosts before the first step of a run. Nothing happens
	// at the same time, and its calls return at once. It must not wait or choose
	// (Host.Rand): the run then fails with an error that wraps ErrConfig.
	Setup func(hosts []*Host)
	// Linger keeps hosts up after their code has returned. A run finishes when no code
	// can continue, and code that waits forever is not an error.
	Linger bool
	// Injects are the power failures, revocations and timeouts that tasks inject, whatever the
	// budget allows, and the hosts that they strike; Max does not count. They must be known from
	// the start: power failures make older contents of persistent memory matter, revocations every
	// request of the host, and timeouts the set of its timers. With Linger any may be injected.
	Injects faults.Budget
	// Helpers are functions that a trace skips: the source of an event is then the line that
	// called the helper. Each is the suffix of a function name as package runtime reports it, such
	// as "mylock.(*Lock).await". Functions of package kit and of the simulator are always skipped.
	Helpers []string
	// AtEnd, if set, is called when a run with Linger has finished. Elements still in
	// flight land when AtEnd asks for it with [Host.Settle].
	AtEnd func(hosts []*Host)
	// Hung, if set, is called when hosts wait, nothing but faults can happen, and none does: the run then
	// finishes instead of failing. Hung receives the names of the waiting tasks and what they wait for.
	Hung func(waiting []string)
}

// Node is one logical host: a name, and the code that runs there.
type Node struct {
	Name string
	// Main is the host's first task. life is 0 at first and grows with each restart.
	Main func(h host.Host, life int)
	// Again reports whether another life follows the one that ended. If it is nil, one
	// follows only after a crash. A Daemon's lives are optional: a run may end without them.
	Again func(life int, crashed bool) bool
	// Immortal, if set, reports which lives no crash or power failure strikes.
	Immortal func(life int) bool
	// Daemon means that the run does not wait for the host.
	Daemon bool
	// Symmetric marks the hosts that are interchangeable: they run the same code, and all code
	// treats them alike. Code that goes through them one by one, or prefers one of several,
	// must leave the order open: see [host.InAnyOrder]. An audit (explore/audit) tests that.
	// Hosts that the fault budget distinguishes are not treated as interchangeable.
	Symmetric bool
}

// Service is a state machine whose every call, by Call or in a Gather, is one atomic step.
// It stands for the linearizable services that a protocol takes for granted. It does not
// fail, but the link between a host and the service can be cut, as by cut(app,coord).
type Service struct {
	Host, Name string
	Apply      func(from string, req []byte) []byte
	ReadOnly   func(req []byte) bool
	// Slow lets a Host.Call time out wherever timers can fire while other events are possible, as a call in a
	// Gather can. Without Slow every Host.Call is answered in time, and the verdict states this (Stats.InTime).
	Slow  bool
	Hash  func() fingerprint.Print
	Reset func()
}

// ErrConfig is wrapped by every error of Config.
var ErrConfig = errors.New("sim: bad configuration")

// ErrDaemonReports means that the code of a Daemon reported something to the checks.
// That is a mistake of the scenario, so there is no verdict.
var ErrDaemonReports = errors.New("sim: a daemon host reports to the checks; leave out Node.Daemon")

// ErrInjects means that a task injected a fault that the configuration did not announce.
// A run keeps only the state that the announced faults need, so there is no verdict.
var ErrInjects = errors.New("sim: a fault that was not announced")

// ErrNobodyReports means that Report was called outside of all tasks, as by Node.Again
// or a gate. That is a mistake of the scenario, so there is no verdict.
var ErrNobodyReports = errors.New("sim: a report outside of all tasks; report it by the code of a host")

// ErrNobodyInjects means that Inject, Heal or Point was called outside of all tasks, as
// by Node.Again or a gate. That is a mistake of the scenario, so there is no verdict.
var ErrNobodyInjects = errors.New("sim: outside of all tasks; let the code of a host do it")

// Validate checks c; New calls it.
func (c *Config) Validate() error {
	if len(c.Nodes) == 0 || len(c.Nodes) > maxHosts {
		return fmt.Errorf("%w: %d hosts; a world has 1 to %d", ErrConfig, len(c.Nodes), maxHosts)
	}
	if err := c.Profile.Validate(); err != nil {
		return fmt.Errorf("%w: %w", ErrConfig, err)
	}
	if err := c.Timers.Validate(); err != nil {
		return fmt.Errorf("%w: %w", ErrConfig, err)
	}
	if c.Strengthen >= strengthenEnd {
		return fmt.Errorf("%w: strengthening %d", ErrConfig, c.Strengthen)
	}
	var names []string
	for _, n := range c.Nodes {
		for _, m := range names {
			if n.Name == m {
				return fmt.Errorf("%w: two hosts are called %q", ErrConfig, n.Name)
			}
		}
		if n.Main == nil || n.Name == "" {
			return fmt.Errorf("%w: host %q needs a name and a Main", ErrConfig, n.Name)
		}
		names = append(names, n.Name)
	}
	if err := errors.Join(c.checkSymmetric(), c.checkServices()); err != nil {
		return err
	}
	return c.checkBudget(names)
}

// checkBudget checks the faults against the hosts. Links to services can be cut; no other fault can strike a service.
func (c *Config) checkBudget(nodes []string) error {
	places := append(nodes, c.serviceHosts()...)
	if len(places) > maxHosts {
		return fmt.Errorf("%w: %d hosts with those of services; at most %d", ErrConfig, len(places), maxHosts)
	}
	err := errors.Join(c.Budget.Validate(places), c.Injects.Validate(nodes))
	for i := range c.Budget {
		if !cutsOff(c.Budget[i].Kind) {
			err = errors.Join(err, c.Budget[i:i+1].Validate(nodes))
		}
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrConfig, err)
	}
	return nil
}

// checkServices checks that each service has a name, an operation, a hash of its state and a reset.
func (c *Config) checkServices() error {
	for i := range c.Services {
		s := &c.Services[i]
		switch {
		case s.Host == "" || s.Name == "":
			return fmt.Errorf("%w: service %d needs a Host and a Name", ErrConfig, i)
		case s.Apply == nil || s.Hash == nil || s.Reset == nil:
			return fmt.Errorf("%w: service %s of %s needs Apply, Hash and Reset; for one without state they can be empty", ErrConfig, s.Name, s.Host)
		case slices.ContainsFunc(c.Services[:i], func(x Service) bool { return x.Host == s.Host && x.Name == s.Name }):
			return fmt.Errorf("%w: two services of %s are called %q", ErrConfig, s.Host, s.Name)
		}
	}
	return nil
}

// serviceHosts returns the hosts of services that are not nodes.
func (c *Config) serviceHosts() (out []string) {
	for i := range c.Services {
		name := c.Services[i].Host
		if !slices.Contains(out, name) && !slices.ContainsFunc(c.Nodes, func(n Node) bool { return n.Name == name }) {
			out = append(out, name)
		}
	}
	return out
}

// cutsOff reports whether a fault of kind k cuts a link.
func cutsOff(k faults.Kind) bool { return k == faults.Cut || k == faults.Partition }
