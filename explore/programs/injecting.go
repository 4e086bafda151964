package programs

// injecting has tasks that inject faults, and heal links.
func (g *maker) injecting() {
	g.someHosts(35)
	g.set(25)
	if g.chance(20) {
		g.p.Hosts[len(g.p.Hosts)-1].Daemon = true
	}
	i, j := g.pair()
	pick(g, addInjected, addInjected, addInjected, addInjected, addCutAndHeal, addDamage, addServiceCut)(g, i, j)
	own := []weighted{{25, addInjected}, {8, addHeal}, {6, addCutAndHeal}, {4, addPoint}, {14, addService}, {8, addCall}, {5, addModify}, {5, addLook}, {4, addSay}}
	g.fill(2, 5, append(everyday(), own...))
	if g.chance(25) {
		g.life = 1
		i := g.r.IntN(2)
		g.second(i, 1-i)
		g.life = 0
	}
	if g.chance(12) {
		g.fault("crash", "partition", "cut", "break", "revoke", "suspect", "timeout")
	}
	if g.chance(12) {
		g.p.Timers = pick(g, "free", "skew(2)", "")
		i, j := g.pair()
		g.draw(timedMotifs(), i, j)
	}
	g.conditions()
}

func addInjected(g *maker, i, j int) {
	to := g.name(j)
	g.put(i, pick(g, Act{Do: "icrash", To: to}, Act{Do: "icrash", To: to}, Act{Do: "ipower", To: to}, Act{Do: "isuspect", To: to}, Act{Do: "irevoke", To: to},
		Act{Do: "irevoke", To: to}, Act{Do: "itimeout", To: to}, Act{Do: "iflip", To: to}, Act{Do: "ipoison", To: to}, Act{Do: "icut", To: to}, Act{Do: "icut", To: to},
		Act{Do: "ipart", To: to}, Act{Do: "ibreak", To: to}, Act{Do: "ibreak", To: to}, Act{Do: "mecrash"}, Act{Do: "mepower"}, Act{Do: "mesuspect"},
		Act{Do: "merevoke"}, Act{Do: "cutsvc"}, Act{Do: "partsvc"}, Act{Do: "icutsvc", To: to}))
}

func addHeal(g *maker, i, j int) {
	to := g.name(j)
	g.put(i, pick(g, Act{Do: "heal", To: to}, Act{Do: "healsvc"}))
}

func addPoint(g *maker, i, _ int) { g.put(i, Act{Do: "point"}) }

func addCutAndHeal(g *maker, i, j int) {
	to := g.name(j)
	g.put(i, pick(g, []Act{{Do: "icut", To: to}, {Do: "heal", To: to}}, []Act{{Do: "ipart", To: to}, {Do: "icut", To: to}, {Do: "heal", To: to}},
		[]Act{{Do: "cutsvc"}, {Do: "count", V: 1}, {Do: "healsvc"}}, []Act{{Do: "icutsvc", To: to}, {Do: "count", V: 1}},
		[]Act{{Do: "icut", To: to}, {Do: "call", To: to, V: 1}, {Do: "heal", To: to}})...)
}

// addDamage damages persistent memory that its host then reads.
func addDamage(g *maker, i, j int) {
	if g.chance(40) {
		g.put(j, Act{Do: pick(g, "dflip", "dpoison"), At: g.r.IntN(2)})
	} else {
		g.put(i, Act{Do: pick(g, "iflip", "ipoison"), To: g.name(j)})
	}
	if g.chance(50) {
		g.put(j, Act{Do: "pstore", V: 5})
	}
	g.put(j, Act{Do: pick(g, "pload", "pload", "ploadwide")})
}

// addServiceCut cuts a host off from the services, and it or another host calls one.
func addServiceCut(g *maker, i, j int) {
	call := pick(g, Act{Do: "count", V: 1}, Act{Do: "counter"})
	switch g.r.IntN(4) {
	case 0:
		g.put(i, Act{Do: "cutsvc"}, Act{Do: "healsvc"}, call)
	case 1:
		g.put(i, Act{Do: "partsvc"}, call)
	case 2:
		g.put(i, Act{Do: "icutsvc", To: g.name(j)})
		g.put(j, call)
	case 3:
		g.put(i, Act{Do: "cutsvc"}, call, Act{Do: "healsvc"}, Act{Do: "count", V: 1})
	}
}

// injectingLate has timers that faults affect, and calls that fail, in all regimes.
func (g *maker) injectingLate() {
	g.someHosts(20)
	g.set(30)
	g.p.Timers = pick(g, "", "free", "skew(1)", "skew(2)")
	i, j := g.pair()
	g.draw(timedMotifs(), i, j)
	late := func(g *maker, i, j int) {
		g.put(i, pick(g, Act{Do: "itimeout", To: g.name(j)}, Act{Do: "itimeout", To: g.name(j)}))
	}
	links := func(g *maker, i, j int) {
		to := g.name(j)
		g.put(i, pick(g, Act{Do: "icut", To: to}, Act{Do: "ipart", To: to}, Act{Do: "heal", To: to}, Act{Do: "cutsvc"}, Act{Do: "healsvc"},
			Act{Do: "icrash", To: to}, Act{Do: "mecrash"}, Act{Do: "irevoke", To: to}))
	}
	own := []weighted{{26, late}, {12, links}, {8, addService}, {10, addCall}, {6, addLook}, {6, addModify}, {4, addGo}, {3, addSay}, {10, addRequest}, {6, addMessage}}
	g.fill(2, 5, append(own, timedMotifs()...))
	if g.chance(25) {
		g.p.Hosts[1].Daemon = true
	}
	if g.chance(20) {
		g.life = 1
		g.second(0, 1)
		g.life = 0
	}
	g.conditions()
}

// injectingAlike has interchangeable hosts that inject faults of their own, and are affected together.
func (g *maker) injectingAlike() {
	g.hosts(2)
	g.set(25)
	b := &g.p.Hosts[1]
	b.Copies = 2
	b.Daemon = g.chance(20)
	theirs := func(g *maker, _, _ int) {
		g.put(1, pick(g, Act{Do: "mecrash"}, Act{Do: "mepower"}, Act{Do: "merevoke"}, Act{Do: "mesuspect"}, Act{Do: "icrash", To: "a"}, Act{Do: "irevoke", To: "a"},
			Act{Do: "icut", To: "a"}, Act{Do: "ipart", To: "a"}, Act{Do: "ibreak", To: "a"}, Act{Do: "heal", To: "a"}, Act{Do: "cutsvc"}, Act{Do: "partsvc"}, Act{Do: "healsvc"},
			Act{Do: "icutsvc", To: "a"}, Act{Do: "point"}))
	}
	own := []weighted{{25, theirs}, {10, func(g *maker, _, _ int) {
		g.put(0, pick(g, Act{Do: "mecrash"}, Act{Do: "merevoke"}, Act{Do: "cutsvc"}, Act{Do: "healsvc"}, Act{Do: "point"}))
	}}}
	if g.chance(35) {
		g.life = 1
		g.put(1, g.local())
		g.life = 0
	}
	g.draw(own, 1, 0)
	for n := 2 + g.r.IntN(3); g.p.size() < n; {
		i := g.r.IntN(2)
		g.draw(append(alike(), own...), i, 1-i)
	}
	if g.chance(15) {
		g.p.Faults = append(g.p.Faults, pick(g, "crash(b*)<=1", "suspect(b*)<=1", "cut(a,b*)<=1", "break(a,b*)<=1", "revoke(b*)<=1"))
	}
}
