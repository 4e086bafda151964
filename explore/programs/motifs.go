package programs

import "slices"

// everyday returns the motifs of programs without faults and time.
func everyday() []weighted {
	return []weighted{
		{30, addRequest}, {18, addLocal}, {12, addMessage}, {9, addCall}, {3, addGather}, {6, addFlag}, {5, addModify}, {3, addKeys},
		{3, addState}, {4, addGo}, {2, addMutex}, {2, addCond}, {3, addLook}, {2, addService}, {1, addRand}, {2, addSay}, {2, addChannel},
		{1, addDestroyed}, {1, addChange}, {1, addResponse}, {1, addReconnect}, {1, addOdd}, {3, addOrdered}, {1, addNextKey},
	}
}

// alike are motifs that treat interchangeable hosts the same: each act applies to all of them, in
// one step.
func alike() []weighted {
	return []weighted{{30, addRequest}, {15, addLocal}, {10, addMessage}, {10, addAllCall}, {6, addAllGather}, {4, addModify}, {3, addState},
		{3, addKeys}, {2, addGo}, {3, addLook}, {2, addService}, {1, addRand}, {2, addSay}, {2, addChange}, {2, addResponse}}
}

func (g *maker) word() int {
	if g.chance(65) {
		return 0
	}
	return 1
}

// flags draws flags for a request, mostly harmless ones.
func (g *maker) flags(do string) string {
	out := ""
	for _, f := range table[do].flags {
		own, ok := g.odds[f]
		if !ok && (f == flagNext || f == flagBoth) {
			continue // only programs about bytes have these
		}
		likely := 5
		switch f {
		case flagSignaled:
			likely = 50
		case flagInline:
			likely = 40
		case flagFence:
			likely = 12
		case flagBadKey:
			likely = 6
		case flagNextKey, flagBeyond, flagBadLocal, flagSolicited, flagShared:
			likely = 2
		case flagOwnPMEM, flagEmpty:
			likely = 1
		case flagJoin, flagScatter, flagByte:
			likely = 3
		case flagPMEM:
			likely = 0
		}
		if f == flagSignaled && slices.Contains([]string{"read", "wideread", "cas", "fetchadd"}, do) {
			likely = 75
		}
		if ok {
			likely = own
		}
		if g.chance(likely) {
			out += string(f)
		}
	}
	return out
}

// request returns a request of host i to j and, sometimes, an act that takes its completion.
func (g *maker) request(i, j int) []Act {
	do := pick(g, "write", "write", "write", "write", "read", "read", "cas", "fetchadd", "wide", "wideread", "awrite", "flush", "writeimm")
	a := Act{Do: do, To: g.name(j), At: g.word(), V: 1 + g.r.IntN(3), Flags: g.flags(do)}
	if do == "cas" {
		a.W = g.r.IntN(2)
	}
	out := []Act{a}
	if g.chance(60) && len(a.Flags) > 0 && a.Flags[0] == flagSignaled {
		out = append(out, Act{Do: "wait", To: a.To, V: 1 + g.r.IntN(8)/7})
	}
	return out
}

func addRequest(g *maker, i, j int) { g.put(i, g.request(i, j)...) }

func (g *maker) local() Act {
	a := Act{Do: pick(g, "load", "load", "load", "store", "store", "lcas", "add", "loadwide", "storewide", "fence"), At: g.word(), V: 4 + g.r.IntN(3)}
	if g.chance(5) {
		a.V = Last
	}
	return a
}

func addLocal(g *maker, i, _ int) { g.put(i, g.local()) }

func addMessage(g *maker, i, j int) {
	do := pick(g, "send", "send", "sendimm", "writeimm")
	acts := []Act{{Do: do, To: g.name(j), At: g.word(), V: 7, Flags: g.flags(do)}}
	if acts[0].Flags != "" && acts[0].Flags[0] == flagSignaled && g.chance(50) {
		acts = append(acts, Act{Do: "wait", To: g.name(j), V: 1})
	}
	g.put(i, acts...)
	recv := []Act{{Do: "recv", To: g.name(i), Flags: g.flags("recv")}}
	if g.chance(75) {
		recv = append(recv, Act{Do: "wait", To: g.name(i), V: 1 + g.r.IntN(2)})
	}
	g.put(j, recv...)
}

func addCall(g *maker, i, j int) {
	g.put(i, Act{Do: "call", To: g.name(j), V: 1})
	if !g.serves(j) {
		g.put(j, Act{Do: "accept"}, pick(g, Act{Do: "reply", V: 2}, Act{Do: "reply", V: 2}, Act{Do: "reply", V: Last}, Act{Do: "reject"}))
	}
}

// serves reports whether a host answers all requests.
func (g *maker) serves(j int) bool {
	l := g.p.Hosts[j].Lives
	return len(l) > 0 && slices.ContainsFunc(l[0], func(a Act) bool { return a.Do == "serve" })
}

