package sim

import (
	"cmp"
	"slices"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// candidate is a fault that the budget names.
type candidate struct {
	actor Actor
	kind  faults.Kind
	a, b  int
	rules []int // all of them must have some budget left
}

// candidates lists the faults that the budget could ever allow.
func (w *World) candidates() []candidate {
	var out []candidate
	add := func(k faults.Kind, a, b int) {
		c := candidate{actor: faultActor(int(k), a, b), kind: k, a: a, b: b}
		for i := range w.cfg.Budget {
			if r := &w.cfg.Budget[i]; r.Kind == k && w.ruleMatches(r, a, b) {
				c.rules = append(c.rules, i)
			}
		}
		if len(c.rules) > 0 {
			out = append(out, c)
		}
	}
	for _, k := range faults.Kinds() {
		for a := range w.nodes {
			if k.Arity() == 1 {
				add(k, a, -1)
				continue
			}
			for b := a + 1; b < len(w.nodes) || cutsOff(k) && b < len(w.places); b++ {
				add(k, a, b)
			}
		}
	}
	return out
}

func (w *World) ruleMatches(r *faults.Rule, a, b int) bool {
	if b < 0 {
		return r.Matches(w.places[a])
	}
	return r.Matches(w.places[a], w.places[b])
}

// enabledFaults lists the faults that can happen now.
func (w *World) enabledFaults() {
	for i := range w.cands {
		c := &w.cands[i]
		if w.affords(c) && w.applies(c) {
			w.events = append(w.events, Event{Actor: c.actor, Fault: true, rule: i, a: c.a, b: c.b})
		}
	}
}

func (w *World) affords(c *candidate) bool {
	for _, r := range c.rules {
		if w.left[r] == 0 {
			return false
		}
	}
	return true
}

// mayStrike reports whether the budget still has a fault of one of the given kinds for n, or a task may inject one.
func (w *World) mayStrike(n *node, kinds ...faults.Kind) bool {
	if w.cfg.Linger || slices.ContainsFunc(kinds, func(k faults.Kind) bool { return w.announced(k, n.idx) }) {
		return true
	}
	return slices.ContainsFunc(w.cands, func(c candidate) bool { return c.a == n.idx && slices.Contains(kinds, c.kind) && w.affords(&c) })
}

// announced reports whether a task may inject a fault of kind k for host a.
func (w *World) announced(k faults.Kind, a int) bool {
	return slices.ContainsFunc(w.cfg.Injects, func(r faults.Rule) bool { return r.Kind == k && r.Matches(w.places[a]) })
}

// mayDie reports whether a fault may stop the machine of n.
func (w *World) mayDie(n *node) bool { return w.mayStrike(n, faults.Crash, faults.Power) }

func (w *World) applies(c *candidate) bool {
	if w.cfg.Gate != nil && !w.cfg.Gate(c.kind, false) {
		return false
	}
	if c.b >= 0 {
		return w.pairApplies(c.kind, c.a, c.b)
	}
	return w.faultApplies(c.kind, w.nodes[c.a])
}

func (w *World) faultApplies(k faults.Kind, n *node) bool {
	if !n.up || n.cur == nil {
		return false
	}
	switch k {
	case faults.Crash, faults.Power:
		return (w.machine.stepwise() || n.cur.acted && !w.serving(n) || n.cur.refusable()) && (n.spec.Immortal == nil || !n.spec.Immortal(n.life-1))
	case faults.Revoke:
		return len(n.cur.card.mrs) > 0
	case faults.Timeout:
		return len(w.timedTasks(n)) > 0
	case faults.Flip, faults.Poison:
		return len(n.bank.regions) > 0
	}
	return true
}

// refusable reports whether a request in flight will be refused. Its responder then fails
// as well, which others can notice even if the requester crashes before it is notified.
func (h *Host) refusable() bool {
	for _, q := range h.card.qps {
		if p := q.peer; p == nil || p.state == verbs.StateErr || !q.canFail() {
			continue
		}
		for i := q.head; i < q.posted; i++ {
			if q.ent(i).nak != verbs.StatusSuccess || h.w.poisoned(q.ent(i)) {
				return true
			}
		}
	}
	return false
}

// serving reports whether the only possible next step of a daemon takes a request. A crash after
// that step allows everything that a crash before it allows, since the answer and all other effects
// of the step may be lost. Only the checks could notice the difference, and daemons do not report
// to them. The step must have no effect that survives a crash: it neither injects a fault, nor
// terminates the daemon, nor opens the first persistent region (see Inject, boot and OpenPMEM).
func (w *World) serving(n *node) bool {
	if !n.spec.Daemon || len(n.bank.regions) > 0 { // data that it makes persistent is not lost
		return false
	}
	ready := false
	for _, t := range w.tasks {
		if t.alive && t.h == n.cur {
			if t.op.kind != opAccept || t.op.lis.closed || t.op.fired {
				return false // the run continues without a request
			}
			ready = ready || w.ready(t)
		}
	}
	return ready
}

// timedTasks returns the tasks of a host whose timers a fault can fire early.
func (w *World) timedTasks(n *node) []*task {
	var out []*task
	for _, t := range w.tasks {
		if t.alive && t.h.node == n && t.op.timed && !t.op.fired && !t.op.told() {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b *task) int { return cmp.Or(a.h.life-b.h.life, a.ord-b.ord) })
	return out
}

func (w *World) pairApplies(k faults.Kind, a, b int) bool {
	if k == faults.Ghost {
		return len(w.haunting(a, b)) > 0
	}
	if k == faults.Break {
		for _, q := range w.qps {
			if q.between(a, b) && q.state == verbs.StateRTS && !q.gone && q.h.alive && q.head < q.posted {
				return true
			}
		}
		return false
	}
	return !w.linkCut(a, b)
}

func (q *qp) between(a, b int) bool {
	x := q.h.node.idx
	if x != a && x != b || q.state < verbs.StateRTR {
		return false
	}
	y := q.remoteNode()
	return x == a && y == b || x == b && y == a
}

// inject makes a fault happen.
func (w *World) inject(ev Event) {
	w.strike(faults.Kind(ev.Actor.life()), ev.a, ev.b) // a landing during the failure may be lost: see mayLosePower
	for _, i := range w.cands[ev.rule].rules {
		m := Write
		if w.left[i] > 1 {
			m = Add // two such steps leave the same budget in either order
		}
		w.left[i]--
		w.touch(object(objBudget, 0, i), m)
	}
}

// strike makes a fault of kind k happen to host a, or to the link from a to b.
func (w *World) strike(k faults.Kind, a, b int) {
	n := w.nodes[a]
	if k == faults.Crash && w.cfg.Gate == nil && len(n.bank.regions) == 0 {
		w.touch(object(objHost, n.idx, 0), Write)
	} else {
		w.touchAll()
	}
	switch k {
	case faults.Crash, faults.Power:
		h := n.cur
		w.trace(h, k.String(), "%s", map[bool]string{true: "loses power", false: "crashes"}[k == faults.Power])
		w.kill(h, k == faults.Power)
		w.lifeEnded(n, true)
	case faults.Suspect:
		w.trace(n.cur, "suspect", "is believed dead, and goes on")
		n.cur, n.bank = nil, w.newBank() // another machine takes the name
		w.lifeEnded(n, true)
	case faults.Partition, faults.Cut:
		if w.linkCut(a, b) { // an injected fault cut it already; it is cut once, for good if either fault is a Cut
			for i := range w.cuts {
				c := &w.cuts[i]
				c.heals = c.heals && (c.a != a || c.b != b || k == faults.Partition)
			}
			return
		}
		w.trace(n.cur, "cut", "the link to %s is cut", w.places[b])
		w.cuts = append(w.cuts, linkState{a, b, k == faults.Partition})
		w.holdUp(a, b)
		for _, q := range w.qps {
			if q.between(a, b) {
				q.waitedInVain()
			}
		}
		for _, q := range w.qps {
			if q.between(a, b) {
				q.cutAt = min(q.cutAt, q.posted)
			}
		}
	case faults.Break:
		w.trace(n.cur, "break", "the connections to %s lose their acknowledgements", w.places[b])
		for _, q := range w.qps {
			if q.between(a, b) {
				q.waitedInVain()
			}
		}
		for _, q := range w.qps {
			if q.between(a, b) && q.state == verbs.StateRTS {
				q.broken = true
				q.limit = min(q.limit, q.posted)
			}
		}
	case faults.Revoke:
		n.cur.card.revoke(slices.Clone(n.cur.card.mrs)...)
	case faults.Flip, faults.Poison:
		n.bank.flips += boolInt(k == faults.Flip)
		n.bank.poisons += boolInt(k == faults.Poison)
	case faults.Ghost:
		w.haunt(a, b)
	case faults.Timeout:
		all := w.timedTasks(n)
		t := all[w.choose(ChooseTimer, len(all), func(i int) string { return w.ActorName(all[i].actor()) })]
		t.op.touchQueues()
		t.disarm()
		t.op.fired = true
		w.trace(n.cur, "timeout", "a timer of %s fires early", t.name)
	}
}

func (w *World) healLink(a, b int) {
	w.touchAll()
	w.gaveUp(a, b)
	for i, c := range w.cuts {
		if c.a == a && c.b == b {
			w.cuts = append(w.cuts[:i], w.cuts[i+1:]...)
			break
		}
	}
	w.trace(w.nodes[a].cur, "heal", "the link to %s heals", w.places[b])
	w.goesOut(a, b)
	w.goesOut(b, a)
	w.goThrough(a, b)
	for _, q := range w.qps {
		if q.between(a, b) {
			q.cutAt = unlimited
		}
	}
}

// kill stops a machine: tasks, connections and DRAM are gone. Packets that have left may still
// arrive elsewhere. Nothing more arrives in the DRAM; for persistent memory see leavePMEM.
func (w *World) kill(h *Host, power bool) {
	if !h.alive {
		return
	}
	w.refusedByNow(h)
	for _, q := range w.qps {
		if q.h == h && !q.gone {
			q.leaves()
			q.receivesNoMore()
		}
	}
	w.passedOn(h)
	w.loseMail(h)
	w.touch(h.node.current(), Write)
	w.touch(lifeOf(h.node.idx, h.life), Write)
	h.alive = false
	h.lookAway()
	w.arriving(h)
	for _, t := range w.tasks {
		if t.h == h && t.alive && t != w.cur {
			w.endTask(t)
		}
	}
	for _, q := range w.qps {
		if q.buffer != nil {
			q.gone = q.gone || q.h == h
		} else if q.h == h {
			q.die()
		} else if q.state >= verbs.StateRTR && q.remoteNode() == h.node.idx && q.remoteLife() == h.life {
			w.responderDied(q)
		}
	}
	for _, r := range h.regs {
		if !r.freed {
			r.drop()
		}
	}
	w.leavePMEM(h, power)
	h.mail = h.mail[:0]
}

// die stops the requester of a QP whose host has died.
func (q *qp) die() {
	q.cutSend()
	q.state, q.gone = verbs.StateErr, true
}

// responderDied decides how many of q's Reads and Atomics had executed before the
// responder died. Their responses may still be in flight.
func (w *World) responderDied(q *qp) {
	q.limit = min(q.limit, q.posted, q.cutAt, q.held) // and a heal will not deliver requests that the cut link held back
	w.machine.responderDied(q)
	w.dropBehind(q)
}

func (m *late) responderDied(q *qp) {
	w, last := m.w, -1
	if q.h.alive && !q.gone && q.sends() {
		var buf [32]int
		at := buf[:0]
		for i := q.head; i < min(q.reach(), q.posted); i++ {
			if s := q.ent(i); s.op.Responds() {
				at = append(at, i)
			}
		}
		n := len(at)
		can := 0 // a request that unreadable memory refuses was not executed
		for can < n && !w.poisoned(q.ent(at[can])) {
			can++
		}
		if c := w.choose(ChooseCutoff, can+1, func(i int) string { return q.name() + " reads " + itoa(i) }); c > 0 {
			last = at[c-1]
		}
		if n > 0 && last < at[n-1] {
			next := at[0]
			for i := 0; i < n; i++ {
				if at[i] > last {
					next = at[i]
					break
				}
			}
			q.limit = min(q.limit, next)
		}
	}
	for all := sweep(&q.elems); all.next(); {
		if e := all.e; e.wr <= last && e.responds() && !e.over() {
			w.land(e)
			all.again()
		}
	}
}

// dropBehind discards elements that must wait for Reads and Atomics that the dead
// responder did not execute. If the requester is dead too, nobody knows which those are.
func (w *World) dropBehind(q *qp) {
	if !q.h.alive || q.gone {
		return
	}
	for i := 0; i < len(q.elems); i++ {
		if e := q.elems[i]; e.responds() {
			w.dropAfter(e)
		}
	}
}

// dropAfter discards the elements that must wait for e.
func (w *World) dropAfter(e *elem) {
	var waits []*elem // collected first: a discarded element could be the reason why a later one waits
	for _, x := range e.q.elems {
		if x.changes() && w.follows(x, e) {
			waits = append(waits, x)
		}
	}
	for _, x := range waits {
		w.discard(x)
	}
}
