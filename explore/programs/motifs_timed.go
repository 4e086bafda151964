package programs

func timedMotifs() []weighted {
	return []weighted{{3, addSleep}, {3, addNow}, {3, addTimedCall}, {3, addTimedAccept}, {3, addTimedWait}, {2, addTimedChannel}, {2, addTimedGather}}
}

func persistent() []weighted {
	return []weighted{{6, addRemotePersistent}, {6, addStorePersistent}, {2, addFence}, {1, addLoadPersistent}}
}

func addSleep(g *maker, i, _ int) { g.put(i, Act{Do: "sleep", V: 1 + g.r.IntN(3)}) }
func addNow(g *maker, i, _ int)   { g.put(i, Act{Do: "now"}) }

func addTimedCall(g *maker, i, j int) {
	g.put(i, Act{Do: "tcall", To: g.name(j), V: 1, W: 1 + g.r.IntN(2)})
	if g.chance(50) && !g.serves(j) {
		g.put(j, Act{Do: "accept"}, Act{Do: "reply", V: 2})
	}
}

func addTimedAccept(g *maker, i, j int) {
	g.put(i, Act{Do: "taccept", V: 1 + g.r.IntN(2)}, Act{Do: "reply", V: 3})
	if g.chance(60) {
		g.put(j, Act{Do: "tcall", To: g.name(i), V: 1, W: 2})
	}
}

func addTimedWait(g *maker, i, j int) {
	g.put(i, append(g.request(i, j)[:1], Act{Do: "twait", To: g.name(j), V: 1 + g.r.IntN(2)})...)
}

func addTimedChannel(g *maker, i, j int) {
	g.put(i, append(g.request(i, j)[:1], pick(g, Act{Do: "tchan", V: 1}, Act{Do: "teach", To: g.name(j), V: 1}))...)
}

func addTimedGather(g *maker, i, j int) {
	g.put(i, Act{Do: "timedask", To: g.name(j), V: 1, W: 1}, Act{Do: "gather", V: 1})
	if g.chance(50) && !g.serves(j) {
		g.put(j, Act{Do: "accept"}, Act{Do: "reply", V: 2})
	}
}

func addRemotePersistent(g *maker, i, j int) {
	do := pick(g, "write", "write", "write", "flush", "flush", "awrite", "read", "wide", "fetchadd", "cas", "wideread", "writeimm")
	a := Act{Do: do, To: g.name(j), At: g.r.IntN(3), V: 1 + g.r.IntN(3), Flags: g.flags(do)}
	if do == "writeimm" && g.chance(60) {
		g.put(j, Act{Do: "recv", To: g.name(i)})
	}
	out := []Act{a}
	if a.Flags != "" && a.Flags[0] == flagSignaled && g.chance(50) {
		out = append(out, Act{Do: "wait", To: a.To, V: 1}, Act{Do: "say"})
	}
	g.put(i, out...)
}

func addStorePersistent(g *maker, i, _ int) {
	at := g.r.IntN(3)
	out := []Act{{Do: pick(g, "pstore", "pstore", "pstore", "pwide"), At: at, V: 4 + g.r.IntN(3)}}
	if g.chance(50) {
		out = append(out, Act{Do: "pflush", At: at})
	}
	if g.chance(50) {
		out = append(out, Act{Do: "pfence"}, Act{Do: "say"})
	}
	g.put(i, out...)
}

func addFence(g *maker, i, _ int)          { g.put(i, Act{Do: "pfence"}) }
func addLoadPersistent(g *maker, i, _ int) { g.put(i, Act{Do: "pload", At: g.r.IntN(3)}) }