func addGather(g *maker, i, _ int) {
	to, n := "", 0
	for j := range g.p.Hosts {
		if j == i || !g.chance(85) {
			continue
		}
		if n++; n > 1 {
			to += "+"
		}
		to += g.name(j)
		if !g.serves(j) {
			g.put(j, Act{Do: "accept"}, Act{Do: "reply", V: 2})
		}
	}
	if n == 0 {
		return
	}
	g.put(i, Act{Do: "ask", To: to, V: 1}, Act{Do: "gather", V: 1 + g.r.IntN(n)})
	if g.chance(20) {
		g.put(i, Act{Do: "gather", V: n})
	}
}

// addFlag is the idiom of data and a flag.
func addFlag(g *maker, i, j int) {
	do := pick(g, "write", "fetchadd", "awrite", "writeimm", "write")
	g.put(i, Act{Do: "write", To: g.name(j), V: 1, Flags: "i"}, Act{Do: do, To: g.name(j), At: 1, V: 1, Flags: g.flags(do)})
	g.put(j, Act{Do: "load", At: 1}, Act{Do: "load"})
}

func addModify(g *maker, i, j int) {
	acts := []Act{{Do: pick(g, "err", "err", "reset", "drain", "deny", "destroy"), To: g.name(j)}}
	switch {
	case acts[0].Do == "reset" && g.chance(60):
		acts = append(acts, Act{Do: "up", To: g.name(j)})
	case acts[0].Do == "drain" && g.chance(60):
		acts = append(acts, Act{Do: "undrain", To: g.name(j)})
	case acts[0].Do == "deny":
		acts[0].Do = pick(g, "deny", "denya", "denyw", "denyr")
		if g.chance(60) {
			acts = append(acts, Act{Do: "allow", To: g.name(j)})
		}
	}
	g.put(i, acts...)
}

func addKeys(g *maker, i, _ int) {
	switch g.r.IntN(4) {
	case 0:
		g.put(i, Act{Do: "dereg"}, Act{Do: "rereg"})
	case 1:
		g.put(i, Act{Do: "dereg"})
	case 2:
		g.put(i, Act{Do: "free"})
	case 3:
		g.put(i, Act{Do: "alloc"})
	}
}

func addState(g *maker, i, j int) { g.put(i, Act{Do: "state", To: g.name(j)}) }

// addGo moves the rest of a host's code into a task of its own, or starts one before it.
func addGo(g *maker, i, j int) {
	body := []Act{g.local()}
	if g.chance(60) {
		body = g.request(i, j)
	}
	l := g.p.Hosts[i].Lives
	if len(l) > g.life && len(l[g.life]) > 0 && g.chance(40) {
		at := g.r.IntN(len(l[g.life]))
		body = slices.Clone(l[g.life][at:])
		l[g.life] = l[g.life][:at]
	}
	g.put(i, Act{Do: "go", Body: body})
	if g.chance(50) {
		g.put(i, g.local())
	}
}

// addVisit visits interchangeable hosts one by one, and sometimes stops at the first.
func addVisit(g *maker, i, j int) {
	var body []Act
	for range 1 + g.r.IntN(2) {
		switch g.r.IntN(6) {
		case 0:
			body = append(body, Act{Do: "call", To: g.name(j), V: 1 + g.r.IntN(2)})
		case 1:
			body = append(body, Act{Do: pick(g, "destroy", "err", "state"), To: g.name(j)})
		case 2:
			body = append(body, g.local())
		default:
			body = append(body, g.request(i, j)...)
		}
	}
	if g.chance(20) {
		body = append(body, Act{Do: "end", If: g.r.IntN(3)})
	}
	g.put(i, Act{Do: "visit", To: g.name(j), Body: body})
}

func addMutex(g *maker, i, _ int) {
	g.put(i, Act{Do: "go", Body: []Act{{Do: "lock"}, {Do: "set", V: 1}, g.local(), {Do: "unlock"}}}, Act{Do: "lock"}, Act{Do: "get"}, g.local(), Act{Do: "unlock"})
}

func addCond(g *maker, i, _ int) {
	g.put(i, Act{Do: "go", Body: []Act{{Do: "lock"}, {Do: "set", V: 1}, {Do: pick(g, "signal", "broadcast")}, {Do: "unlock"}}})
	if g.chance(40) {
		g.put(i, Act{Do: "go", Body: []Act{{Do: "lock"}, {Do: "cond"}, {Do: "get"}, {Do: "unlock"}}})
	}
	g.put(i, Act{Do: "lock"}, Act{Do: "cond"}, Act{Do: "get"}, Act{Do: "unlock"})
}

// addLook looks for completions in ways that may find none.
func addLook(g *maker, i, j int) {
	g.put(i, pick(g, Act{Do: "poll", To: g.name(j), V: 1}, Act{Do: "poll", To: g.name(j), V: 2}, Act{Do: "peek"}, Act{Do: "wait", To: g.name(j), V: 2}))
}

