package programs

import (
	"slices"
	"strings"
)

// kindOf is a kind of programs: its subject, and its generator.
type kindOf struct {
	name, about string
	large       int // of its programs, in a hundred, may be too large for the naive search
	make        func(*maker)
}

var kinds = []kindOf{
	{"plain", "requests, memory, messages and tasks of hosts that stay up", 12, (*maker).plain},
	{"daemons", "the same, with daemons that serve", 12, (*maker).daemons},
	{"ending", "the same, with hosts that finish while requests are in flight", 12, (*maker).ending},
	{"timers-idle", "waits with a timeout that expires only when nothing else can happen", 12, (*maker).timers},
	{"timers-free", "waits with a timeout that may expire at any moment", 12, (*maker).timers},
	{"timers-skew", "waits with a timeout, on clocks whose rates differ by a bounded ratio", 12, (*maker).timers},
	{"restarts", "hosts that restart, on their own or after a fault", 25, (*maker).restarts},
	{"faults", "one fault of each kind, rarely two", 25, (*maker).faults},
	{"symmetric", "hosts that are interchangeable, at times visited one by one in any order", 12, (*maker).symmetric},
	{"pmem", "persistent memory before and after power fails", 12, (*maker).pmem},
	{"revocations", "access revoked once or twice, at either end, while the requester runs, has finished or has exhausted its retries", 12, (*maker).revocations},
	{"keys", "requests under two keys, one of which is deregistered after one end of the connection has finished or been cut off", 12, (*maker).keys},
	{"reconnects", "reconnection: with the same queue pairs, with new ones and ghosts, in another life", 60, (*maker).reconnects},
	{"leases", "what a host does because time has passed, while another host is late", 40, (*maker).leases},
	{"causality", "what a host knows is done before its next step, while others observe both", 40, (*maker).causality},
	{"media", "persistent memory that fails under requests, and is flushed and fenced", 40, (*maker).media},
	{"buffers", "responses that land in the source buffers of other requests, and queue pairs abandoned before that", 40, (*maker).buffers},
	{"lists", "requests posted in lists, each gathering two pieces of memory of one or zero bytes", 40, (*maker).lists},
	{"bytes", "requests, loads and stores of some bytes of a word, beside Atomics on it, and before power fails", 40, (*maker).bytes},
	{"seams", "steps between which other hosts must be able to act: consecutive endings, calls that fail while a link is cut, polls that find nothing", 40, (*maker).seams},
	{"injecting", "faults that tasks inject, and heals", 30, (*maker).injecting},
	{"injecting-late", "injected faults that affect timers, and calls that fail", 30, (*maker).injectingLate},
	{"injecting-alike", "interchangeable hosts that inject faults, and are affected by them", 30, (*maker).injectingAlike},
	{"forgotten", "daemons that do one of two nearly equal things, and finish", 30, (*maker).forgotten},
	{"forgotten-tasks", "the same for a task of a daemon that continues", 30, (*maker).forgottenTasks},
	{"daemons-end", "daemons that end several things, while others observe", 30, (*maker).daemonsEnd},
	{"channels", "hosts that sleep on channels while reported completions are dropped", 30, (*maker).channels},
	{"reuses", "daemons that reuse the source buffer of a request", 30, (*maker).reuses},
}

// Kinds are the kinds of programs that [Generate] makes.
var Kinds = kindNames()

func kindNames() []string {
	out := make([]string, len(kinds))
	for i := range kinds {
		out[i] = kinds[i].name
	}
	return out
}

// own returns the maker's kind.
func (g *maker) own() *kindOf { return &kinds[slices.Index(Kinds, g.kind)] }

func (g *maker) plain() {
	g.someHosts(15)
	g.set(50)
	g.fill(2, 6, everyday())
	g.conditions()
}

func (g *maker) ending() {
	g.someHosts(20)
	g.set(0)
	g.fill(2, 5, everyday())
	if g.chance(30) {
		g.put(g.r.IntN(len(g.p.Hosts)), Act{Do: "end"})
	}
	g.conditions()
}

func (g *maker) daemons() {
	g.someHosts(30)
	g.set(20)
	for i := 1; i < len(g.p.Hosts); i++ {
		if i > 1 && g.chance(40) {
			continue
		}
		g.p.Hosts[i].Daemon = true
		if g.chance(60) {
			g.put(i, Act{Do: "serve", Body: g.body(i)})
		}
	}
	g.fill(3, 7, append(everyday(), weighted{30, addCall}, weighted{25, addGather}))
	g.conditions()
}

// body draws the reaction of a daemon to a request.
func (g *maker) body(i int) []Act {
	switch g.r.IntN(4) {
	case 0:
		return []Act{{Do: "store", At: g.word(), V: 1 + g.r.IntN(2)}}
	case 1:
		return []Act{{Do: "load", At: g.word()}}
	case 2:
		return []Act{{Do: "write", To: g.name((i + 1) % len(g.p.Hosts)), At: g.word(), V: 1, Flags: g.flags("write")}}
	}
	return nil
}

