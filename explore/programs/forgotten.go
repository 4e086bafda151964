package programs

// The remains of a host that has finished must be part of the state, although no task remembers
// what the host did.

// forgotten has a daemon that does one of two nearly equal things and finishes. Another host
// receives a message from it before or after that, and then observes its effects.
func (g *maker) forgotten() {
	g.hosts(2)
	g.set(25)
	g.p.Hosts[1].Daemon = true
	x := g.request(1, 0)[0]
	if g.chance(45) {
		do := pick(g, "send", "sendimm", "sendimm", "writeimm")
		x = Act{Do: do, To: "a", At: g.word(), V: 7, Flags: g.flags(do)}
	}
	y := g.nearly(x)
	acts := []Act{{Do: "rand", V: 2}, under(1, x), under(2, y)}
	for g.chance(45) {
		acts = append(acts, pick(g, []Act{{Do: "err", To: "a"}}, []Act{{Do: "reset", To: "a"}}, []Act{{Do: "reset", To: "a"}, {Do: "up", To: "a"}}, []Act{{Do: "destroy", To: "a"}},
			g.request(1, 0)[:1], []Act{{Do: "recv", To: "a"}}, []Act{{Do: "ibreak", To: "a"}}, []Act{{Do: "icut", To: "a"}}, []Act{{Do: "send", To: "a", V: 5}}, []Act{{Do: "change", V: 9}})...)
	}
	g.put(1, acts...)
	for range 1 + g.r.IntN(2) {
		g.put(0, pick(g, []Act{{Do: "recv", To: "b"}}, []Act{{Do: "recv", To: "b"}}, []Act{{Do: "recv", To: "b"}, {Do: "store", V: 2}},
			g.request(0, 1)[:1], []Act{{Do: "state", To: "b"}}, []Act{{Do: "deny", To: "b"}}, []Act{{Do: "dereg"}}, []Act{{Do: "load"}}, []Act{{Do: "poll", To: "b", V: 1}},
			[]Act{{Do: "reset", To: "b"}, {Do: "up", To: "b"}}, []Act{{Do: "send", To: "b", V: 3, Flags: "s"}})...)
	}
	g.put(0, Act{Do: "call", To: "b", V: 1})
	for range 1 + g.r.IntN(2) {
		g.put(0, pick(g, []Act{{Do: "wait", To: "b", V: 1}}, []Act{{Do: "wait", To: "b", V: 1}}, []Act{{Do: "wait", To: "b", V: 2}}, []Act{{Do: "load"}},
			[]Act{{Do: "load", At: 1}}, []Act{{Do: "allow", To: "b"}, {Do: "load"}}, []Act{{Do: "state", To: "b"}}, []Act{{Do: "recv", To: "b"}, {Do: "wait", To: "b", V: 1}},
			[]Act{{Do: "err", To: "b"}, {Do: "wait", To: "b", V: 1}}, []Act{{Do: "peek"}})...)
	}
	if g.chance(15) {
		g.fault("partition", "cut", "break", "revoke")
	}
}

// nearly returns an act that differs from x in one thing.
func (g *maker) nearly(x Act) Act {
	switch g.r.IntN(6) {
	case 0, 1:
		x.V++
	case 2:
		x.Flags = g.flags(x.Do)
	case 3:
		x.Do = pick(g, "send", "sendimm", "writeimm", "write")
		x.Flags = g.flags(x.Do)
	case 4:
		x.At = 1 - x.At
	case 5:
		x = Act{Do: pick(g, "recv", "err", "reset", "deny", "drain"), To: x.To}
	}
	return x
}

func under(condition int, a Act) Act {
	a.If = condition
	return a
}

// forgottenTasks has a task of a daemon that does one of two things and finishes, and another task of the
// same daemon that continues after a while.
func (g *maker) forgottenTasks() {
	g.hosts(2)
	g.set(15)
	g.p.Hosts[1].Daemon = true
	x := g.something(1, 0)
	y := g.something(1, 0)
	if g.chance(60) {
		if y = x; g.chance(40) && len(table[y.Do].flags) > 0 {
			y.Flags = g.flags(y.Do)
		}
		y.V++
	}
	body := []Act{{Do: "rand", V: 2}, under(1, x), under(2, y)}
	if g.chance(40) {
		body = append(body, g.something(1, 0))
	}
	if g.chance(25) {
		body = append([]Act{{Do: "accept"}}, append(body, Act{Do: "reply", V: Last})...)
	}
	g.put(1, Act{Do: "go", Body: body}, Act{Do: "sleep", V: 1})
	for range g.r.IntN(3) {
		g.put(1, pick(g, g.something(1, 0), Act{Do: "wait", To: "a", V: 1}, Act{Do: "state", To: "a"}, Act{Do: "undrain", To: "a"}, Act{Do: "allow", To: "a"}, Act{Do: "peek"}, Act{Do: "change", V: 9}))
	}
	for range g.r.IntN(3) {
		g.put(0, g.something(0, 1))
	}
	if g.chance(30) {
		g.put(0, Act{Do: "ask", To: "b", V: 1})
	}
	g.put(0, Act{Do: "sleep", V: 1 + g.r.IntN(2)})
	for range 1 + g.r.IntN(2) {
		g.put(0, pick(g, Act{Do: "load"}, Act{Do: "load"}, Act{Do: "wait", To: "b", V: 1}, Act{Do: "wait", To: "b", V: 2}, Act{Do: "gather", V: 1}, Act{Do: "counter"}, Act{Do: "state", To: "b"}, g.something(0, 1)))
	}
}

