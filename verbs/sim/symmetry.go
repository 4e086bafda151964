package sim

import (
	"fmt"

	"github.com/verbatim-rdma/verbatim/faults"
)

// Which hosts are interchangeable. A scenario declares it (Node.Symmetric), and so
// promises that its code treats them alike. The part of that promise that can be checked
// is checked here; the rest is for an audit that permutes the hosts of a run.

// maxSym bounds the number of interchangeable hosts.
const maxSym = 8

// checkSymmetric compares the hosts that are declared symmetric.
func (c *Config) checkSymmetric() error {
	var first *Node
	count := 0
	for i := range c.Nodes {
		n := &c.Nodes[i]
		if !n.Symmetric {
			continue
		}
		if count++; first == nil {
			first = n
		}
		if what := n.differsFrom(first); what != "" {
			return fmt.Errorf("%w: %s and %s are called symmetric, and differ in %s", ErrConfig, first.Name, n.Name, what)
		}
	}
	if count > maxSym {
		return fmt.Errorf("%w: %d symmetric hosts; at most %d", ErrConfig, count, maxSym)
	}
	return nil
}

// differsFrom returns an evident difference between two hosts, or empty. Functions
// cannot be compared: the compiler may make two copies of one.
func (n *Node) differsFrom(m *Node) string {
	switch {
	case n.Daemon != m.Daemon:
		return "Daemon"
	case (n.Again == nil) != (m.Again == nil):
		return "Again"
	case (n.Immortal == nil) != (m.Immortal == nil):
		return "Immortal"
	}
	return ""
}

// symmetric returns the hosts that the fingerprint may treat as interchangeable. There
// are none with the eager machine, which is the oracle, or in the regime skew, which
// relates the timers of all hosts, or if the faults treat them differently.
func (c *Config) symmetric() []int {
	if c.Eager || c.Timers.Regime == faults.Skew {
		return nil
	}
	var out []int
	for i := range c.Nodes {
		if c.Nodes[i].Symmetric {
			out = append(out, i)
		}
	}
	for _, rules := range [2]faults.Budget{c.Budget, c.Injects} {
		for i := range rules {
			if !c.alike(&rules[i], out) {
				return nil
			}
		}
	}
	return out
}

// alike reports whether a fault rule treats hosts alike under every permutation.
func (c *Config) alike(r *faults.Rule, hosts []int) bool {
	name := func(i int) string { return c.Nodes[i].Name }
	for _, x := range hosts {
		if r.Kind.Arity() == 1 && r.Matches(name(x)) != r.Matches(name(hosts[0])) {
			return false
		}
		for y := range c.Nodes {
			switch {
			case r.Kind.Arity() != 2 || x == y:
			case !c.Nodes[y].Symmetric && r.Matches(name(x), name(y)) != r.Matches(name(hosts[0]), name(y)),
				c.Nodes[y].Symmetric && r.Matches(name(x), name(y)) != r.Matches(name(hosts[0]), name(hosts[1])):
				return false
			}
		}
		for _, service := range c.serviceHosts() {
			if r.Kind.Arity() == 2 && r.Matches(name(x), service) != r.Matches(name(hosts[0]), service) {
				return false
			}
		}
	}
	return true
}