func (g *maker) timers() {
	g.someHosts(20)
	g.set(40)
	switch g.kind {
	case "timers-free":
		g.p.Timers = "free"
	case "timers-skew":
		g.p.Timers = pick(g, "skew(1)", "skew(3/2)", "skew(2)", "skew(3)")
	}
	timed := timedMotifs()
	i, j := g.pair()
	g.draw(timed, i, j)
	g.fill(2, 5, append(append(everyday(), timed...), timed...))
	if g.chance(30) {
		g.fault("timeout", "cut", "partition", "break", "crash")
	}
	if g.chance(25) {
		g.p.Hosts[1].Daemon = true
	}
	g.conditions()
}

// sometimesTimed occasionally draws another time regime, with a timed act.
func (g *maker) sometimesTimed() {
	if g.chance(8) {
		g.p.Timers = pick(g, "", "free", "skew(2)")
		i, j := g.pair()
		g.draw(timedMotifs(), i, j)
	}
}

func (g *maker) restarts() {
	g.someHosts(10)
	g.set(20)
	if g.chance(60) {
		g.fault("crash", "suspect", "power", "suspect")
	}
	g.fill(1, 3, everyday())
	i := g.r.IntN(2)
	g.p.Hosts[i].Again = len(g.p.Faults) == 0 || g.chance(40)
	if g.chance(25) {
		g.p.Hosts[i].Daemon = true
	}
	g.life = 1
	g.put(i)
	if g.chance(40) {
		g.reconnect(i, 1-i)
	} else {
		g.second(i, 1-i)
	}
	if g.chance(10) {
		g.life = 2
		g.second(i, 1-i)
	}
	g.sometimesTimed()
	g.conditions()
}

// second draws the acts of a later life.
func (g *maker) second(i, j int) {
	k := g.life
	switch g.r.IntN(4) {
	case 0:
		g.put(i, Act{Do: "call", To: g.name(j), V: 2})
		g.life = 0
		g.put(j, Act{Do: "accept"}, Act{Do: "reply", V: 3})
	case 1:
		g.put(i, Act{Do: "accept"}, Act{Do: "reply", V: 4})
		g.life = 0
		g.put(j, Act{Do: "call", To: g.name(i), V: 2})
	case 2:
		g.put(i, g.local())
	case 3:
		g.put(i, Act{Do: "count", V: 1})
	}
	g.life = k
}

// reconnect makes a connection between a second life and the first of another host.
func (g *maker) reconnect(i, j int) {
	if g.chance(50) {
		g.put(i, Act{Do: "acceptconn"}, g.local())
		g.life = 0
		g.put(j, append([]Act{{Do: "connect", To: g.name(i)}}, g.request(j, i)...)...)
	} else {
		g.put(i, append([]Act{{Do: "connect", To: g.name(j)}}, g.request(i, j)...)...)
		g.life = 0
		g.put(j, Act{Do: "acceptconn"}, g.local())
	}
	g.life = 1
}

func (g *maker) symmetric() {
	g.hosts(2)
	g.set(30)
	b := &g.p.Hosts[1]
	b.Copies = 2
	if g.chance(8) {
		b.Copies = 3
	}
	b.Daemon = g.chance(25)
	if b.Daemon && g.chance(60) {
		g.put(1, Act{Do: "serve", Body: g.body(1)})
	}
	if g.chance(25) {
		g.p.Faults = append(g.p.Faults, pick(g, "crash(b*)<=1", "suspect(b*)<=1", "cut(a,b*)<=1", "break(a,b*)<=1", "revoke(b*)<=1", "partition(b*,b*)<=1"))
		if g.chance(40) {
			g.life = 1
			g.put(1, g.local())
			g.life = 0
		}
	}
	if g.chance(30) {
		addVisit(g, 0, 1)
	}
	for n := 1 + g.r.IntN(3); g.p.size() < n; {
		i := g.r.IntN(2)
		j := 1 - i
		if i == 1 && g.chance(30) {
			j = 1 // each other
		}
		g.draw(alike(), i, j)
	}
	if g.chance(5) {
		g.p.Timers = pick(g, "free", "skew(2)")
		g.draw(timedMotifs(), 0, 1)
	}
}

func (g *maker) pmem() {
	g.hosts(2)
	g.odds = map[rune]int{flagPMEM: 90, flagOwnPMEM: 8}
	g.p.Profile = pick(g, "strong", "strong", "strong+DDIO=false", "strong+Domain=eADR", "strong+Domain=Battery", "strong+Domain=Volatile",
		"strong+TornLines=false", "relaxed", "srd+DDIO=false", "iba", "strong+StoreBuffers=false", "relaxed+TornLines=false")
	if g.chance(60) {
		g.p.Set = append(g.p.Set, "linger")
	}
	g.p.Faults = []string{pick(g, "power(b)<=1", "power(b)<=1", "power(b)<=1", "crash(b)<=1", "power(b)<=2", "flip(b)<=1", "poison(b)<=1", "power(*)<=1")}
	if strings.HasPrefix(g.p.Faults[0], "flip") || strings.HasPrefix(g.p.Faults[0], "poison") {
		g.put(1, Act{Do: "pload", At: g.r.IntN(3)})
	}
	g.fill(1, 4, persistent())
	g.life = 1
	for _, at := range g.r.Perm(3)[:1+min(g.r.IntN(3), g.r.IntN(3))] {
		g.put(1, Act{Do: "pload", At: at})
	}
}