// something is an act of host i with an effect on host j.
func (g *maker) something(i, j int) Act {
	to := g.name(j)
	switch g.r.IntN(5) {
	case 0, 1:
		return g.request(i, j)[0]
	case 2:
		do := pick(g, "send", "sendimm", "writeimm")
		return Act{Do: do, To: to, At: g.word(), V: 7, Flags: g.flags(do)}
	case 3:
		return g.local()
	}
	return pick(g, Act{Do: "err", To: to}, Act{Do: "reset", To: to}, Act{Do: "deny", To: to}, Act{Do: "drain", To: to}, Act{Do: "recv", To: to, Flags: g.flags("recv")},
		Act{Do: "dereg"}, Act{Do: "rereg"}, Act{Do: "deaf"}, Act{Do: "count", V: 1}, Act{Do: "poll", To: to, V: 1}, Act{Do: "ask", To: to, V: 1}, Act{Do: "destroy", To: to})
}

// daemonsEnd has daemons that end several things, some of them with errors, while others observe.
func (g *maker) daemonsEnd() {
	g.someHosts(60)
	g.set(25)
	d := 1 + g.r.IntN(len(g.p.Hosts)-1)
	g.p.Hosts[d].Daemon = true
	for range 2 + g.r.IntN(2) {
		j := g.r.IntN(len(g.p.Hosts))
		if j == d {
			j = 0
		}
		to := g.name(j)
		g.put(d, pick(g, Act{Do: "err", To: to}, Act{Do: "err", To: to}, Act{Do: "destroy", To: to}, Act{Do: "reset", To: to}, Act{Do: "dereg"}, Act{Do: "free"}, Act{Do: "deaf"},
			Act{Do: "deny", To: to}, Act{Do: "rereg"}, Act{Do: "recv", To: to}, Act{Do: "undrain", To: to}, Act{Do: "drain", To: to}, Act{Do: "count", V: 1}, Act{Do: "end"}, g.local()))
	}
	mine := []weighted{{20, addRequest}, {10, addMessage}, {8, addState}, {8, addCall}, {6, addLook}, {5, addService}, {4, addChannel}, {5, addLocal}, {3, addModify}, {3, addSay}}
	for range 2 + g.r.IntN(3) {
		i, j := g.pair()
		g.draw(mine, i, j)
	}
	if g.chance(15) {
		g.fault("crash", "partition", "cut", "break", "revoke", "suspect")
	}
	g.conditions()
}

// channels has hosts that sleep on channels while reported completions are dropped, or more arrive.
func (g *maker) channels() {
	g.someHosts(25)
	g.set(30)
	addChannel(g, 0, 1)
	if g.chance(70) {
		g.put(0, Act{Do: "recv", To: g.name(1)})
		g.put(1, Act{Do: pick(g, "send", "sendimm", "writeimm"), To: g.name(0), V: 7, Flags: pick(g, "", "s", "i")})
	}
	g.put(0, Act{Do: "chanw"})
	if g.chance(50) {
		g.put(0, g.local())
	}
	g.put(0, Act{Do: "chanp"})
	ends := func(g *maker, i, j int) {
		to := g.name(j)
		g.put(i, pick(g, Act{Do: "err", To: to}, Act{Do: "destroy", To: to}, Act{Do: "reset", To: to}, Act{Do: "dereg"}, Act{Do: "deny", To: to}, Act{Do: "drain", To: to},
			Act{Do: "icrash", To: to}, Act{Do: "ibreak", To: to}, Act{Do: "icut", To: to}, Act{Do: "ipart", To: to}, Act{Do: "irevoke", To: to}, Act{Do: "merevoke"}, Act{Do: "heal", To: to}))
	}
	sleeps := func(g *maker, i, _ int) { g.put(i, pick(g, Act{Do: "chanw"}, Act{Do: "chanp"}, Act{Do: "chan"})) }
	mine := []weighted{{20, addRequest}, {10, addMessage}, {30, ends}, {6, addChannel}, {6, addLook}, {6, addLocal}, {4, addGo}, {4, addState}, {8, sleeps}}
	for range 1 + g.r.IntN(4) {
		i, j := g.pair()
		g.draw(mine, i, j)
	}
	if g.chance(25) {
		g.fault("crash", "partition", "cut", "break", "revoke", "suspect")
	}
	if g.chance(15) {
		g.p.Hosts[1].Daemon = true
	}
	g.conditions()
}

// reuses has daemons that reuse the source buffer of a request before it has completed.
func (g *maker) reuses() {
	g.someHosts(40)
	g.set(25)
	for i := 1; i < len(g.p.Hosts); i++ {
		g.p.Hosts[i].Daemon = g.chance(70)
	}
	i, j := g.pair()
	addChange(g, i, j)
	asks := func(g *maker, i, j int) { g.put(i, Act{Do: "ask", To: g.name(j), V: 1}) }
	g.fill(3, 6, []weighted{{20, addChange}, {15, addMessage}, {10, addCall}, {15, addRequest}, {6, addResponse}, {6, addModify}, {8, addLocal}, {5, addService}, {5, addLook}, {4, asks}})
	if g.chance(25) {
		g.fault("crash", "partition", "cut", "break", "revoke", "suspect")
	}
	g.conditions()
}
