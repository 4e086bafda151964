package sim

import (
	"fmt"
	"slices"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Runs of programs, such as litmus tests, rather than of servers: the hosts are prepared before the
// run, stay up after their code has returned, and their memory is read when the system is quiet.

// setup runs Config.Setup before the first step.
func (w *World) setup() {
	if w.cfg.Setup != nil {
		w.prepare(w.cfg.Setup)
	}
}

// prepare calls f outside any task: its operations take effect at once.
func (w *World) prepare(f func([]*Host)) {
	hosts := make([]*Host, len(w.nodes))
	for i, n := range w.nodes {
		hosts[i] = n.all[len(n.all)-1]
	}
	t := &task{w: w, h: hosts[0], co: &coro{}}
	t.sb.t = t
	w.cur, w.preparing = t, true
	f(hosts)
	w.preparing = false
	w.cur = nil
}

// unprepared handles a wait inside prepare.
func (w *World) unprepared(o op) {
	if o.kind != opRun {
		panic(fmt.Errorf("sim: %w: Setup and AtEnd cannot wait, and %v does", ErrConfig, o.kind))
	}
}

// endIfOver finishes a run with Linger when no code can continue. Whether faults still strike then is a choice.
func (w *World) endIfOver() {
	if w.over || w.fail != nil || w.abandoned {
		return
	}
	w.enabled()
	faulty := false
	for i := range w.events {
		if !w.events[i].Fault && !w.vain(&w.events[i]) {
			return
		}
		faulty = true
	}
	if faulty && w.choose(ChooseEnd, 2, func(i int) string { return endingNames[i] }) == 1 {
		return
	}
	w.over = true
	if w.cfg.AtEnd != nil {
		w.prepare(w.cfg.AtEnd)
	}
}

// hangIfStuck finishes a run with Config.Hung when certainly nothing but faults can
// happen. As in endIfOver, whether they still strike is a choice.
func (w *World) hangIfStuck() {
	if w.over || w.fail != nil || w.abandoned || w.finished() {
		return
	}
	w.enabled()
	w.over = len(w.events) > 0 && w.onlyFaults() && !w.outOfTime() &&
		w.choose(ChooseEnd, 2, func(i int) string { return endingNames[i] }) == 0
}

// vain reports whether an event may never happen: a step of a wire whose connection has stopped, if no arrived
// data waits to be placed; the loss of a request (a task that may receive it has an event of its own); a
// receive that fails because of a request that may have been lost; or an acknowledgement that no task notices.
func (w *World) vain(ev *Event) bool {
	switch q := ev.qp; ev.Actor.kind() {
	case actFail:
		i := q.unfitUntold()
		return q.vanishing() >= 0 || i >= 0 && !q.ent(i).came || q.quiet() && !q.failsUnheard()
	case actWire:
		q = w.qps[ev.a]
		return q.mayLose() && !slices.ContainsFunc(w.wireSteps(q, nil), func(e *elem) bool { return e.came })
	case actAck:
		q = w.qps[ev.a]
		if p := q.peer; p == nil || !p.mayLose() {
			return false
		}
		return !slices.ContainsFunc(w.ackSteps(q, nil), func(o outcome) bool {
			return !o.recv || o.status == verbs.StatusSuccess || o.status == verbs.StatusWRFlushErr || q.peer.ent(q.nextIncoming()).came
		})
	}
	return false
}

// mayLose reports whether the requests of q are not sent again: its connection has
// stopped, or will stop because of unreadable memory.
func (q *qp) mayLose() bool {
	return q.buffer == nil && (q.gone || q.lost() || !q.sends() || q.failsOfMedia())
}

var endingNames = [...]string{"the run ends", "a fault strikes yet"}

// Abandon stops the run without an outcome. A task calls it when it has looked for something in vain and
// would look again: other runs cover the cases in which it looks later. The task must return immediately.
func (w *World) Abandon() { w.abandoned = true }

// Point lets others run here although the task has done nothing to which they could
// react: a crash can come between two steps that only look.
func (w *World) Point() {
	if w.byTask("a point") == nil {
		w.cur.wait(op{kind: opRun})
	}
}

// byTask fails the run unless a task is running: only tasks may do what the caller is about to do.
func (w *World) byTask(what string) error {
	if w.cur != nil {
		return nil
	}
	err := fmt.Errorf("%w: %s", ErrNobodyInjects, what)
	w.Fail(err)
	return err
}

// Inject makes a fault happen now, whatever the budget. A task calls it. If the fault
// stops the task's own host, Inject does not return.
func (w *World) Inject(k faults.Kind, hosts ...string) error {
	if err := w.byTask("inject " + k.String()); err != nil {
		return err
	}
	w.guard()
	if len(hosts) != k.Arity() || k.Arity() == 0 {
		return fmt.Errorf("sim: inject %v: %w: it takes %d hosts, got %d", k, ErrConfig, k.Arity(), len(hosts))
	}
	at := [2]int{-1, -1}
	for i, name := range hosts {
		if at[i] = slices.Index(w.places, name); at[i] < 0 || at[i] >= len(w.nodes) && !cutsOff(k) {
			return fmt.Errorf("sim: inject %v: %w: no host %q", k, ErrConfig, name)
		}
	}
	if at[1] >= 0 && at[1] < at[0] {
		at[0], at[1] = at[1], at[0]
	}
	if at[0] >= len(w.nodes) {
		return fmt.Errorf("sim: inject %v: %w: there is no link between two services", k, ErrConfig)
	}
	if (k == faults.Power || k == faults.Revoke || k == faults.Timeout) && !w.cfg.Linger && !w.announced(k, at[0]) {
		err := fmt.Errorf("%w: put %v(%s) into Config.Injects", ErrInjects, k, hosts[0])
		w.Fail(err) // even if the task ignores it
		return err
	}
	t := w.cur
	t.others()      // others may have reacted to the task's earlier actions, and a crash now loses the reactions: see serving
	w.touchAll()    // others may also change what the next look finds
	t.looked = true // whether the fault changes anything can be observed
	if !w.injectable(k, at[0], at[1]) {
		return nil // its host is down, or the fault would change nothing
	}
	w.strike(k, at[0], at[1])
	t.reach()
	if !t.h.alive {
		w.endTask(t)
		t.co.yield() // permanently
	}
	return nil
}

// injectable reports whether a fault of kind k makes a difference to host a, or to the link from a to b.
func (w *World) injectable(k faults.Kind, a, b int) bool {
	n := w.nodes[a]
	switch {
	case cutsOff(k): // a link is cut even if a host is down
		return true
	case k == faults.Break: // even a connection on which all requests have completed: no code may know that yet
		return slices.ContainsFunc(w.qps, func(q *qp) bool { return q.between(a, b) && q.state == verbs.StateRTS && !q.gone && q.h.alive })
	case b >= 0:
		return w.pairApplies(k, a, b)
	case k == faults.Crash || k == faults.Power:
		return n.up && n.cur != nil
	}
	return w.faultApplies(k, n)
}

// Heal makes a cut link work again.
func (w *World) Heal(a, b string) {
	if w.byTask("heal "+a+","+b) != nil {
		return
	}
	w.cur.others()
	w.touchAll()
	w.cur.looked = true
	for _, c := range w.cuts {
		x, y := w.places[c.a], w.places[c.b]
		if x == a && y == b || x == b && y == a {
			w.healLink(c.a, c.b)
			w.cur.reach()
			return
		}
	}
}

// gaveUp decides which queue pairs have run out of retries by the time that their link heals. In
// eager mode that is a step of its own. A queue pair that counted a request as lost while the link
// seemed cut for good has run out for certain: otherwise it would send the request again now.
func (w *World) gaveUp(a, b int) {
	for _, q := range w.qps {
		if q.between(a, b) {
			q.failsBy(isRetry, q.forsaken && !q.broken)
			q.forsaken = false
		}
	}
}

// Alive reports whether the machine is up.
func (h *Host) Alive() bool { return h.alive }

// Settle returns n bytes of a region of the host once everything that will land there has landed. AtEnd calls it.
func (h *Host) Settle(mem any, off, n int) []byte {
	r := mem.(*region)
	r.check(off, n)
	w := h.w
	for _, q := range w.qps {
		for q.h == r.h && r.awaits && w.machine.respondsUnseen() {
			if i := q.brings(r, off, n); i < 0 || !q.respond(true, i) {
				break
			}
		}
	}
	w.findOut(r, off, n, false)
	w.expire()
	for at := off; at < off+n; {
		end := w.pieceEnd(r, at, off+n)
		w.settle(r, at, end-at)
		at = end
	}
	out := make([]byte, n)
	copy(out, r.data[off:])
	return out
}

// expire freezes elements that may never arrive because their connection has stopped. The fate
// of the elements around an Atomic depends on whether it arrived, so that is decided first.
func (w *World) expire() {
	for _, q := range w.qps {
		if !q.mayLose() {
			continue
		}
		from := 0
		if !q.gone && !q.lost() && q.sends() { // only a refusal can stop q: everything before the refused request has arrived
			from = q.unreadable()
		}
		w.expireAtomics(q, from)
		for all := sweep(&q.elems); all.next(); {
			if e := all.e; e.changes() && e.wr >= from && !e.frozen && !e.acked && w.canLand(e) {
				if w.freeze(e); e.over() {
					all.again()
				}
			}
		}
	}
}

// expireAtomics decides which Atomics have arrived, from request n on: no packet overtakes an Atomic.
func (w *World) expireAtomics(q *qp, n int) {
	for all := sweep(&q.elems); all.next(); {
		e := all.e
		if e.kind != elemAtomic || e.wr < n || e.frozen || e.acked || !w.canLand(e) {
			continue
		}
		switch {
		case w.hasCome(e):
			w.arrive(q, e.wr+1)
		case len(q.elems) == 1: // nothing depends on it
		case w.choose(ChooseCutoff, 2, func(i int) string { return e.name() + cameNames[i] }) == 0:
			w.arrive(q, e.wr+1)
		default:
			w.neverCame(e)
			all.again()
		}
	}
}

// neverCame drops an Atomic that has not arrived, and everything behind it that is neither
// acknowledged nor frozen, except Writes that may have arrived before access was denied to it.
func (w *World) neverCame(e *elem) {
	e.q.limit = min(e.q.limit, e.wr)
	for j := len(e.q.elems) - 1; j >= 0; j-- {
		switch x := e.q.elems[j]; {
		case x != e && (!e.precedes(x) || x.acked || x.frozen):
		case x != e && x.past && x.kind == elemWrite:
			x.could = true
		default:
			w.discard(x)
		}
	}
}

var cameNames = [...]string{" has come", " has not come"}

// settle lands the elements that will land on [off, off+n) of r. It first widens the
// range to whole elements, since elements that share bytes land in some order. A frozen
// element landed before now or never will; the rest certainly lands.
func (w *World) settle(r *region, off, n int) {
	for all := sweep(&r.pend); all.next(); {
		if e := all.e; e.changes() && e.overlaps(off, n) && (e.off < off || e.off+e.n > off+n) && w.canLand(e) {
			lo := min(e.off, off)
			off, n = lo, max(e.off+e.n, off+n)-lo
			all.again()
		}
	}
	for {
		var can [32]*elem
		c := can[:0]
		for _, e := range r.pend {
			if e.changes() && e.overlaps(off, n) && w.canLand(e) {
				c = append(c, e)
			}
		}
		if len(c) == 0 {
			return
		}
		if e := unrivalled(c); e != nil {
			c = append(c[:0], e) // it matters whether it lands, not when
		}
		opts := len(c) + 1
		for _, e := range c {
			if e.acked && !e.struck() || !e.frozen && !e.overtook() { // data that was being placed when power failed may be lost although it was acknowledged
				opts = len(c)
			}
		}
		i := w.choose(ChooseOrder, opts, func(i int) string {
			if i == len(c) {
				return "nothing more"
			}
			return c[i].name() + " next"
		})
		if i < len(c) {
			w.land(c[i])
			continue
		}
		for _, e := range c {
			w.discard(e)
		}
	}
}

// unrivalled returns an element of c that shares no bytes with another, or nil.
func unrivalled(c []*elem) *elem {
	for _, e := range c {
		alone := true
		for _, x := range c {
			alone = alone && (x == e || !x.overlaps(e.off, e.n))
		}
		if alone {
			return e
		}
	}
	return nil
}
