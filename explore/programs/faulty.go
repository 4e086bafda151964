package programs

import (
	"slices"
	"strings"
)

func (g *maker) faults() {
	g.someHosts(15)
	g.set(35)
	kind := pick(g, "crash", "power", "partition", "cut", "break", "revoke", "timeout", "suspect", "ghost", "flip", "poison")
	if cut := kind == "partition" || kind == "cut"; cut && g.chance(40) {
		g.cutOff(kind)
	} else {
		g.fault(kind)
	}
	if g.chance(12) {
		g.fault("crash", "partition", "cut", "break", "revoke", "suspect")
	}
	motifs := everyday()
	switch kind {
	case "timeout":
		motifs = append(motifs, timedMotifs()...)
		i, j := g.pair()
		g.draw(timedMotifs(), i, j)
	case "flip", "poison":
		g.odds = map[rune]int{flagPMEM: 60, flagOwnPMEM: 15}
		g.put(g.struck(), Act{Do: "pstore", At: g.r.IntN(3), V: 1}, Act{Do: "pload", At: g.r.IntN(3)})
		motifs = append(motifs, persistent()...)
	case "ghost":
		g.p.Set = append(g.p.Set, "psn")
		g.put(0, Act{Do: "write", To: "b", V: 1}, Act{Do: pick(g, "destroy", "err", "reset"), To: "b"}, Act{Do: "connect", To: "b"})
		if g.chance(70) {
			g.put(1, Act{Do: "destroy", To: "a"})
		}
		g.put(1, Act{Do: "acceptconn"}, Act{Do: "load"}, Act{Do: "load"})
	}
	g.fill(2, 4, motifs)
	if g.chance(25) {
		g.life = 1
		i := g.r.IntN(2)
		g.second(i, 1-i)
	}
	if g.chance(15) {
		g.p.Hosts[1].Daemon = true
	}
	g.sometimesTimed()
}

// cutOff cuts a host off from the atomic services, which it and others use.
func (g *maker) cutOff(kind string) {
	i, j := g.pair()
	g.p.Faults = append(g.p.Faults, kind+"("+pick(g, g.name(i), g.name(i), "*")+",services)<=1")
	for _, k := range []int{i, i, j} {
		if g.chance(70) {
			addService(g, k, 0)
		}
	}
}

// struck returns a host that the first fault can strike.
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
		g.p.Set = slices.DeleteFunc(g.p.Set, func(s string) bool { return s == "onecq" }) // see docs/semantics.md: more is allowed
	}
	if g.chance(15) {
		a = pick(g, "*", a+"*")
	}
	most := "1"
	if g.chance(5) {
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
