package programs

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// What tasks report, and the outcome of a run.

// alive reports whether the machine has neither died nor ended.
func (m *machine) alive() bool { return m.h.(*sim.Host).Alive() }

// say reports the observations of the task so far.
func (t *task) say() { t.report(false) }

// report reports the task's observations to the checks, at its end or before. The machine
// may die before the report.
func (t *task) report(end bool) {
	x := t.m.x
	daemon := x.hosts[t.m.at].Daemon // it reports nothing
	if !daemon && !x.needs.history {
		x.c.Report(fingerprint.Print{}.Bytes(t.log).Bool(end)) // an empty log shows only at the end
	}
	t.said, t.done = len(t.log), end
	if daemon {
		return
	}
	if x.needs.history {
		x.order = append(x.order, x.hosts[t.m.at].Host.Name) // without the index of an interchangeable host
	}
	x.c.Outcome(x.text(false)) // before others can act
	if x.needs.history {
		x.c.History(x.told())
	}
}

// told returns the fingerprint of everything that tasks have reported.
func (x *world) told() (sum fingerprint.Print) {
	for _, t := range x.tasks {
		if x.hosts[t.m.at].Daemon || !t.done && t.said == 0 {
			continue // it has reported nothing
		}
		spec := slices.IndexFunc(x.p.Hosts, func(h Host) bool { return h.Name == x.hosts[t.m.at].Host.Name }) // without the index of an interchangeable host
		sum = sum.Plus(fingerprint.Print{}.Int(spec).Int(t.m.life).String(t.path).Bytes(t.log[:t.said]).Bool(t.done))
	}
	return sum.String(strings.Join(x.order, " "))
}

// text is what the tasks have reported, in the order of the program. With waits, it includes
// what blocked tasks have seen at the end of the run.
func (x *world) text(waits bool) string {
	var groups []string
	for i := range x.p.Hosts {
		h := &x.p.Hosts[i]
		if h.Daemon {
			continue
		}
		var each []string
		for _, name := range h.names() {
			each = append(each, x.seenBy(name, waits))
		}
		sort.Strings(each) // which of the interchangeable hosts saw what is no outcome
		groups = append(groups, h.Name+":"+strings.Join(each, ","))
	}
	if len(x.order) > 0 {
		groups = append(groups, "told by "+strings.Join(x.order, ","))
	}
	return strings.Join(groups, " ")
}

func (x *world) seenBy(name string, waits bool) string {
	var out []string
	for _, t := range x.tasks {
		if x.hosts[t.m.at].name != name {
			continue
		}
		text := string(t.log[:t.said])
		if waits && !t.done && t.m.alive() {
			text = string(t.log) + "…"
		} else if !t.done && t.said == 0 {
			continue
		}
		if t.m.life > 0 || t.path != "" {
			text = fmt.Sprintf("%d%s(%s)", t.m.life, t.path, text)
		}
		out = append(out, text)
	}
	sort.Strings(out)
	return strings.Join(out, ",")
}

// settle is the outcome of a run in which hosts stay up.
func (x *world) settle(hosts []*sim.Host) {
	out := x.text(true)
	if x.needs.final {
		for i := range x.p.Hosts {
			var each []string
			for at, h := range x.hosts {
				if h.Host == &x.p.Hosts[i] && hosts[at].Alive() && hosts[at].Life() == 0 {
					each = append(each, fmt.Sprint(x.memory(x.setup[at], hosts[at])))
				}
			}
			sort.Strings(each)
			out += " " + x.p.Hosts[i].Name + "=" + strings.Join(each, ",")
		}
	}
	x.c.Outcome(out)
}

func (x *world) memory(m *machine, h *sim.Host) (out []uint64) {
	for i := range words {
		if !m.freed {
			out = append(out, number(h.Settle(m.mem, 8*i, 8)))
		}
	}
	return out
}
