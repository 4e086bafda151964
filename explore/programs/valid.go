package programs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/verbatim-rdma/verbatim/faults"
)

// Validate reports why the program is not a valid one: an unknown name, a fault that
// can never apply, a host that talks to itself.
func (p *Program) Validate() error {
	var names []string
	waited := false
	for i := range p.Hosts {
		h := &p.Hosts[i]
		names = append(names, h.names()...)
		waited = waited || !h.Daemon
		if h.Copies > maxPeers || h.Copies == 1 {
			return fmt.Errorf("%w: %d interchangeable hosts; 2 to %d", errText, h.Copies, maxPeers)
		}
	}
	if !waited {
		return fmt.Errorf("%w: nobody to wait for", errText)
	}
	budget, err := faults.ParseBudget(strings.Join(p.Faults, ", "))
	if err != nil {
		return err
	}
	for i := range budget {
		places := names
		if k := budget[i].Kind; k == faults.Cut || k == faults.Partition {
			places = append(slices.Clone(names), "services") // whose links can be cut, and that is all
		}
		if err := budget[i : i+1].Validate(places); err != nil {
			return err
		}
	}
	if _, err := faults.ProfileByName(p.Profile); err != nil {
		return err
	}
	p.acts(func(h *Host, a *Act) {
		if strings.Contains(table[a.Do].takes, "t") && !p.knows(h, a.To) {
			err = fmt.Errorf("%w: %s names %q", errText, h.Name, a.To)
		}
		for _, f := range a.Flags {
			if !strings.ContainsRune(table[a.Do].flags, f) {
				err = fmt.Errorf("%w: %s with flag %c", errText, a.Do, f)
			}
		}
	})
	return err
}

func (p *Program) valid() bool { return p.Validate() == nil }

// knows reports whether each of the names is that of another host, or of h's own group.
func (p *Program) knows(h *Host, to string) bool {
	for _, name := range strings.Split(to, "+") {
		if !slices.ContainsFunc(p.Hosts, func(o Host) bool { return o.Name == name && (name != h.Name || o.Copies > 0) }) {
			return false
		}
	}
	return true
}
