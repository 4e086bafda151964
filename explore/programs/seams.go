package programs

// seams has steps between which other hosts must be able to act.
func (g *maker) seams() {
	switch g.r.IntN(8) {
	case 0, 1:
		g.endsInARow()
	case 2, 3, 4:
		g.givesUp()
	case 5, 6:
		g.cutTwice()
	case 7:
		g.pollsInVain()
	}
}

// endsInARow has a daemon end several things in a row. A host that observes the first notifies
// another host, which then checks the next.
func (g *maker) endsInARow() {
	g.hosts(3)
	g.set(20)
	g.p.Hosts[1].Daemon = true
	ends := func() string {
		return named(pick(g, "err B", "err B", "reset B", "destroy B", "deny B", "dereg", "deaf"), pick(g, "a", "c"))
	}
	sees := func() string {
		return pick(g, g.post("b", "write", "read", "cas", "fetchadd")+"; "+g.takes("b"), "write b x 1 s; wait b 1", "read b x s; wait b 1", "ask b 1; gather 1")
	}
	g.code(1, g.maybe(20, "recv a"), g.maybe(20, "accept"), g.many(2, 3, ends), g.maybe(15, g.looks("c")))
	g.code(0, sees(), pick(g, "call c 1", "call c 1", "send c 1", "ask c 1"))
	g.code(2, pick(g, "accept", "accept", "recv a; wait a 1", "accept; reply 1"), sees())
}

// givesUp has a host react to a call that fails because its link is cut. The link may heal in
// between.
func (g *maker) givesUp() {
	g.someHosts(15)
	g.set(40)
	third := len(g.p.Hosts) > 2
	g.strike(100, "partition(a,b)", "partition(a,b)", "partition(a,services)", "cut(a,b)")
	does := func() string {
		if third && g.chance(40) {
			return pick(g, g.revokes("c"), "call c 1", g.post("c"))
		}
		return pick(g, g.revokes("b"), g.revokes("b"), g.post("b"), "call b 2", "count 1", "counter")
	}
	sees := func() string {
		return pick(g, "read a x s; wait a 1", "write a x 1 s; wait a 1", g.post("a")+"; "+g.takes("a"), g.looks("a"), "call a 1", "counter")
	}
	g.code(0, pick(g, "call b 1", "call b 1", "count 1", "counter", "ask b 1; gather 1"), g.maybe(15, "say"), does(), g.maybe(15, does()))
	g.code(1, pick(g, "call a 1", "call a 1", "accept", "accept; reply 2", "counter", "count 1"), sees())
	if third {
		g.code(2, pick(g, "accept", "", "call b 1"), sees())
	}
	g.stir()
}

// cutTwice has a request that one cut delays and that is still in flight at the next cut. Its
// sender does not wait for the answer. The receiver acts between the cuts, so that they differ.
func (g *maker) cutTwice() {
	g.hosts(2)
	g.set(70)
	g.p.Faults = append(g.p.Faults, pick(g, "partition(a,b)<=1", "partition(a,b)<=1", "partition(a,b)<=2"))
	if g.p.Faults[0] == "partition(a,b)<=1" {
		g.p.Faults = append(g.p.Faults, "cut(a,b)<=1")
	}
	tells := func() string { return g.post("a", "write", "read", "fetchadd", "awrite") + "; wait a 1" }
	g.code(0, pick(g, "ask b 1", "ask b 1", "ask b 1; gather 1", "ask b 1; ask b 2"))
	g.code(1, pick(g, "taccept 1", "taccept 1", ""), tells(), tells(), g.maybe(75, "accept"), g.maybe(20, "reply 2"))
}

// pollsInVain has a host poll until no completion can still be hidden from it, and then act.
func (g *maker) pollsInVain() {
	g.hosts(2)
	g.set(20)
	g.code(0, pick(g, "send b 1 s; wait b 1", g.post("b")), g.maybe(70, pick(g, "write b x 1 s; wait b 1", g.post("b")+"; "+g.takes("b"))))
	g.code(1, g.maybe(75, "recv a"), g.maybe(25, g.post("a")), g.many(3, 5, func() string { return "poll a 1" }), pick(g, g.revokes("a"), g.post("a"), g.looks("a"), "call a 1"))
}
