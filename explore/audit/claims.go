package audit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// differ describes how two states that should be equal differ; it is empty if they do not. The
// first is renamed. Fingerprints of renamed states may differ: then the search visits the state
// twice, which only costs time. Such pairs are counted.
func (a *auditor) differ(t, u *trail, i, j int, ren *renamed) string {
	x, y := &t.sights[i], &u.sights[j]
	var names []sim.Actor
	for _, e := range x.events {
		names = append(names, ren.actor(e))
	}
	slices.Sort(names)
	switch {
	case x.print != y.print && ren == nil:
		return "the states have different fingerprints"
	case !slices.Equal(names, y.events):
		return "other events can happen: " + a.apart(names, y.events)
	}
	if ren != nil {
		a.r.Renamed++
		if x.print != y.print {
			a.r.Missed++
		}
	}
	return ""
}

// apart lists the events that are in only one of two sets.
func (a *auditor) apart(x, y []sim.Actor) string {
	only := func(x, y []sim.Actor) string {
		var out []string
		for _, e := range x {
			if !slices.Contains(y, e) {
				out = append(out, a.w.ActorName(e))
			}
		}
		if out == nil {
			return "nothing"
		}
		return strings.Join(out, ", ")
	}
	return "only here " + only(x, y) + ", only there " + only(y, x)
}

// ends describes how the ends of two runs differ.
func ends(a, b *trail) string {
	switch {
	case a.end != b.end:
		return fmt.Sprintf("one run is %v, the other %v", a.end, b.end)
	case a.outcome != b.outcome:
		return fmt.Sprintf("the outcomes are %q and %q", a.outcome, b.outcome)
	case (a.err == nil) != (b.err == nil) || a.err != nil && explore.ClassOf(a.err) != explore.ClassOf(b.err):
		return fmt.Sprintf("the violations are %v and %v", a.err, b.err)
	}
	return ""
}

// pairs tries at state i of a run whether steps that use nothing in common commute, and
// whether private ones can be taken alone.
func (a *auditor) pairs(t *trail, i int) {
	base := t.steps[:i]
	var one []*trail // one step further
	for _, e := range t.sights[i].events {
		if x := a.run(&e, follow{path: base}, false); len(x.steps) == i+1 && x.lost == "" && x.err == nil && x.end == sim.Stopped {
			one = append(one, x)
		}
	}
	for k, x := range one {
		for _, y := range one[k+1:] {
			switch fx, fy := x.last(), y.last(); {
			case fx.private:
				a.commute(Alone, t, i, x.steps[i], y.steps[i])
			case fy.private:
				a.commute(Alone, t, i, y.steps[i], x.steps[i])
			case !sim.Dependent(fx.foot, fy.foot):
				a.commute(Commute, t, i, x.steps[i], y.steps[i])
			}
		}
	}
}

// commute makes two steps in both orders.
func (a *auditor) commute(claim string, t *trail, i int, x, y step) {
	a.r.Tried[claim]++
	base := t.steps[:i:i]
	xy := a.run(nil, follow{path: append(base, x, y), only: true}, false)
	if claim == Alone && y.actor.Kills(x.actor) {
		// A private step just before its host finishes has no effect.
		if only := a.run(nil, follow{path: append(base, y), only: true}, false); xy.lost != "" {
			a.found(claim, t, i, xy.lost, x, y)
		} else if why := a.differ(xy, only, len(xy.sights)-1, len(only.sights)-1, nil); why != "" {
			a.found(claim, t, i, why, x, y)
		}
		return
	}
	yx := a.run(nil, follow{path: append(base, y, x), only: true}, false)
	switch {
	case xy.lost != "":
		a.found(claim, t, i, "one order: "+xy.lost, x, y)
	case yx.lost != "":
		a.found(claim, t, i, "the other order: "+yx.lost, x, y)
	case claim == Alone && !yx.last().private:
		a.found(claim, t, i, "it is not private in the other order", x, y)
	default:
		why := a.differ(xy, yx, len(xy.sights)-1, len(yx.sights)-1, nil)
		if why == "" {
			why = ends(xy, yx)
		}
		if why != "" {
			a.found(claim, t, i, why, x, y)
		}
	}
}

// permuted repeats a run with the interchangeable hosts permuted.
func (a *auditor) permuted(t *trail) {
	sym := a.w.Symmetric()
	if len(sym) < 2 {
		return
	}
	perm := make([]uint8, len(a.w.HostNames()))
	for i := range perm {
		perm[i] = uint8(i)
	}
	for i, j := range a.rng.Perm(len(sym)) {
		perm[sym[i]] = uint8(sym[j])
	}
	a.r.Tried[Symmetry]++
	ren := rename(a.w, perm)
	why, at := a.alike(t, ren)
	if why == "" {
		x := a.run(nil, follow{path: t.steps, ren: ren, only: true, shuffled: true}, false)
		why, at = a.along(t, x, 0, ren)
	}
	if why != "" {
		a.found(Symmetry, t, at, why)
	}
}

