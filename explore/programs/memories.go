package programs

import "strconv"

// media has persistent memory that becomes unreadable while requests to it are in flight. It is
// written back and read again, before and after a restart.
func (g *maker) media() {
	g.hosts(2)
	g.set(60)
	g.odds = map[rune]int{flagPMEM: 85, flagOwnPMEM: 8}
	if g.chance(25) {
		g.p.Profile += "+" + pick(g, "TornLines=false", "DDIO=false", "Domain=eADR", "Domain=Battery")
	}
	g.strike(100, "poison(b)", "poison(b)", "poison(b)", "poison(b)", "flip(b)", "flip(b)", "flip(b)", "poison(b) crash(a)", "poison(b) break(a,b)", "poison(b) flip(b)", "poison(b) crash(b)",
		"flip(b) power(b)", "power(b)", "crash(b)")
	verb := func() string { return g.post("b", persistentVerbs...) }
	if g.chance(20) { // a request posted after an error was detected cannot have read before the error
		g.code(0, "accept", "reply 1")
		g.code(1, "pload "+g.place(), "call a 1")
	}
	g.code(0, g.many(1, 2, verb), pick(g, "", "wait b 1", "wait b 1", "poll b 1", "state b", "peek", "err b", "destroy b"))
	g.code(1, g.maybe(15, "recv a"), g.keeps(), g.maybe(20, g.revokes("a")), g.keeps(), pick(g, "", "", g.keeps(), "wait a 1", "state a"))
	if g.has(1, func(a *Act) bool { return a.Do == "pload" }) && g.chance(40) {
		g.life = 1
		g.code(1, g.many(1, 2, func() string { return "pload " + g.place() }))
	}
	g.stir()
}

var persistentVerbs = []string{"write", "write", "write", "wide", "read", "read", "wideread", "fetchadd", "fetchadd", "cas", "cas",
	"awrite", "flush", "flush", "writeimm"}

// place returns a word of persistent memory.
func (g *maker) place() string { return pick(g, "x", "x", "x", "x", "y", "z") }

// keeps draws the operations of a host on its own persistent memory.
func (g *maker) keeps() string {
	w := g.place()
	return pick(g, "", "pload "+w, "pload "+w, "pload "+w, "pload "+w, "pload "+w, "pstore "+w+" 5", "pwide 6", "pflush "+w+"; pfence", "pstore "+w+" 5; pload "+w, "pfence", "ploadwide",
		"pstore "+w+" 5; pflush "+w+"; pfence")
}

// buffers has a host whose requests send the results of others: responses land in memory that is
// the source of another request, or that is read or changed. The queue pair may fail or be abandoned
// before anything completes.
func (g *maker) buffers() {
	g.hosts(2)
	g.set(50)
	g.with(15, "rnr")
	g.odds = map[rune]int{flagEcho: 55, flagSignaled: 45, flagShared: 15}
	g.strike(20, "crash(a)", "suspect(a)", "crash(b)", "break(a,b)", "cut(a,b)", "revoke(b)")
	to := "b"
	if g.chance(30) {
		to = "c"
		g.third()
		g.code(2, g.receives(1, "a"), g.maybe(50, "load x"), g.maybe(40, pick(g, g.revokes("a"), "wait a 1")), g.maybe(30, "load x"))
	}
	brings := func() string { return g.post("b", "read", "read", "wideread", "fetchadd", "cas") }
	meddles := func() string { return pick(g, "", "peek", "peek", "scribble 8", "change 9") }
	g.code(0, g.many(1, 2, brings), meddles(), g.maybe(75, g.post(to, "write", "write", "send", "wide", "writeimm", "awrite")), meddles())
	if g.chance(50) {
		g.code(0, g.takes("b"), g.maybe(40, g.post(to)), meddles(), g.maybe(30, pick(g, "chan", "each b", "poll b 2")))
	} else {
		g.code(0, g.maybe(25, "poll b 1"), pick(g, "err b", "reset b", "destroy b", "drain b", "deny b", "err b; reset b"), "peek", g.maybe(50, g.takes("b")))
	}
	g.code(1, g.receives(1, "a"), g.maybe(70, pick(g, "store x 5", "store x 5; fence")), g.looks("a"), g.maybe(40, g.revokes("a")), g.looks("a"))
	g.stir()
}

