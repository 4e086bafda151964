package sim

import (
	"fmt"
	"slices"

	"github.com/verbatim-rdma/verbatim/faults"
)

// EventName is a stable name of ev: "app.0/main", "crash(peer1)", "restart(app)".
func (w *World) EventName(ev *Event) string { return w.ActorName(ev.Actor) }

// ActorName is a stable name of x.
func (w *World) ActorName(x Actor) string {
	n := w.nodes[x.a()].spec.Name
	switch x.kind() {
	case actTask:
		for _, t := range w.tasks {
			if t.actor() == x {
				return fmt.Sprintf("%s.%d/%s%s", n, x.life(), t.name, ordText(x.b()))
			}
		}
		return fmt.Sprintf("%s.%d/task%d", n, x.life(), x.b())
	case actTimer:
		return "timer(" + w.ActorName(actor(actTask, x.life(), x.a(), x.b())) + ")"
	case actRestart:
		return "restart(" + n + ")"
	case actHeal:
		return "heal(" + n + "," + w.nodes[x.b()].spec.Name + ")"
	case actFault:
		k := faults.Kind(x.life()).String()
		if x.b()&twoHosts != 0 {
			return k + "(" + n + "," + w.nodes[x.b()&^twoHosts].spec.Name + ")"
		}
		return k + "(" + n + ")"
	case actWire:
		return fmt.Sprintf("wire%d", x.b())
	case actAck:
		return fmt.Sprintf("ack%d", x.b())
	case actFail:
		return fmt.Sprintf("fail(%s.%d#%d)", n, x.life(), x.b())
	}
	return fmt.Sprintf("actor%d", x)
}

func ordText(i int) string {
	if i == 0 {
		return ""
	}
	return itoa(i)
}

// Collide reports whether one of two enabled events can disable the other, as
// far as can be told before they happen: a fault and the tasks of its host, two
// faults of one rule, two tasks that want one mutex.
func (w *World) Collide(a, b *Event) bool {
	if a.Actor.Timer() || b.Actor.Timer() {
		return w.collideTimer(a, b)
	}
	if a.Actor.kind() != actFault {
		a, b = b, a
	}
	if a.Actor.kind() != actFault {
		return a.task != nil && b.task != nil && a.task.op.mutex != nil && a.task.op.mutex == b.task.op.mutex
	}
	if b.Actor.kind() == actFault {
		return w.shareRule(a, b) || a.a == b.a || a.b == b.a || a.a == b.b
	}
	if a.Actor.b()&twoHosts != 0 {
		return b.Actor.kind() == actHeal
	}
	return b.Actor.Node() == a.a && (b.task != nil || b.Actor.Restart())
}

func (w *World) shareRule(a, b *Event) bool {
	for _, i := range w.cands[a.rule].rules {
		if slices.Contains(w.cands[b.rule].rules, i) {
			return true
		}
	}
	return false
}

// Pending appends what ev is known to use if it happens later; the checker
// needs it for events that a finished run left undone.
func (w *World) Pending(ev *Event, out []Access) []Access {
	life := object(objLife, ev.Actor.Node(), 0)
	switch ev.Actor.kind() {
	case actFault:
		for _, i := range w.cands[ev.rule].rules {
			out = append(out, Access{object(objBudget, 0, i), Write})
		}
		if ev.Actor.b()&twoHosts != 0 {
			return append(out, Access{link(ev.a, ev.b), Write})
		}
		return append(out, Access{life, Write})
	case actHeal:
		return append(out, Access{link(ev.a, ev.b), Write})
	case actRestart:
		return append(out, Access{life, Write})
	case actTask, actTimer:
		out = append(out, Access{life, Read})
		if ev.Actor.Timer() {
			return w.timerUses(ev.task, out)
		}
		if ev.task.op.kind == opAccept {
			out = append(out, Access{object(objMail, ev.Actor.Node(), 0), Write})
		}
	}
	return out
}

// HostNames are the names of the hosts, by index.
func (w *World) HostNames() []string {
	out := make([]string, len(w.nodes))
	for i, n := range w.nodes {
		out[i] = n.spec.Name
	}
	return out
}

// Symmetric lists the indices of the interchangeable hosts.
func (w *World) Symmetric() []int { return w.sym }

// ForgetSymmetry makes the fingerprint keep interchangeable hosts apart.
func (w *World) ForgetSymmetry() {
	w.sym = w.sym[:0]
	for _, n := range w.nodes {
		n.sym = -1
	}
}

// name tells e apart from all others of its queue: decisions of a counterexample
// go by it.
func (e *elem) name() string {
	name := e.q.name() + "#" + itoa(e.wr) + "." + itoa(e.part)
	if e.sub > 0 {
		name += "." + itoa(e.sub)
	}
	return name
}
