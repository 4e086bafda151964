package programs

// deaths are the faults that end a requester, or its connection to the responder.
var deaths = []string{"crash(a)", "crash(a)", "suspect(a)", "power(a)", "break(a,b)", "cut(a,b)", "partition(a,b)", "crash(b)", "revoke(b)", "revoke(a)",
	"suspect(a) crash(a)", "break(a,b) crash(a)"}

// revocations has requests in flight while access is revoked: at the responder, once or
// twice, and sometimes at the requester. The requester waits, continues, or has finished; two
// requesters may access one word.
func (g *maker) revocations() {
	g.hosts(2)
	g.set(55)
	g.with(20, "rnr")
	g.strike(35, deaths...)
	switch {
	case g.chance(20):
		g.third()
		g.code(2, g.posts(1, 2, "b"), g.takes("b"))
		g.revoked("c")
	case g.chance(12):
		g.revokedOnDemand()
	case g.chance(20):
		g.messages()
		return
	case g.chance(12):
		g.denied()
		return
	default:
		g.revoked("a")
	}
	g.requester()
	g.stir()
}

// denied has requests that arrive only after the access flags have changed, because a Send before
// them waits for its receive.
func (g *maker) denied() {
	g.code(0, g.maybe(40, g.post("b")), g.post("b", "send", "sendimm"), g.posts(1, 2, "b"), g.maybe(60, g.takes("b")))
	g.code(1, "deny a", g.maybe(25, g.looks("a")), g.maybe(75, "allow a"), g.maybe(20, "deny a"), g.maybe(10, "dereg"), "recv a", g.maybe(60, g.looks("a")))
}

// messages has Sends behind other requests, and a receiver that revokes.
func (g *maker) messages() {
	g.code(0, g.maybe(75, g.post("b", "write", "read", "fetchadd", "cas", "awrite", "flush", "wide")), g.post("b", "send", "send", "sendimm", "writeimm"),
		g.maybe(25, g.post("b")), g.maybe(50, g.takes("b")))
	g.code(1, g.maybe(75, "recv a"), g.revokes("a"), g.maybe(25, pick(g, g.looks("a"), g.revokes("a"), g.restores("a"))), g.maybe(25, "recv a"),
		pick(g, "wait a 1", "wait a 1", "poll a 1", "load x"))
}

// third adds a third host.
func (g *maker) third() { g.p.Hosts = append(g.p.Hosts, Host{Name: "c", Lives: [][]Act{nil}}) }

// requester has requests in flight, and sometimes ends its queue pair itself.
func (g *maker) requester() {
	g.code(0, g.posts(1, 3, "b"), g.takes("b"))
	if g.chance(30) {
		g.code(0, pick(g, "err b", "reset b", "destroy b", "drain b", "drain b; undrain b", "deny b", "reset b; up b"), g.maybe(40, g.post("b")), g.maybe(50, "peek"), g.takes("b"))
	} else {
		g.code(0, g.maybe(20, g.post("b")), g.maybe(15, "state b"), g.maybe(15, "say"))
	}
}

// revoked is the responder of a, and perhaps of another host: it revokes access, observes, and
// revokes again or grants it again.
func (g *maker) revoked(other string) {
	again := ""
	switch g.r.IntN(5) {
	case 0, 1:
		again = g.revokes(pick(g, "a", other))
	case 2:
		again = g.restores("a")
	}
	first := g.revokes("a")
	if g.chance(10) {
		first = "go {" + first + "; " + g.looks("a") + "}"
	}
	g.code(1, g.receives(2, "a"), g.maybe(30, g.looks("a")), g.maybe(12, g.post("a")), first, g.looks("a"), again,
		g.maybe(20, "recv a"), g.looks("a"), g.maybe(20, "wait a 1"))
}