// alike repeats run t unchanged and with its hosts permuted. States that are equal except for the names of
// hosts must stay so: the search keeps one of the two, and would lose outcomes of the other. States
// that differ may become the same later: then the search knew two states where one would do.
func (a *auditor) alike(t *trail, ren *renamed) (why string, at int) {
	a.w.SetBlind(true)
	defer a.w.SetBlind(false)
	x := a.run(nil, follow{path: t.steps, only: true}, false)
	y := a.run(nil, follow{path: t.steps, ren: ren, only: true, shuffled: true}, false)
	for i := 1; i < min(len(x.sights), len(y.sights)); i++ {
		if x.sights[i-1].alike == y.sights[i-1].alike && x.sights[i].alike != y.sights[i].alike {
			return "its last step leads to states that differ in more than the names of hosts: " +
				"does the code go through them in the order of a list, or prefer the first? (see host.InAnyOrder)", i
		}
	}
	return "", 0
}

// along compares two runs that should be equal from state i on, and describes where they differ.
func (a *auditor) along(t, x *trail, i int, ren *renamed) (why string, at int) {
	for ; i < min(len(t.sights), len(x.sights)); i++ {
		if why := a.differ(t, x, i, i, ren); why != "" {
			return why, i
		}
	}
	if x.lost != "" {
		return x.lost, len(x.steps)
	}
	return ends(t, x), len(x.steps)
}

// meeting is where a state was first reached.
type meeting struct {
	t    *trail
	at   int
	asks map[sim.Actor]take // the first choices of steps that were made from there
}

// twins searches for states of a run that another run has reached. It compares the next choices, and for some
// states it also repeats, from here, the rest of the other run.
func (a *auditor) twins(t *trail, met map[print]*meeting) {
	tried := 0
	for i := range t.sights {
		m := met[t.sights[i].print]
		if m == nil {
			m = &meeting{t: t, at: i, asks: map[sim.Actor]take{}}
			met[t.sights[i].print] = m
		}
		a.asks(m, t, i)
		if m.t == t || samePath(m.t.steps[:m.at], t.steps[:i]) || tried == 3 {
			continue
		}
		tried++
		a.r.Tried[Twins]++
		a.twin(m, t, i)
	}
}

// asks compares the first choice of step i of a run with that of another run by the same actor in
// a state with the same fingerprint. It needs no run, so it is made for each state.
func (a *auditor) asks(m *meeting, t *trail, i int) {
	if i == len(t.steps) || !slices.Equal(t.sights[i].order, m.t.sights[m.at].order) {
		return // hosts have other names: twin compares those
	}
	s := t.steps[i]
	var first take
	if len(s.takes) > 0 {
		first = s.takes[0]
	}
	was, again := m.asks[s.actor]
	if !again {
		m.asks[s.actor] = first
	} else if was.kind != first.kind || !unnamed.alike(first.options, was.options) {
		a.found(Twins, t, i, fmt.Sprintf("its first choice is %v of %v, and elsewhere %v of %v; the other state comes after %v",
			first.kind, first.options, was.kind, was.options, names(m.t.steps[:m.at])), s)
	}
}

func samePath(a, b []step) bool {
	return slices.EqualFunc(a, b, func(x, y step) bool {
		return x.actor == y.actor && slices.EqualFunc(x.takes, y.takes, func(a, b take) bool {
			return a.kind == b.kind && a.name == b.name && a.nth == b.nth
		})
	})
}

// twin continues run t from state i as the other run continued.
func (a *auditor) twin(m *meeting, t *trail, i int) {
	var ren *renamed
	if from, to := m.t.sights[m.at].order, t.sights[i].order; !slices.Equal(from, to) {
		sym := a.w.Symmetric()
		perm := make([]uint8, len(a.w.HostNames()))
		for k := range perm {
			perm[k] = uint8(k)
		}
		for k := range from {
			perm[sym[from[k]]] = uint8(sym[to[k]])
		}
		ren = rename(a.w, perm)
	}
	path := slices.Clone(t.steps[:i])
	for _, s := range m.t.steps[m.at:] {
		n := step{actor: ren.actor(s.actor), name: ren.text(s.name)}
		for _, x := range s.takes {
			x.name, x.options = ren.text(x.name), slices.Clone(x.options)
			for k := range x.options {
				x.options[k] = ren.text(x.options[k])
			}
			n.takes = append(n.takes, x)
		}
		path = append(path, n)
	}
	x := a.run(nil, follow{path: path, only: true, shuffled: ren != nil}, false)
	for k := 0; m.at+k < len(m.t.sights) && i+k < len(x.sights); k++ {
		if why := a.differ(m.t, x, m.at+k, i+k, ren); why != "" {
			a.found(Twins, t, i, fmt.Sprintf("%d steps later %s; the other state comes after %v", k, why, names(m.t.steps[:m.at])), path[i:min(i+k, len(path))]...)
			return
		}
	}
	if x.lost != "" {
		a.found(Twins, t, i, fmt.Sprintf("%s; the other state comes after %v", x.lost, names(m.t.steps[:m.at])), path[i:min(len(x.steps)+1, len(path))]...)
	} else if why := ends(m.t, x); why != "" {
		a.found(Twins, t, i, fmt.Sprintf("%s; the other state comes after %v", why, names(m.t.steps[:m.at])), path[i:]...)
	}
}

func names(steps []step) []string {
	out := make([]string, len(steps))
	for i := range steps {
		out[i] = steps[i].String()
	}
	return out
}
