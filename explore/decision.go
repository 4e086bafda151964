package explore

import (
	"strconv"

	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// Decision is one choice at which a run left the default: At is the place, by names
// that survive edits of the code, and Take the option chosen. Decisions determine a
// run; everywhere else it takes the first option.
//
// At is "actor@n" where the default would have been the n-th step of that actor, or
// "actor@n/kind#k" for the k-th choice of a kind inside that step, or "actor@n/stop"
// where the step stops early, at the seam that Take numbers ([sim.World.Seams]).
type Decision struct {
	At   string `json:"at"`
	Take string `json:"take"`
}

// guide is the named policy behind counterexamples: it follows decisions, or another
// policy, and records where it left the default.
type guide struct {
	w      *sim.World
	follow map[string][]string // several in a row can share a place
	raw    sim.Policy          // if set, it decides instead
	taken  []Decision
	at     []int // the steps of taken
	count  map[sim.Actor]int
	cur    string
	kinds  [16]int
	trace  uint64
	limit  int
	steps  int
}

func newGuide(w *sim.World, ds []Decision) *guide {
	g := &guide{w: w, follow: map[string][]string{}, count: map[sim.Actor]int{}}
	for _, d := range ds {
		g.follow[d.At] = append(g.follow[d.At], d.Take)
	}
	return g
}

// Pick implements sim.Policy.
func (g *guide) Pick(evs []sim.Event) int {
	g.trace = hash2(g.trace, g.w.Fingerprint(nil).A)
	g.steps++
	if g.limit > 0 && g.steps > g.limit {
		return -1
	}
	i := 0
	at := g.place(&evs[0])
	if g.raw != nil {
		if i = g.raw.Pick(evs); i < 0 {
			return -1
		}
	} else {
		i = g.wanted(at, len(evs), func(j int) string { return g.w.EventName(&evs[j]) })
	}
	if i != 0 {
		g.take(at, g.w.EventName(&evs[i]), g.w.Steps()+1)
	}
	a := evs[i].Actor
	g.cur = g.place(&evs[i])
	g.count[a]++
	g.kinds = [16]int{}
	g.stop()
	return i
}

// stop makes the step stop at one of its seams ([sim.World.Seams]), if a decision says so.
func (g *guide) stop() {
	at, n := g.cur+"/stop", 0
	if raw, ok := g.raw.(interface{ stop() int }); ok {
		n = raw.stop()
	} else if want := g.follow[at]; g.raw == nil && len(want) > 0 {
		if n, _ = strconv.Atoi(want[0]); n > 0 {
			g.follow[at] = want[1:]
		}
	}
	if n > 0 {
		g.w.StopAt(n)
		g.take(at, strconv.Itoa(n), g.w.Steps()+1)
	}
}

// wanted returns the option, out of n, of the next decision for a place, or 0.
func (g *guide) wanted(at string, n int, name func(int) string) int {
	if want := g.follow[at]; len(want) > 0 {
		for i := range n {
			if name(i) == want[0] {
				g.follow[at] = want[1:]
				return i
			}
		}
	}
	return 0
}

// place names the next step of an event's actor.
func (g *guide) place(ev *sim.Event) string {
	return g.w.EventName(ev) + "@" + strconv.Itoa(g.count[ev.Actor])
}

// inner names the i-th choice of a kind inside the current step.
func (g *guide) inner(k sim.ChoiceKind, i int) string {
	return g.cur + "/" + k.String() + "#" + strconv.Itoa(i)
}

// Choose implements sim.Policy; the world calls ChooseNamed instead.
func (g *guide) Choose(sim.ChoiceKind, int) int { return 0 }

// ChooseNamed implements sim.NamedPolicy.
func (g *guide) ChooseNamed(k sim.ChoiceKind, names []string) int {
	at := g.inner(k, g.kinds[k])
	g.kinds[k]++
	i := 0
	if g.raw != nil {
		i = g.raw.Choose(k, len(names))
	} else {
		i = g.wanted(at, len(names), func(j int) string { return optionName(names, j) })
	}
	if i != 0 {
		g.take(at, optionName(names, i), g.w.Steps())
	}
	g.trace = hash2(g.trace, uint64(i))
	return i
}

// optionName returns the name of an option. Several can have the same name, such as the
// requests of two lives of a host: then all but the first are numbered.
func optionName(names []string, i int) string {
	nth := 1
	for _, n := range names[:i] {
		if n == names[i] {
			nth++
		}
	}
	if nth == 1 {
		return names[i]
	}
	return names[i] + " (" + strconv.Itoa(nth) + ")"
}

// take records a decision.
func (g *guide) take(at, what string, step int) {
	g.taken, g.at = append(g.taken, Decision{at, what}), append(g.at, step)
}

// unmade counts the decisions that did not apply to the run.
func (g *guide) unmade() (n int) {
	for _, want := range g.follow { //lint:ordered sums do not depend on the order
		n += len(want)
	}
	return n
}

// takenAt returns the decisions and their steps.
func (g *guide) takenAt() []Taken {
	out := make([]Taken, len(g.taken))
	for i := range out {
		out[i] = Taken{g.at[i], g.taken[i]}
	}
	return out
}

// moves is the policy that repeats a path of the graph and then stops.
type moves struct {
	path []move
	at   int
	in   int
}

func (m *moves) Pick(evs []sim.Event) int {
	if m.at >= len(m.path) {
		return -1
	}
	a := m.path[m.at].Actor
	m.at++
	m.in = 0
	for i := range evs {
		if evs[i].Actor == a {
			return i
		}
	}
	return -1
}

// stop returns the seam at which the step picked last stops.
func (m *moves) stop() int {
	n := stopOf(m.path[m.at-1].Inner)
	if n > 0 {
		m.in = 1
	}
	return n
}

func (m *moves) Choose(_ sim.ChoiceKind, n int) int {
	p := &m.path[m.at-1]
	if m.in >= len(p.Inner) {
		return 0
	}
	v := int(p.Inner[m.in])
	m.in++
	return min(v, n-1)
}

// hash2 is a small mixing function for traces of runs.
func hash2(a, b uint64) uint64 {
	a ^= b + 0x9e3779b97f4a7c15 + a<<6 + a>>2
	a *= 0xbf58476d1ce4e5b9
	return a ^ a>>31
}

// selfCheck makes the first runs of a scenario twice and compares them step by step:
// results mean nothing if a run does not repeat itself.
func selfCheck(c *Case) error {
	defer c.w.Watch(false)
	for seed := uint64(0); seed < 8; seed++ {
		var traces [2]uint64
		for i := range traces {
			c.w.Watch(i == 0)
			g := newGuide(c.w, nil)
			g.limit = 2000
			if seed > 0 {
				g.raw = newSampler(Random, seed, 0)
			}
			if _, err := c.run(g); err != nil {
				g.trace = hash2(g.trace, uint64(len(err.Error())))
			}
			if err := c.w.Stray(); err != nil {
				return err
			}
			traces[i] = hash2(g.trace, uint64(c.w.Steps()))
		}
		if traces[0] != traces[1] {
			return ErrNotDeterministic
		}
	}
	return nil
}
