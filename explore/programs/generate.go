package programs

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
)

// Kinds are the kinds of programs that [Generate] makes.
var Kinds = []string{"plain", "daemons", "ending", "timers-idle", "restarts", "faults", "symmetric", "pmem"}

// Generate makes program number seed of a kind: always the same one.
func Generate(kind string, seed uint64) *Program {
	h := fnv.New64a()
	_, _ = h.Write([]byte(kind))
	g := &maker{r: rand.New(rand.NewPCG(seed, h.Sum64())), kind: kind}
	for {
		g.p = &Program{}
		g.make()
		if g.p.valid() {
			return g.p
		}
	}
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

func (g *maker) make() {
	switch g.kind {
	case "daemons":
		g.daemons()
	case "ending":
		g.ending()
	case "timers-idle":
		g.timers()
	case "restarts":
		g.restarts()
	case "faults":
		g.faults()
	case "symmetric":
		g.symmetric()
	case "pmem":
		g.pmem()
	default:
		g.plain()
	}
}

// hosts names n hosts with empty code.
func (g *maker) hosts(n int) {
	for i := range n {
		g.p.Hosts = append(g.p.Hosts, Host{Name: string(rune('a' + i)), Lives: [][]Act{nil}})
	}
}

// set draws the profile and the settings.
func (g *maker) set(linger int) {
	g.p.Profile = pick(g, "strong", "strong", "relaxed", "relaxed", "srd", "ooo", "iba", "rxe", "strong+FlushOps=false",
		"strong+StoreBuffers=false", "relaxed+StoreBuffers=false", "strong+AtomicGlob=true", "relaxed+DrainOnRevoke=true", "strong+FenceWaitsAll=true")
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

// fill draws motifs until there are enough acts.
func (g *maker) fill(least, most int, from []weighted) {
	for n := least + g.r.IntN(most-least+1); g.p.size() < n; {
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

func (g *maker) plain() {
	g.hosts(2 + g.r.IntN(6)/5)
	g.set(50)
	g.fill(2, 6, everyday())
	g.conditions()
}

func (g *maker) ending() {
	g.hosts(2 + g.r.IntN(4)/3)
	g.set(0)
	g.fill(2, 5, everyday())
	if g.chance(30) {
		g.put(g.r.IntN(len(g.p.Hosts)), Act{Do: "end"})
	}
	g.conditions()
}

func (g *maker) daemons() {
	g.hosts(2 + g.r.IntN(3)/1%2)
	g.set(20)
	for i := 1; i < len(g.p.Hosts); i++ {
		if i > 1 && g.chance(40) {
			continue
		}
		g.p.Hosts[i].Daemon = true
		if g.chance(70) {
			g.put(i, Act{Do: "serve", Body: g.body(i)})
		}
	}
	g.fill(3, 6, append(everyday(), weighted{40, addCall}, weighted{30, addGather}))
	g.conditions()
}

// body is what a daemon does for a request.
func (g *maker) body(i int) []Act {
	switch g.r.IntN(4) {
	case 0:
		return []Act{{Do: "store", At: g.word(), V: 1 + g.r.IntN(2)}}
	case 1:
		return []Act{{Do: "load", At: g.word()}}
	case 2:
		return []Act{{Do: "write", To: g.name((i + 1) % len(g.p.Hosts)), At: g.word(), V: 1, Flags: g.flags("write")}}
	}
	return nil
}

func (g *maker) timers() {
	g.hosts(2 + g.r.IntN(4)/3)
	g.set(40)
	timed := timedMotifs()
	i, j := g.pair()
	g.draw(timed, i, j)
	g.fill(2, 5, append(append(everyday(), timed...), timed...))
	if g.chance(40) {
		g.fault("timeout", "cut", "partition", "break", "crash")
	}
	if g.chance(30) {
		g.p.Hosts[1].Daemon = true
	}
	g.conditions()
}

func (g *maker) restarts() {
	g.hosts(2 + g.r.IntN(5)/4)
	g.set(25)
	if g.chance(60) {
		g.fault("crash", "suspect", "power", "suspect")
	}
	g.fill(1, 3, everyday())
	i := g.r.IntN(2)
	g.p.Hosts[i].Again = len(g.p.Faults) == 0 || g.chance(50)
	if g.chance(25) {
		g.p.Hosts[i].Daemon = true
	}
	g.life = 1
	g.put(i)
	if g.chance(50) {
		g.reconnect(i, 1-i)
	} else {
		g.second(i, 1-i)
	}
	if g.chance(15) {
		g.life = 2
		g.second(i, 1-i)
	}
	g.conditions()
}

// second is what a later life does.
func (g *maker) second(i, j int) {
	k := g.life
	switch g.r.IntN(4) {
	case 0:
		g.put(i, Act{Do: "call", To: g.name(j), V: 2})
		g.life = 0
		g.put(j, Act{Do: "accept"}, Act{Do: "reply", V: 3})
	case 1:
		g.put(i, Act{Do: "accept"}, Act{Do: "reply", V: 4})
		g.life = 0
		g.put(j, Act{Do: "call", To: g.name(i), V: 2})
	case 2:
		g.put(i, g.local())
	case 3:
		g.put(i, Act{Do: "count", V: 1})
	}
	g.life = k
}

// reconnect makes a connection between a second life and the first of another host.
func (g *maker) reconnect(i, j int) {
	w := g.request(j, i)
	if g.chance(50) {
		g.put(i, Act{Do: "acceptconn"}, g.local())
		g.life = 0
		g.put(j, append([]Act{{Do: "connect", To: g.name(i)}}, w...)...)
	} else {
		w = g.request(i, j)
		g.put(i, append([]Act{{Do: "connect", To: g.name(j)}}, w...)...)
		g.life = 0
		g.put(j, Act{Do: "acceptconn"}, g.local())
	}
	g.life = 1
}

func (g *maker) faults() {
	g.hosts(2 + g.r.IntN(4)/3)
	g.set(40)
	kind := pick(g, "crash", "power", "partition", "cut", "break", "revoke", "timeout", "suspect", "ghost", "flip", "poison")
	g.fault(kind)
	if g.chance(15) {
		g.fault("crash", "partition", "cut", "break", "revoke", "suspect")
	}
	motifs := everyday()
	switch kind {
	case "timeout":
		motifs = append(motifs, timedMotifs()...)
	case "flip", "poison":
		g.put(g.struck(), Act{Do: "pstore", At: g.r.IntN(3), V: 1}, Act{Do: "pload", At: g.r.IntN(3)})
		motifs = append(motifs, persistent()...)
	case "ghost":
		g.p.Set = append(g.p.Set, "psn")
		g.put(0, Act{Do: "write", To: "b", V: 1}, Act{Do: pick(g, "destroy", "err", "reset"), To: "b"}, Act{Do: "connect", To: "b"})
		g.put(1, Act{Do: "acceptconn"}, Act{Do: "load"})
	}
	g.fill(2, 4, motifs)
	if g.chance(30) {
		g.life = 1
		g.second(g.r.IntN(2), g.r.IntN(1))
	}
	if g.chance(15) {
		g.p.Hosts[1].Daemon = true
	}
}

// struck is a host that the first fault can strike.
func (g *maker) struck() int {
	for i := range g.p.Hosts {
		if strings.Contains(g.p.Faults[0], "("+g.name(i)) {
			return i
		}
	}
	return 0
}

// fault adds a rule of one of some kinds.
func (g *maker) fault(kinds ...string) {
	kind := pick(g, kinds...)
	i, j := g.pair()
	if i > j {
		i, j = j, i
	}
	a, b := g.name(i), g.name(j)
	if kind == "ghost" {
		a, b = "a", "b"
	}
	if g.chance(20) {
		a = pick(g, "*", a+"*")
	}
	most := "1"
	if g.chance(10) {
		most = "2"
	}
	switch kind {
	case "partition", "cut", "break", "ghost":
		g.p.Faults = append(g.p.Faults, kind+"("+a+","+b+")<="+most)
	default:
		if g.chance(50) && a == g.name(i) {
			a = b
		}
		g.p.Faults = append(g.p.Faults, kind+"("+a+")<="+most)
	}
}

func (g *maker) symmetric() {
	g.hosts(2)
	g.set(40)
	g.p.Hosts[1].Copies = 2 + g.r.IntN(8)/7
	g.p.Hosts[1].Daemon = g.chance(25)
	if g.p.Hosts[1].Daemon && g.chance(60) {
		g.put(1, Act{Do: "serve", Body: g.body(1)})
	}
	if g.chance(30) {
		g.p.Faults = append(g.p.Faults, pick(g, "crash(b*)<=1", "suspect(b*)<=1", "cut(a,b*)<=1", "break(a,b*)<=1", "revoke(b*)<=1", "partition(b*,b*)<=1"))
		if g.chance(40) {
			g.life = 1
			g.put(1, g.local())
			g.life = 0
		}
	}
	for n := 2 + g.r.IntN(3); g.p.size() < n; {
		i := g.r.IntN(2)
		j := 1 - i
		if i == 1 && g.chance(40) {
			j = 1 // each other
		}
		g.draw(alike(), i, j)
	}
}

func (g *maker) pmem() {
	g.hosts(2)
	g.p.Profile = pick(g, "strong", "strong", "strong+DDIO=false", "strong+Domain=eADR", "strong+Domain=Battery", "strong+Domain=Volatile",
		"strong+TornLines=false", "relaxed", "srd+DDIO=false", "iba", "strong+StoreBuffers=false", "relaxed+TornLines=false")
	if g.chance(70) {
		g.p.Set = append(g.p.Set, "linger")
	}
	g.p.Faults = []string{pick(g, "power(b)<=1", "power(b)<=1", "crash(b)<=1", "power(b)<=2", "flip(b)<=1", "poison(b)<=1", "power(*)<=1")}
	if strings.HasPrefix(g.p.Faults[0], "flip") || strings.HasPrefix(g.p.Faults[0], "poison") {
		g.put(1, Act{Do: "pload", At: g.r.IntN(3)})
	}
	for n := 2 + g.r.IntN(3); g.p.size() < n; {
		i := g.r.IntN(2)
		g.draw(persistent(), i, 1-i)
	}
	g.life = 1
	for _, at := range g.r.Perm(3)[:1+g.r.IntN(3)] {
		g.p.Hosts[1].Lives = append(g.p.Hosts[1].Lives[:1], append(at1(g.p.Hosts[1].Lives), Act{Do: "pload", At: at}))
	}
}

func at1(lives [][]Act) []Act {
	if len(lives) > 1 {
		return lives[1]
	}
	return nil
}
