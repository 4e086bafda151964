package programs

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
)

// Generate makes the program of a kind with number seed, always the same one. Seven of eight are
// small enough for the naive search.
func Generate(kind string, seed uint64) *Program {
	h := fnv.New64a()
	_, _ = h.Write([]byte(kind))
	g := &maker{r: rand.New(rand.NewPCG(seed, h.Sum64())), kind: kind}
	separate := rand.New(rand.NewPCG(^seed, h.Sum64())) // on its own, so that a seed says what it said before
	most := float64(DefaultLimits.Runs)
	if g.chance(g.own().large) {
		most = largest
	}
	for {
		g.p, g.life, g.odds = &Program{}, 0, nil
		g.own().make(g)
		if g.p.Is("history") && g.p.reportsPosts() {
			g.p.Set = slices.DeleteFunc(g.p.Set, func(s string) bool { return s == "history" })
		}
		if g.p.valid() && g.p.fits(most) {
			if separate.IntN(100) < 10 && g.p.receives() {
				g.p.Set = append(g.p.Set, "recvcq")
			}
			return g.p.said()
		}
	}
}

// receives reports whether a receive is posted.
func (p *Program) receives() bool {
	found := false
	p.acts(func(_ *Host, a *Act) { found = found || a.Do == "recv" })
	return found
}

// largest is roughly the number of runs up to which programs are generated. Most of those that
// the naive search cannot finish can be compared with states.
const largest = 3e6

// fits reports whether a program is estimated to have so few runs.
func (p *Program) fits(runs float64) bool {
	n, err := estimate(p.Scenario())
	return err != nil || n <= runs
}

// said is the program as its text states it: an act has no operands that it does not use.
func (p *Program) said() *Program {
	q, err := Parse(p.String())
	if err != nil {
		panic(err)
	}
	return q
}

// maker makes a program. It draws motifs, each a few related acts of one or two hosts, and
// inserts their acts at the end of the code of those hosts, or anywhere before.
type maker struct {
	r    *rand.Rand
	kind string
	p    *Program
	life int          // to which acts are added
	odds map[rune]int // of flags, in a hundred, where this program has its own
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

// turns lists knobs of a profile, with the values that can matter to small programs.
var turns = []string{"StoreBuffers=false", "StoreBuffers=false", "DrainOnRevoke=false", "DrainOnRevoke=true", "WholePackets=false", "MTU=8", "FlushOps=false",
	"AtomicGlob=true", "AtomicOrdersLater=false", "AtomicFlushes=false", "FenceWaitsAll=true", "ReadsSeeAcked=false"}

// profile draws a card: a named one, in half the programs with one or two knobs changed.
func (g *maker) profile() string {
	out := pick(g, "strong", "strong", "strong", "relaxed", "relaxed", "srd", "ooo", "iba", "rxe")
	for n := 0; n < 2 && g.chance(45-20*n); n++ {
		out += "+" + pick(g, turns...)
	}
	return out
}

// set draws the profile and the settings.
func (g *maker) set(linger int) {
	g.p.Profile = g.profile()
	if g.chance(linger) {
		g.p.Set = append(g.p.Set, "linger")
		if g.chance(60) {
			g.p.Set = append(g.p.Set, "final")
		}
	}
	if g.chance(20) {
		g.p.Set = append(g.p.Set, "history")
	}
	for _, s := range []string{"onecq", "short", "rnr", "sigall", "rd1"} {
		if g.chance(7) {
			g.p.Set = append(g.p.Set, s)
			if s == "rd1" { // what has to wait then: a Write behind two Reads of its word
				i, j := g.pair()
				read := Act{Do: "read", To: g.name(j), Flags: "s"}
				g.put(i, read, read, Act{Do: "write", To: g.name(j), V: 1 + g.r.IntN(3), Flags: "i"}, Act{Do: "wait", To: g.name(j), V: 1})
			}
		}
	}
}

// put adds acts to host i, in order, mostly at the end.
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

// fill draws motifs until there are enough acts: at least some, rarely most.
func (g *maker) fill(least, most int, from []weighted) {
	span := most - least + 1
	for n := least + min(g.r.IntN(span), g.r.IntN(span)); g.p.size() < n; {
		i, j := g.pair()
		g.draw(from, i, j)
	}
}

// conditions makes some acts depend on earlier values.
func (g *maker) conditions() {
	g.p.acts(func(_ *Host, a *Act) {
		if g.chance(6) {
			a.If = 1 + g.r.IntN(2)
		}
	})
}
