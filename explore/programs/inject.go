package programs

import (
	"slices"
	"strings"

	"github.com/verbatim-rdma/verbatim/faults"
)

// Faults that tasks inject, and heals. Those whose names begin with me affect the task's own host,
// the others a named host, or the link to it.

var injected = map[string]faults.Kind{"crash": faults.Crash, "power": faults.Power, "suspect": faults.Suspect, "revoke": faults.Revoke,
	"timeout": faults.Timeout, "flip": faults.Flip, "poison": faults.Poison}

var injectedLinks = map[string]faults.Kind{"cut": faults.Cut, "part": faults.Partition, "break": faults.Break}

func injectActs() map[string]kindOfAct {
	at := func(do func(t *task, name string)) func(*task, *Act) {
		return func(t *task, a *Act) {
			for _, name := range t.m.x.peers(t.m.at, a.To) {
				do(t, name)
			}
		}
	}
	strikes := func(k faults.Kind, other string) func(*task, string) {
		return func(t *task, name string) {
			places := []string{name}
			switch {
			case other != "":
				places = []string{name, other}
			case k.Arity() == 2:
				places = []string{t.m.h.Name(), name}
			}
			t.err(t.m.x.c.Inject(k, places...))
		}
	}
	out := map[string]kindOfAct{
		"point": {do: func(t *task, _ *Act) { t.m.x.c.Point() }},
		"heal":  {takes: "t", do: at(func(t *task, name string) { t.m.x.c.Heal(t.m.h.Name(), name) })},
	}
	for name, do := range map[string]func(*task, string){"healsvc": func(t *task, name string) { t.m.x.c.Heal(name, "services") },
		"cutsvc": strikes(faults.Cut, "services"), "partsvc": strikes(faults.Partition, "services")} {
		out[name] = kindOfAct{do: func(t *task, _ *Act) { do(t, t.m.h.Name()) }}
	}
	out["icutsvc"] = kindOfAct{takes: "t", do: at(strikes(faults.Cut, "services"))}
	for name, k := range injected {
		pmem := k == faults.Flip || k == faults.Poison
		out["i"+name] = kindOfAct{takes: "t", pmem: pmem, do: at(strikes(k, ""))}
		if !pmem && k != faults.Timeout {
			out["me"+name] = kindOfAct{do: func(t *task, _ *Act) { strikes(k, "")(t, t.m.h.Name()) }}
		}
	}
	for name, k := range injectedLinks {
		out["i"+name] = kindOfAct{takes: "t", link: k == faults.Break, do: at(strikes(k, ""))}
	}
	return out
}

// announces returns what the world must know about injected faults from the start.
func (p *Program) announces() (out faults.Budget) {
	p.acts(func(h *Host, a *Act) {
		do, own := strings.CutPrefix(a.Do, "me")
		if !own {
			do = strings.TrimPrefix(a.Do, "i")
		}
		k, ok := injected[do]
		if !ok || k != faults.Power && k != faults.Revoke && k != faults.Timeout {
			return
		}
		names := strings.Split(a.To, "+")
		if own {
			names = []string{h.Name}
		}
		for _, n := range names {
			if p.isGroup(n) {
				n += "*"
			}
			b, err := faults.ParseBudget(k.String() + "(" + n + ")<=1")
			if err != nil {
				panic(err)
			}
			if !slices.ContainsFunc(out, func(r faults.Rule) bool { return r.String() == b[0].String() }) {
				out = append(out, b...)
			}
		}
	})
	return out
}
