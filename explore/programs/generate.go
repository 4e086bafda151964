package programs

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
)

// Kinds are the kinds of programs that [Generate] makes.
var Kinds = []string{"plain", "daemons", "ending", "timers-idle", "timers-free", "timers-skew", "restarts", "faults", "symmetric", "pmem"}

// Generate makes program number seed of a kind: always the same one. Seven of eight are
// small enough for the naive search.
func Generate(kind string, seed uint64) *Program {
	h := fnv.New64a()
	_, _ = h.Write([]byte(kind))
	g := &maker{r: rand.New(rand.NewPCG(seed, h.Sum64())), kind: kind}
	large := g.r.IntN(8) == 0
	for {
		g.p, g.life = &Program{}, 0
		g.make()
		if g.p.valid() && (large || g.p.small()) {
			return g.p
		}
	}
}

// small reports whether the naive search is estimated to take a short time.
func (p *Program) small() bool {
	runs, err := estimate(p.Scenario())
	return err != nil || runs <= float64(DefaultLimits.Runs)/2
}

// maker makes a program. It draws motifs, each a few acts of one or two hosts that can
// have something to do with each other, and puts their acts where the code of those hosts
// has got to, or anywhere before.
type maker struct {
	r    *rand.Rand
	kind string
	p    *Program
	life int // to which acts are added
}

func (g *maker) chance(percent int) bool { return g.r.IntN(100) < percent }

func pick[T any](g *maker, from ...T) T { return from[g.r.IntN(len(from))] }

// weighted is a motif and how often it is drawn.
type weighted struct {
	weight int
	add    func(g *maker, i, j int)
}

func (g *maker) draw(from []weighted, i, j int) {
	sum := 0
	for _, w := range from {
		sum += w.weight
	}
	n := g.r.IntN(sum)
	for _, w := range from {
		if n -= w.weight; n < 0 {
			w.add(g, i, j)
			return
		}
	}
}

// hosts names n hosts with empty code.
func (g *maker) hosts(n int) {
	for i := range n {
		g.p.Hosts = append(g.p.Hosts, Host{Name: string(rune('a' + i)), Lives: [][]Act{nil}})
	}
}

// someHosts names two hosts, or with some chance three.
func (g *maker) someHosts(three int) {
	n := 2
	if g.chance(three) {
		n = 3
	}
	g.hosts(n)
}

// set draws the profile and the settings.
func (g *maker) set(linger int) {
	g.p.Profile = pick(g, "strong", "strong", "relaxed", "relaxed", "srd", "ooo", "iba", "rxe", "strong+FlushOps=false",
		"strong+StoreBuffers=false", "strong+StoreBuffers=false", "relaxed+StoreBuffers=false", "strong+AtomicGlob=true", "relaxed+DrainOnRevoke=true", "strong+FenceWaitsAll=true")
	if g.chance(linger) {
		g.p.Set = append(g.p.Set, "linger")
		if g.chance(60) {
			g.p.Set = append(g.p.Set, "final")
		}
	}
	for _, s := range []string{"onecq", "short", "rnr", "sigall", "rd1"} {
		if g.chance(7) {
			g.p.Set = append(g.p.Set, s)
		}
	}
}

// put adds acts to host i, in their order, mostly at the end.
func (g *maker) put(i int, acts ...Act) {
	for len(g.p.Hosts[i].Lives) <= g.life {
		g.p.Hosts[i].Lives = append(g.p.Hosts[i].Lives, nil)
	}
	l := &g.p.Hosts[i].Lives[g.life]
	at := len(*l)
	if g.chance(30) {
		at = g.r.IntN(len(*l) + 1)
	}
	for _, a := range acts {
		*l = slices.Insert(*l, at, a)
		at++
		if at < len(*l) && g.chance(20) {
			at++
		}
	}
}

func (g *maker) name(i int) string { return g.p.Hosts[i].Name }

// pair draws two different hosts.
func (g *maker) pair() (int, int) {
	i := g.r.IntN(len(g.p.Hosts))
	j := g.r.IntN(len(g.p.Hosts) - 1)
	if j >= i {
		j++
	}
	return i, j
}

// size counts acts.
func (p *Program) size() int {
	n := 0
	p.acts(func(*Host, *Act) { n++ })
	return n
}

// fill draws motifs until there are enough acts: at least some, rarely as many as most.
func (g *maker) fill(least, most int, from []weighted) {
	span := most - least + 1
	for n := least + min(g.r.IntN(span), g.r.IntN(span)); g.p.size() < n; {
		i, j := g.pair()
		g.draw(from, i, j)
	}
}

// conditions makes some acts depend on what came before.
func (g *maker) conditions() {
	g.p.acts(func(_ *Host, a *Act) {
		if g.chance(6) {
			a.If = 1 + g.r.IntN(2)
		}
	})
}