func addChannel(g *maker, i, j int) {
	a := g.request(i, j)[:1]
	if a[0].Flags == "" || a[0].Flags[0] != flagSignaled {
		a[0].Flags = "s" + a[0].Flags
	}
	g.put(i, append(a, pick(g, Act{Do: "chan"}, Act{Do: "each", To: g.name(j)}))...)
}

func addService(g *maker, i, _ int) {
	switch g.r.IntN(5) {
	case 0:
		g.put(i, Act{Do: "askcount", V: 1}, Act{Do: "gather", V: 1 + g.r.IntN(2)})
	case 1, 2:
		g.put(i, Act{Do: "count", V: 1})
	default:
		g.put(i, Act{Do: "counter"})
	}
}
func addRand(g *maker, i, _ int) { g.put(i, Act{Do: "rand", V: 2}) }

// addSay is a report of observations, which outlives its host.
func addSay(g *maker, i, _ int) {
	if g.chance(50) {
		g.put(i, g.local())
	}
	g.put(i, Act{Do: "say"})
}

// addNextKey is a request with a key that the responder may not have made yet.
func addNextKey(g *maker, i, j int) {
	do := pick(g, "write", "read", "cas", "fetchadd", "wide")
	g.put(i, Act{Do: do, To: g.name(j), V: 1, Flags: "sn"}, Act{Do: "wait", To: g.name(j), V: 1})
	g.put(j, Act{Do: "rereg"})
}

func addDestroyed(g *maker, i, j int) {
	g.put(i, append([]Act{{Do: pick(g, "err", "destroy", "reset"), To: g.name(j)}}, g.request(i, j)...)...)
}

// addResponse accesses the destination of a response before its completion was polled.
func addResponse(g *maker, i, j int) {
	to := g.r.IntN(len(g.p.Hosts))
	if to == i {
		to = j
	}
	g.put(i, Act{Do: pick(g, "read", "wideread", "cas", "fetchadd"), To: g.name(j), V: 2, Flags: "s"})
	g.put(i, pick(g, []Act{{Do: "peek"}}, []Act{{Do: "peek"}, {Do: "peek"}}, []Act{{Do: "scribble", V: 8}, {Do: "peek"}},
		[]Act{{Do: pick(g, "write", "send", "wide"), To: g.name(to), V: 1, Flags: pick(g, "e", "ie", "se", "fe")}})...)
	if g.chance(50) {
		g.put(i, Act{Do: "wait", To: g.name(j), V: 1}, Act{Do: "peek"})
	}
	if g.chance(40) {
		g.put(j, Act{Do: "store", V: 5})
	}
}

// addChange changes the source of a request after the post.
func addChange(g *maker, i, j int) {
	do := pick(g, "write", "send", "awrite", "wide")
	flags := pick(g, "", "s", "i")
	if do == "awrite" && flags == "s" {
		flags = "i"
	}
	g.put(i, Act{Do: do, To: g.name(j), V: 1, Flags: flags}, Act{Do: "change", V: 9})
	if g.chance(40) {
		g.put(j, Act{Do: "load"})
	}
}

// addOrdered is a Write that may or may not overtake an earlier request that reads memory.
func addOrdered(g *maker, i, j int) {
	to := g.name(j)
	first := []Act{{Do: pick(g, "read", "read", "fetchadd"), To: to, V: 1, Flags: "s"}}
	if g.chance(40) {
		first = append(first, Act{Do: "read", To: to, Flags: "s"})
	}
	g.put(i, append(first, Act{Do: "write", To: to, At: 1, V: 1, Flags: pick(g, "", "f", "f")}, Act{Do: "wait", To: to, V: 1})...)
	g.put(j, Act{Do: "load", At: 1}, Act{Do: "store", V: 5})
}

func addReconnect(g *maker, i, j int) {
	g.put(i, append([]Act{{Do: "connect", To: g.name(j)}}, g.request(i, j)...)...)
	g.put(j, Act{Do: "acceptconn"})
}

func addOdd(g *maker, i, _ int) {
	g.put(i, pick(g, Act{Do: "callnone"}, Act{Do: "deaf"}, Act{Do: "rereg"}, Act{Do: "end"}))
}

func addAllCall(g *maker, i, j int) {
	g.put(i, Act{Do: "call", To: g.name(j), V: 1})
	if !g.serves(j) {
		g.put(j, Act{Do: "accept"}, Act{Do: "reply", V: 2})
	}
}

func addAllGather(g *maker, i, j int) {
	g.put(i, Act{Do: "ask", To: g.name(j), V: 1}, Act{Do: "gather", V: 1})
	if !g.serves(j) {
		g.put(j, Act{Do: "accept"}, Act{Do: "reply", V: 2})
	}
}
