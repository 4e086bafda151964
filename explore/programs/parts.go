package programs

import (
	"fmt"
	"strconv"
	"strings"
)

// Kinds about one subject are written as text, as programs are: a host's code is a
// sequence of parts, and each part is drawn, often from several alternatives.

// code adds the acts of the texts to host i, in order. Empty texts add nothing.
func (g *maker) code(i int, parts ...string) {
	text := strings.Join(parts, "; ")
	acts, err := (&reader{words: lex(text)}).acts()
	if err != nil {
		panic(fmt.Errorf("%w: %s", err, text))
	}
	for len(g.p.Hosts[i].Lives) <= g.life {
		g.p.Hosts[i].Lives = append(g.p.Hosts[i].Lives, nil)
	}
	l := &g.p.Hosts[i].Lives[g.life]
	*l = append(*l, acts...)
}

// maybe returns a text with some chance, and nothing otherwise.
func (g *maker) maybe(percent int, text string) string {
	if g.chance(percent) {
		return text
	}
	return ""
}

// many returns a few drawn texts, at least some.
func (g *maker) many(least, most int, draw func() string) string {
	span := most - least + 1
	out := make([]string, least+min(g.r.IntN(span), g.r.IntN(span)))
	for i := range out {
		out[i] = draw()
	}
	return strings.Join(out, "; ")
}

// with puts a word into the header, with some chance.
func (g *maker) with(percent int, setting string) {
	if g.chance(percent) && !g.p.Is(setting) {
		g.p.Set = append(g.p.Set, setting)
	}
}

// strike draws one of some faults, with some chance.
func (g *maker) strike(percent int, rules ...string) {
	if g.chance(percent) {
		for _, kind := range strings.Fields(pick(g, rules...)) {
			g.p.Faults = append(g.p.Faults, kind+"<="+strconv.Itoa(1+g.r.IntN(15)/14))
		}
	}
}

// stir adds an everyday motif, or a condition, to a program about something else.
func (g *maker) stir() {
	if g.chance(12) {
		i, j := g.pair()
		g.draw(everyday(), i, j)
	}
	if g.chance(15) {
		g.conditions()
	}
}

// verbs lists all requests, each as often as its weight.
var allVerbs = []string{"write", "write", "wide", "read", "read", "wideread", "cas", "fetchadd", "awrite", "flush", "send", "send", "sendimm", "writeimm"}

// post returns a request of one of some verbs, or of any.
func (g *maker) post(to string, verbs ...string) string {
	if len(verbs) == 0 {
		verbs = allVerbs
	}
	do := pick(g, verbs...)
	a := Act{Do: do, To: to, At: g.word(), V: 1 + g.r.IntN(3), W: g.r.IntN(2), Flags: g.flags(do)}
	return a.String()
}

// posts returns a few requests of any verb.
func (g *maker) posts(least, most int, to string) string {
	return g.many(least, most, func() string { return g.post(to) })
}

// takes draws how a requester gets its completions.
func (g *maker) takes(to string) string {
	return named(pick(g, "wait B 1", "wait B 1", "wait B 2", "poll B 1", "", "peek", "wait B 1; peek"), to)
}

// looks draws how a host observes its memory and its queue pair.
func (g *maker) looks(to string) string {
	return named(pick(g, "load x", "load x", "load y", "loadwide", "state B", "poll B 1", "", ""), to)
}

// revokes adds a revocation of access that another host has.
func (g *maker) revokes(to string) string {
	return named(pick(g, "dereg", "dereg", "deny B", "deny B", "err B", "err B", "reset B", "destroy B", "pdereg"), to)
}

// restores grants it again.
func (g *maker) restores(to string) string {
	return named(pick(g, "rereg", "allow B", "reset B; up B", "undrain B"), to)
}

// receives are some receives.
func (g *maker) receives(most int, from string) string {
	return g.many(0, most, func() string { return "recv " + from })
}

// named inserts the name of the other host into a text.
func named(text, name string) string { return strings.ReplaceAll(text, "B", name) }
