package programs

import (
	"slices"
	"strings"
)

// Shrink makes a program smaller while bad still returns true, until nothing can
// be left out: hosts, lives, acts, faults, settings, flags.
func Shrink(p *Program, bad func(*Program) bool) *Program {
	for again := true; again; {
		again = false
		for _, q := range p.smaller() {
			if bad(q) {
				p, again = q, true
				break
			}
		}
	}
	return p
}

// smaller lists the programs that lack one part, larger parts first.
func (p *Program) smaller() []*Program {
	var out []*Program
	with := func(f func(q *Program)) {
		q := p.clone()
		f(q)
		out = append(out, q)
	}
	for i := range p.Hosts {
		if len(p.Hosts) > 1 {
			with(func(q *Program) { q.removeHost(i) })
		}
	}
	for i := range p.Hosts {
		for j := range p.Hosts[i].Lives {
			if j > 0 && j == len(p.Hosts[i].Lives)-1 {
				with(func(q *Program) { q.Hosts[i].Lives = q.Hosts[i].Lives[:j] })
			}
			n := 0
			eachAct(p.Hosts[i].Lives[j], func(*Act) { n++ })
			for k := range n {
				with(func(q *Program) { q.Hosts[i].Lives[j] = removeAct(q.Hosts[i].Lives[j], k, false) })
				with(func(q *Program) { q.Hosts[i].Lives[j] = removeAct(q.Hosts[i].Lives[j], k, true) })
			}
		}
	}
	for i := range p.Faults {
		with(func(q *Program) { q.Faults = append(q.Faults[:i], q.Faults[i+1:]...) })
		with(func(q *Program) { q.Faults[i] = strings.Replace(q.Faults[i], "<=2", "<=1", 1) })
	}
	for i := range p.Set {
		with(func(q *Program) { q.Set = append(q.Set[:i], q.Set[i+1:]...) })
	}
	p.smallerProfile(with)
	if p.Timers != "" {
		with(func(q *Program) { q.Timers = "" })
	}
	p.smallerHosts(with)
	p.smallerActs(with)
	text := p.String()
	distinct := out[:0]
	for _, q := range out {
		if q.valid() && q.String() != text {
			distinct = append(distinct, q)
		}
	}
	return distinct
}

// smallerProfile lists profiles closer to strong: the named profile, or all but one of the changed knobs.
func (p *Program) smallerProfile(with func(func(q *Program))) {
	parts := strings.Split(p.Profile, "+")
	if p.Profile != "strong" {
		with(func(q *Program) { q.Profile = "strong" })
		with(func(q *Program) { q.Profile = strings.Join(append([]string{"strong"}, parts[1:]...), "+") })
	}
	for i := range parts[1:] {
		with(func(q *Program) { q.Profile = strings.Join(slices.Delete(slices.Clone(parts), i+1, i+2), "+") })
	}
}

func (p *Program) smallerHosts(with func(func(q *Program))) {
	for i := range p.Hosts {
		h := &p.Hosts[i]
		if h.Copies > 2 {
			with(func(q *Program) { q.Hosts[i].Copies-- })
		}
		if h.Copies > 0 {
			with(func(q *Program) { q.Hosts[i].Copies = 0 })
		}
		if h.Daemon {
			with(func(q *Program) { q.Hosts[i].Daemon = false })
		}
		if h.Again {
			with(func(q *Program) { q.Hosts[i].Again = false })
		}
	}
}

func (p *Program) smallerActs(with func(func(q *Program))) {
	n := 0
	p.acts(func(_ *Host, a *Act) {
		at := n
		n++
		change := func(f func(a *Act)) { with(func(q *Program) { f(q.act(at)) }) }
		if a.If > 0 {
			change(func(a *Act) { a.If = 0 })
		}
		for i := range a.Flags {
			change(func(a *Act) { a.Flags = a.Flags[:i] + a.Flags[i+1:] })
		}
		if a.V > 1 {
			change(func(a *Act) { a.V = 1 })
		}
		if a.At > 0 {
			change(func(a *Act) { a.At = 0 })
		}
		for _, name := range strings.Split(a.To, "+") {
			if name != a.To {
				change(func(a *Act) { a.To = name })
			}
		}
	})
}

// act returns the n-th act.
func (p *Program) act(n int) *Act {
	var found *Act
	p.acts(func(_ *Host, a *Act) {
		if n == 0 {
			found = a
		}
		n--
	})
	return found
}

// removeAct removes the n-th act, or only the act around its body.
func removeAct(acts []Act, n int, body bool) []Act {
	var out []Act
	for i := range acts {
		a := acts[i]
		n--
		if n == -1 {
			if body {
				out = append(out, a.Body...)
			}
			continue
		}
		inside := 0
		eachAct(a.Body, func(*Act) { inside++ })
		if n >= 0 && n < inside {
			a.Body = removeAct(a.Body, n, body)
		}
		n -= inside
		out = append(out, a)
	}
	return out
}

// removeHost removes a host, and the acts and faults that name it.
func (p *Program) removeHost(i int) {
	name := p.Hosts[i].Name
	p.Faults = slices.DeleteFunc(p.Faults, func(r string) bool { return names(r, name) })
	p.Hosts = append(p.Hosts[:i], p.Hosts[i+1:]...)
	for i := range p.Hosts {
		for j := range p.Hosts[i].Lives {
			p.Hosts[i].Lives[j] = forget(p.Hosts[i].Lives[j], name)
		}
	}
}

// names reports whether a rule of a budget names a host.
func names(rule, host string) bool {
	_, args, _ := strings.Cut(rule, "(")
	args, _, _ = strings.Cut(args, ")")
	return slices.Contains(strings.Split(strings.ReplaceAll(args, "*", ""), ","), host)
}

func forget(acts []Act, name string) []Act {
	var out []Act
	for _, a := range acts {
		var to []string
		for _, n := range strings.Split(a.To, "+") {
			if n != name {
				to = append(to, n)
			}
		}
		if a.To != "" && len(to) == 0 {
			continue
		}
		a.To = strings.Join(to, "+")
		a.Body = forget(a.Body, name)
		out = append(out, a)
	}
	return out
}