// keys has requests under two keys of the responder. One of the keys is deregistered, and perhaps its
// memory freed, when the requester has finished or exhausted its retries, or when the responder's queue
// pair has ended.
func (g *maker) keys() {
	g.hosts(2)
	g.set(55)
	g.with(15, "rnr")
	g.strike(35, deaths...)
	g.odds = map[rune]int{flagPMEM: 45, flagSignaled: 25}
	g.code(0, g.posts(2, 3, "b"), g.maybe(25, pick(g, "err b", "reset b", "destroy b")), g.maybe(60, g.takes("b")))
	gone := func() string { return pick(g, "dereg", "dereg", "pdereg", "pdereg", "free", "deny a") }
	g.code(1, g.receives(2, "a"), g.maybe(30, "call a 1"), g.maybe(15, g.looks("a")), g.maybe(50, pick(g, "err a", "err a", "reset a", "destroy a", "deny a")),
		gone(), g.maybe(30, pick(g, gone(), "allow a", "rereg")), pick(g, "load x; pload y", "pload y; load x", "pload x; pload y", "wait a 1", "wait a 1; pload x"),
		g.maybe(30, g.looks("a")))
	g.stir()
}

// revokedOnDemand is a responder that revokes when a asks it to.
func (g *maker) revokedOnDemand() {
	g.p.Hosts[1].Daemon = true
	g.code(0, g.post("b"), "call b 1")
	g.code(1, g.receives(1, "a"), "serve {"+g.revokes("a")+"; "+g.looks("a")+"}")
}

// reconnects has requests in flight on a connection that is abandoned while another one is
// made: with the same queue pairs, with new ones, or in another life. The remains of the first
// must not affect the second.
func (g *maker) reconnects() {
	g.hosts(2)
	g.set(60)
	g.with(15, "rnr")
	switch g.r.IntN(6) {
	case 0:
		g.withGhosts()
	case 1:
		g.fromAnotherLife()
	default:
		g.sameQueues()
	}
	g.stir()
}

// sameQueues resets both ends and connects them again.
func (g *maker) sameQueues() {
	g.with(20, "psn")
	g.strike(15, "crash(a)", "break(a,b)", "cut(a,b)", "revoke(b)")
	give, take := "reset b; up b", "reset a; up a"
	if g.chance(25) {
		give = pick(g, "err b; reset b; up b", "reset b", "drain b; err b", "err b; reset b")
	}
	if g.chance(25) {
		take = pick(g, "err a; reset a; up a", "reset a", "deny a; allow a", "drain a; undrain a", "dereg; rereg")
	}
	g.odds = map[rune]int{flagSignaled: 15}
	before := g.posts(1, 2, "b")
	g.odds = map[rune]int{flagSignaled: 75}
	g.code(0, before, g.maybe(10, g.takes("b")), give, g.maybe(90, g.posts(1, 2, "b")), g.takes("b"))
	g.code(1, g.receives(1, "a"), g.maybe(50, pick(g, "dereg", g.revokes("a"))), take, g.maybe(15, "recv a"), g.maybe(25, pick(g, "dereg", g.revokes("a"))),
		pick(g, "", "", "load x", "load x; load x", "wait a 1", "state a", "reset a; up a", "load y; load x"))
}

// withGhosts makes new queue pairs while packets of the old ones may still arrive.
func (g *maker) withGhosts() {
	g.with(85, "psn")
	g.strike(90, "ghost(a,b)")
	g.code(0, g.posts(1, 2, "b"), pick(g, "", "destroy b", "err b", "reset b"), "connect b", g.maybe(60, pick(g, g.post("b"), "read b x s; wait b 1")))
	g.code(1, g.receives(1, "a"), g.maybe(30, g.revokes("a")), "destroy a", "acceptconn", g.maybe(30, "recv a"), g.looks("a"),
		g.maybe(30, g.revokes("a")), g.looks("a"))
}

// fromAnotherLife makes a connection to the next life of a requester.
func (g *maker) fromAnotherLife() {
	g.strike(70, "crash(a)", "suspect(a)", "suspect(a)", "power(a)", "revoke(b) crash(a)")
	g.p.Hosts[0].Again = len(g.p.Faults) == 0 || g.chance(30)
	g.code(0, g.posts(1, 2, "b"), g.takes("b"))
	g.life = 1
	theirs := "acceptconn"
	if g.chance(30) {
		theirs = "connect a"
		g.code(0, "acceptconn", g.post("b"))
	} else {
		g.code(0, "connect b", g.posts(1, 2, "b"), g.takes("b"))
	}
	g.life = 0
	g.code(1, g.receives(1, "a"), g.maybe(50, g.revokes("a")), theirs, g.maybe(30, g.revokes("a")), g.looks("a"), g.looks("a"))
}
