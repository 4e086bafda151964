package audit

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

type print = fingerprint.Print

// step is one step of a run. Its names are valid in other runs too.
type step struct {
	actor sim.Actor
	name  string
	takes []take
}

func (s step) String() string {
	var takes []string
	for _, t := range s.takes {
		takes = append(takes, t.name)
	}
	if len(takes) == 0 {
		return s.name
	}
	return s.name + " (" + strings.Join(takes, ", ") + ")"
}

// take is the option taken at one choice.
type take struct {
	kind    sim.ChoiceKind
	options []string
	name    string
	nth     int // of several options with this name
}

// sight is the knowledge about a state.
type sight struct {
	print   print
	order   []uint8
	alike   print       // with the interchangeable hosts in their order, or renamed
	events  []sim.Actor // sorted
	foot    []sim.Access
	private bool // of the step that led here
}

// trail is a run: the state i is before step i.
type trail struct {
	steps   []step
	sights  []sight
	end     sim.End
	outcome string
	err     error
	lost    string // why the given path could not be followed
}

func (t *trail) last() *sight { return &t.sights[len(t.sights)-1] }

// follow is a path and its renaming; either may be nil.
type follow struct {
	path []step
	ren  *renamed
	only bool // stop at its end
	// shuffled: the choices of a step may come in any order. Code that visits hosts one by one
	// visits renamed hosts in a different order.
	shuffled bool
}

// tracer follows a path, and then picks at random.
type tracer struct {
	follow
	w     *sim.World
	rng   *rand.Rand
	fault bool // faults are as likely as anything else
	force *sim.Actor
	t     *trail
	left  []take // of the path's current step, that have not been taken yet
}

// run makes a run along a path and, unless only is set, at random from there. force, if not
// nil, steps first after the path; the run then stops there.
func (a *auditor) run(force *sim.Actor, f follow, calm bool) *trail {
	p := &tracer{follow: f, w: a.w, rng: a.rng, fault: !calm, force: force, t: &trail{}}
	t := p.t
	t.end, t.outcome, t.err = a.c.Run(p)
	if t.end != sim.Stopped {
		p.arrive(nil)
	}
	if t.lost == "" && len(t.steps) < len(f.path) {
		t.lost = "the run ends early: " + t.end.String()
	}
	return t
}

// arrive notes the state that the last step led to.
func (p *tracer) arrive(evs []sim.Event) {
	s := sight{foot: slices.Clone(p.w.Footprint()), private: p.w.Private(), order: make([]uint8, len(p.w.Symmetric()))}
	s.print = p.w.Fingerprint(s.order)
	s.alike = p.w.FingerprintIn(p.ren.order(p.w.Symmetric()))
	for i := range evs {
		s.events = append(s.events, evs[i].Actor)
	}
	slices.Sort(s.events)
	p.t.sights = append(p.t.sights, s)
	if n := len(p.t.steps); n > 0 && n <= len(p.path) && len(p.left) > 0 && p.t.lost == "" {
		p.t.lost = p.path[n-1].name + " asks for fewer choices"
	}
}

// Pick implements sim.Policy.
func (p *tracer) Pick(evs []sim.Event) int {
	p.arrive(evs)
	n := len(p.t.steps)
	i := -1
	switch {
	case p.t.lost != "":
		return -1
	case n < len(p.path):
		want := p.ren.actor(p.path[n].actor)
		if i = slices.IndexFunc(evs, func(e sim.Event) bool { return e.Actor == want }); i < 0 {
			p.t.lost = p.path[n].name + " cannot happen"
			return -1
		}
	case p.force != nil && n == len(p.path):
		i = slices.IndexFunc(evs, func(e sim.Event) bool { return e.Actor == *p.force })
	case p.only || p.force != nil || n >= maxSteps:
		return -1
	default:
		i = p.any(evs)
	}
	p.t.steps = append(p.t.steps, step{actor: evs[i].Actor, name: p.w.EventName(&evs[i])})
	p.left = nil
	if n < len(p.path) {
		p.left = slices.Clone(p.path[n].takes)
	}
	return i
}

// maxSteps bounds a sampled run.
const maxSteps = 2000

