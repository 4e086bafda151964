package programs

// leases has hosts that act because time has passed: after a call or a wait that timed out,
// or a sleep. Another host acts late, and the two conflict in memory.
func (g *maker) leases() {
	g.hosts(2)
	g.set(40)
	g.with(15, "rnr")
	g.p.Timers = pick(g, "skew(1)", "skew(1)", "skew(1)", "skew(3/2)", "skew(2)", "free", "free", "")
	g.strike(25, "timeout(a)", "timeout(b)", "crash(a)", "crash(b)", "cut(a,b)", "break(a,b)", "suspect(a)")
	early, late := g.waits()
	mine, theirs := g.meets()
	g.code(0, pick(g, "", "", "", "", g.post("b"), "recv b", "store x 3", "now", "counter"), early, g.maybe(30, "now"), mine, g.maybe(25, g.looks("b")))
	g.code(1, late, theirs, g.maybe(25, g.looks("a")), g.maybe(10, "reply 2"))
	g.stir()
}

// waits draws how a lets time pass, and how b is late.
func (g *maker) waits() (early, late string) {
	if g.chance(70) {
		early = pick(g, "tcall b 1 1", "tcall b 1 1", "tcall b 1 1", "tcall b 1 2", "timedask b 1 1; gather 1", "now; tcall b 1 1", g.post("b")+"; twait b 1")
		return early, pick(g, "accept; sleep 2", "accept; sleep 2", "accept; sleep 2", "accept; sleep 1", "sleep 1; accept", "accept; sleep 1; sleep 1")
	}
	early = pick(g, "accept; sleep 1", "accept; taccept 1", "accept; now; sleep 1", "accept; "+g.post("b")+"; twait b 1")
	return early, pick(g, "call a 1; sleep 2", "ask a 1; sleep 2", "tcall a 1 1", "ask a 1; gather 1; sleep 1")
}

// meets draws the acts of a and b when their times have come: usually one observes the other,
// or prevents its act.
func (g *maker) meets() (mine, theirs string) {
	finds := func(to string) string {
		return named(pick(g, "load x", "load x", "load x", "loadwide", "store x 4", "add x 4", "recv B; poll B 1", "recv B; state B", "peek"), to)
	}
	posts := func(to string) string { return g.post(to) + g.maybe(50, "; wait "+to+" 1") }
	switch g.r.IntN(8) {
	case 0, 1, 2:
		return finds("b"), posts("a")
	case 3:
		return posts("b"), finds("a")
	case 4, 5:
		return g.revokes("b"), posts("a")
	case 6:
		return posts("b"), g.revokes("a")
	}
	return g.afterwards("b"), g.afterwards("a")
}

// afterwards is anything else that a host may do then.
func (g *maker) afterwards(to string) string {
	return named(pick(g, "state B", "poll B 1", "wait B 1", "recv B", g.post(to), "count 1", "counter", "end", "call B 1", "say", "drain B", "rereg", "tchan 1", g.revokes(to)), to)
}

// causality has a host that knows that one act is complete before it starts the next, while
// others read the two, or change them, in one instruction or several.
func (g *maker) causality() {
	g.hosts(2)
	g.set(40)
	g.with(15, "rnr")
	g.strike(12, "crash(a)", "break(a,b)", "suspect(a)", "crash(b)")
	knows := pick(g, "call c 1", "call b 1", g.sure("y"), g.sure("y"), g.sure("y"), g.sure("y")+"; call c 1", "write b y 1 s; wait b 1", "send b 1 s; wait b 1")
	then := pick(g, g.post("b"), g.post("b"), g.post("b"), g.sure("x"), "write b x 1", "write b x 1", "write c x 1", "err b", "reset b", "call c 1")
	g.code(0, g.maybe(30, g.post("b")), knows, then, g.maybe(30, g.takes("b")))
	if g.mentions(0, "c") || g.chance(15) {
		g.third()
		g.code(2, g.maybe(20, g.looks("b")))
		if g.calls(0, "c") {
			g.code(2, "accept", pick(g, "", g.sure("x"), "write b x 2", g.post("b")), "reply 1")
		}
		g.code(2, g.maybe(30, "load x"))
	}
	if g.calls(0, "b") {
		g.code(1, "accept; reply 1")
	}
	g.code(1, g.receives(1, "a"), g.maybe(12, g.revokes("a")), g.watches(), g.maybe(30, g.watches()))
	g.stir()
}

// sure returns a request whose completion says that something is in memory.
func (g *maker) sure(word string) string {
	return pick(g, "fetchadd b "+word+" 1 s; wait b 1", "awrite b "+word+" 1 s; wait b 1", "cas b "+word+" 0 1 s; wait b 1", "read b "+word+" s; wait b 1",
		"flush b "+word+" s; wait b 1", "write b "+word+" 1; read b "+word+" s; wait b 1", "write b "+word+" 1; flush b "+word+" s; wait b 1")
}

// watches draws how a host accesses two words of memory.
func (g *maker) watches() string {
	return pick(g, "loadwide", "loadwide", "loadwide", "loadwide", "storewide 5", "load x; load y", "load y; load x", "store x 5; loadwide", "add x 1; load y",
		"lcas x 0 7; load y", "wideread a s; wait a 1", "wait a 1", "store x 5; store y 5")
}

// mentions reports whether the code of host i names another host, and calls whether it calls that.
func (g *maker) mentions(i int, name string) bool {
	return g.has(i, func(a *Act) bool { return a.To == name })
}

func (g *maker) calls(i int, name string) bool {
	return g.has(i, func(a *Act) bool { return a.To == name && a.Do == "call" })
}

func (g *maker) has(i int, is func(*Act) bool) bool {
	found := false
	for _, l := range g.p.Hosts[i].Lives {
		eachAct(l, func(a *Act) { found = found || is(a) })
	}
	return found
}
