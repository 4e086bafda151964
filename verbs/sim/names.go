package sim

import (
	"fmt"

	"github.com/verbatim-rdma/verbatim/faults"
)

// EventName returns a stable name of ev: "app.0/main", "crash(peer1)", "restart(app)".
func (w *World) EventName(ev *Event) string { return w.ActorName(ev.Actor) }

// ActorName returns a stable name of x.
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
		return "heal(" + n + "," + w.places[x.b()] + ")"
	case actFault:
		k := faults.Kind(x.life()).String()
		if x.b()&twoHosts != 0 {
			return k + "(" + n + "," + w.places[x.b()&^twoHosts] + ")"
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

// HostNames returns the names of the hosts, by index.
func (w *World) HostNames() []string {
	out := make([]string, len(w.nodes))
	for i, n := range w.nodes {
		out[i] = n.spec.Name
	}
	return out
}

// Symmetric lists the indices of the interchangeable hosts.
func (w *World) Symmetric() []int { return w.sym }

// ForgetSymmetry makes the fingerprint distinguish interchangeable hosts.
func (w *World) ForgetSymmetry() {
	w.sym = w.sym[:0]
	for _, n := range w.nodes {
		n.sym = -1
	}
}

// name identifies e among all elements of its queue. The decisions of a counterexample refer to it.
func (e *elem) name() string {
	name := e.q.name() + "#" + itoa(e.wr) + "." + itoa(e.part)
	if e.sub > 0 {
		name += "." + itoa(e.sub)
	}
	return name
}