// any picks at random. Calm runs have few faults, so they get far.
func (p *tracer) any(evs []sim.Event) int {
	for range 8 {
		if i := p.rng.IntN(len(evs)); !evs[i].Fault || p.fault {
			return i
		}
	}
	return p.rng.IntN(len(evs))
}

// Choose implements sim.Policy; the world calls ChooseNamed instead.
func (p *tracer) Choose(sim.ChoiceKind, int) int { return 0 }

// ChooseNamed implements sim.NamedPolicy.
func (p *tracer) ChooseNamed(k sim.ChoiceKind, names []string) int {
	i := p.rng.IntN(len(names))
	n := len(p.t.steps)
	if n <= len(p.path) && p.t.lost == "" && n > 0 {
		i = p.followed(&p.path[n-1], k, names)
	}
	if n == 0 {
		return i // before the first step
	}
	nth := 0
	for _, x := range names[:i] {
		if x == names[i] {
			nth++
		}
	}
	s := &p.t.steps[n-1]
	s.takes = append(s.takes, take{k, slices.Clone(names), names[i], nth})
	return i
}

// followed finds the option that the path takes.
func (p *tracer) followed(s *step, k sim.ChoiceKind, names []string) int {
	if len(p.left) == 0 {
		p.t.lost = s.name + " asks for one more choice: " + k.String()
		return 0
	}
	for j, x := range p.left {
		if i := p.option(x, k, names); i >= 0 {
			p.left = slices.Delete(p.left, j, j+1)
			return i
		}
		if !p.shuffled {
			break
		}
	}
	p.t.lost = s.name + " has other options: " + strings.Join(names, ", ") + "; the recorded one is " + p.ren.text(p.left[0].name)
	return 0
}

// option returns the index of the option that a take selects here, or -1.
func (p *tracer) option(x take, k sim.ChoiceKind, names []string) int {
	if k != x.kind || !p.ren.alike(names, x.options) {
		return -1
	}
	name, nth := p.ren.text(x.name), x.nth
	for i, n := range names {
		if unnamed.text(n) == name {
			if nth == 0 {
				return i
			}
			nth--
		}
	}
	return -1
}

// renamed maps hosts to hosts, and names of hosts in texts.
type renamed struct {
	perm []uint8
	repl *strings.Replacer
}

// rename makes a renaming of hosts: perm[i] is the new index of host i.
func rename(w *sim.World, perm []uint8) *renamed {
	names := w.HostNames()
	at := make([]int, len(names))
	for i := range at {
		at[i] = i
	}
	slices.SortFunc(at, func(a, b int) int { return len(names[b]) - len(names[a]) }) // peer10 before peer1
	var pairs []string
	for _, i := range at {
		pairs = append(pairs, names[i], names[perm[i]])
	}
	return &renamed{perm, strings.NewReplacer(pairs...)}
}

// order returns the positions of the interchangeable hosts, sym, among themselves, after renaming.
func (r *renamed) order(sym []int) []uint8 {
	out := make([]uint8, len(sym))
	for k := range sym {
		out[k] = uint8(k)
		if r != nil {
			out[k] = uint8(slices.Index(sym, int(r.perm[sym[k]])))
		}
	}
	return out
}

func (r *renamed) actor(a sim.Actor) sim.Actor {
	if r == nil {
		return a
	}
	return a.Rename(r.perm)
}

// alike reports whether these are the renamed options of a choice.
func (r *renamed) alike(names, options []string) bool {
	sorted := func(names []string, r *renamed) []string {
		out := make([]string, len(names))
		for i, name := range names {
			out[i] = r.text(name)
		}
		slices.Sort(out)
		return out
	}
	return slices.Equal(sorted(names, unnamed), sorted(options, r))
}

// unnamed changes no names; its text only sorts lists.
var unnamed = &renamed{repl: strings.NewReplacer()}

// text renames the hosts in the name of an option. If the name is a list, separated by commas, text
// sorts the list.
func (r *renamed) text(s string) string {
	if r == nil {
		r = unnamed
	}
	parts := strings.Split(r.repl.Replace(s), ", ")
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}