// lists has requests of other shapes than one word: several in one list, with two SGEs, of one byte
// or none.
func (g *maker) lists() {
	g.hosts(2)
	g.set(50)
	g.with(10, "short")
	g.with(10, "rnr")
	g.odds = map[rune]int{flagJoin: 45, flagScatter: 30, flagByte: 25, flagEmpty: 12, flagSignaled: 40, flagPMEM: pick(g, 0, 0, 0, 60)}
	if g.chance(30) {
		g.p.Profile += "+" + pick(g, "CellBytes=1", "CellBytes=4", "Placement=InOrder", "WholePackets=false")
	}
	g.strike(25, "crash(a)", "crash(b)", "break(a,b)", "cut(a,b)", "revoke(b)", "power(b)", "poison(b)", "flip(b)")
	back := func() string {
		return pick(g, "", "load x", "load y", "loadwide", "store x 5", "storewide 6", "pload x", "peek")
	}
	g.code(0, g.many(1, 3, func() string { return g.post("b") }), back(), g.maybe(70, g.takes("b")), back())
	g.code(1, g.receives(1, "a"), back(), g.maybe(25, g.revokes("a")), g.looks("a"), back())
	g.stir()
}

// bytes has requests, loads and stores of parts of one word, in persistent memory or DRAM.
func (g *maker) bytes() {
	g.hosts(2)
	g.set(40)
	at, to := "", "x"
	if g.chance(40) {
		at = "p"
		g.strike(80, "power(b)", "power(b)", "power(b)", "crash(b)", "flip(b)", "poison(b)", "power(b)", "crash(b)")
		g.p.Profile += pick(g, "", "", "+DDIO=false", "+TornLines=false", "+Domain=eADR")
	} else {
		g.strike(15, "crash(a)", "break(a,b)", "revoke(b)", "crash(b)")
	}
	if g.chance(30) {
		g.p.Profile += "+" + pick(g, "CellBytes=1", "CellBytes=1", "Placement=InOrder", "WholePackets=false")
	}
	g.odds = map[rune]int{flagByte: 35, flagNext: 30, flagBoth: 25, flagSignaled: 25, flagInline: 50, flagPMEM: 3, flagBadKey: 2}
	if at != "" {
		g.odds[flagPMEM] = 95
	}
	verb := func() string {
		return g.post("b", "write", "write", "write", "write", "writeimm", "read", "fetchadd", "fetchadd", "cas")
	}
	flag := func() string { return pick(g, "", " b", " b", " c", " c", " d") }
	if at != "" && g.chance(30) {
		to = pick(g, "y", "z")
	}
	stores := func() string {
		return at + "store " + pick(g, "x", "x", to) + " " + strconv.Itoa(4+g.r.IntN(3)) + flag()
	}
	loads := func() string { return at + "load " + pick(g, "x", "x", to) + flag() }
	does := func() string { return pick(g, stores(), stores(), loads(), "err a", at+"load x", "") }
	g.code(0, g.many(1, 2, verb), g.maybe(20, g.takes("b")))
	if g.chance(40) {
		g.third()
		g.code(2, g.many(1, 2, verb))
	}
	g.code(1, g.maybe(15, "recv a"), g.many(1, 2, does), g.maybe(60, loads()))
	if len(g.p.Faults) > 0 && at != "" {
		g.life = 1
		g.code(1, g.maybe(25, stores()), loads(), g.maybe(50, loads()))
		g.life = 0
	}
	g.stir()
}
