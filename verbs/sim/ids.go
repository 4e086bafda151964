package sim

import (
	"fmt"

	"github.com/verbatim-rdma/verbatim/faults"
)

// Actor names one source of steps: a task, a fault, a restart. At any moment an actor has at most one enabled
// step. The packed form holds, from the lowest bits on, kind, host a, life, and host b or the number of a task.
// A value that does not fit its field causes a [LimitError] where it is made, so two actors never share a name.
type Actor uint64

type actorKind uint8

const (
	actTask actorKind = iota + 1
	actRestart
	actHeal
	actFault
	actWire // eager mode: the wire and the card's placement of one QP
	actAck
	actFail  // late mode: a queue pair fails before its completion is polled
	actTimer // the timer of a task fires, and the task continues
)

// The limits of the numbers in a name.
const (
	hostBits = 8
	lifeBits = 20
	ordBits  = 24 // tasks, regions and queue pairs of one life of a host
	keyBits  = 20 // registrations of one life: its keys begin with its number, so that none of them survives it

	maxHosts = 1<<hostBits - 1
	maxLives = 1 << lifeBits
	maxOrd   = 1 << ordBits
)

func actor(k actorKind, life, a, b int) Actor {
	return Actor(k) | Actor(a)<<8 | Actor(life)<<16 | Actor(b)<<(16+lifeBits)
}

func (x Actor) kind() actorKind { return actorKind(x) }
func (x Actor) a() int          { return int(x >> 8 & maxHosts) }
func (x Actor) life() int       { return int(x >> 16 & (maxLives - 1)) }
func (x Actor) b() int          { return int(x >> (16 + lifeBits)) }

// Kind returns one word for what happens when the actor acts: "task", "restart", "heal",
// the name of a fault, "fail", or in eager mode "wire" and "ack".
func (x Actor) Kind() string {
	if x.kind() == actFault {
		return faults.Kind(x.life()).String()
	}
	return actorNames[x.kind()]
}

var actorNames = [...]string{actTask: "task", actRestart: "restart", actHeal: "heal", actWire: "wire", actAck: "ack", actFail: "fail", actTimer: "timer"}

// Node returns the index of the host on which the actor acts.
func (x Actor) Node() int { return x.a() }

// Task returns the life of its host in which a task runs, and its number there; 0 is the
// host's Main. ok is false if x is neither a task nor the timer of one.
func (x Actor) Task() (life, number int, ok bool) { return x.life(), x.b(), x.runs() }

// runs reports whether a task runs when x acts.
func (x Actor) runs() bool { return x.kind() == actTask || x.kind() == actTimer }

// Timer reports whether x is the timer of a task.
func (x Actor) Timer() bool { return x.kind() == actTimer }

// Restart reports whether the actor restarts a host.
func (x Actor) Restart() bool { return x.kind() == actRestart }

// Object names a part of the world that steps share. It is packed like an Actor.
type Object uint64

type objKind uint8

const (
	objHost   objKind = iota + 1 // the tasks of a host, and everything that only they can reach
	objLife                      // whether a host is up
	objLink                      // the connections between two hosts
	objMem                       // one region of a host
	objMail                      // requests waiting at a host
	objReply                     // answers on the way to one gather
	objSvc                       // an atomic service
	objMutex                     // a mutex or condition of a host
	objBudget                    // the remaining budget of one fault rule
	objAcks                      // acknowledgements of changes of one region
	objSpawn                     // tasks of a host
	objSleep                     // virtual time
	objKeys                      // the registrations of a host
	objChecks                    // the memory of the scenario's checks
	objEnd                       // the end of the run
	objClock                     // the clock and the pending timers of a host
	objLast                      // which hosts have ended for good: the run ends with the last of them
)

func object(k objKind, a, b int) Object { return Object(k) | Object(a)<<8 | Object(b)<<16 }

func (o Object) kind() objKind { return objKind(o) }
func (o Object) a() int        { return int(o >> 8 & maxHosts) }
func (o Object) b() int        { return int(o >> 16) }

// ofLife numbers the objects of all lives of a host.
func ofLife(life, ord int) int { return life<<ordBits | ord }

func link(a, b int) Object {
	if a > b {
		a, b = b, a
	}
	return object(objLink, a, b)
}

// Mode is how a step uses an object. Two uses conflict unless both are Reads or both are Adds: a post
// to a card's queue, or a send into a mailbox, commutes with another such step, but not with a look.
type Mode uint8

// The modes of access.
const (
	Read Mode = iota
	Add
	Write
)

// Access is one use of one object by a step.
type Access struct {
	Obj  Object
	Mode Mode
}

// Conflicts reports whether the order of two uses can matter.
func (x Access) Conflicts(y Access) bool {
	return x.Obj == y.Obj && (x.Mode != y.Mode || x.Mode == Write)
}

// Rename returns x with the hosts renamed by perm; perm[i] is the new index of
// host i. It transfers facts about one state to a symmetric one.
func (x Actor) Rename(perm []uint8) Actor {
	switch {
	case x.kind() == actFault && x.b()&twoHosts != 0:
		return faultActor(x.life(), renamed(perm, x.a()), renamed(perm, x.b()&^twoHosts))
	case x.kind() == actHeal:
		return heal(renamed(perm, x.a()), renamed(perm, x.b()))
	}
	return actor(x.kind(), x.life(), int(perm[x.a()]), x.b())
}

// renamed returns the new index of host i. Services come after all hosts, and keep their names.
func renamed(perm []uint8, i int) int {
	if i < len(perm) {
		return int(perm[i])
	}
	return i
}

// twoHosts marks a fault that concerns a pair of hosts.
const twoHosts = 1 << hostBits

// faultActor returns the actor of a fault of kind k; b is negative if it concerns one host.
func faultActor(k, a, b int) Actor {
	if b < 0 {
		return actor(actFault, k, a, 0)
	}
	if a > b {
		a, b = b, a
	}
	return actor(actFault, k, a, b|twoHosts)
}

func heal(a, b int) Actor {
	if a > b {
		a, b = b, a
	}
	return actor(actHeal, 0, a, b)
}

var objNames = [...]string{objHost: "host", objLife: "life", objLink: "link", objMem: "mem", objMail: "mail", objReply: "reply",
	objSvc: "svc", objMutex: "mutex", objBudget: "budget", objAcks: "acks", objSpawn: "spawn", objSleep: "sleep", objKeys: "keys", objChecks: "checks", objEnd: "end", objClock: "clock", objLast: "last"}

func (o Object) String() string {
	return fmt.Sprintf("%s(%d,%d)", objNames[o.kind()], o.a(), o.b())
}

// Timer reports whether x is the use of virtual time by a timer that fires when nothing
// else can happen: such a step cannot move before an earlier one.
func (x Access) Timer() bool { return x.Obj == worldClock() && x.Mode == Write }

// Everything reports whether x conflicts with all other steps: the step happens only when
// nothing else can, or nothing happens after it.
func (x Access) Everything() bool { return x.Timer() || x.Obj.kind() == objEnd }

// Dependent reports whether the order of two steps with these footprints can matter.
func Dependent(a, b []Access) bool {
	for _, x := range a {
		for _, y := range b {
			if x.Conflicts(y) || x.Everything() || y.Everything() {
				return true
			}
		}
	}
	return false
}

// Kills reports whether x is a fault that kills the host of y.
func (x Actor) Kills(y Actor) bool {
	k := faults.Kind(x.life())
	return x.kind() == actFault && (k == faults.Crash || k == faults.Power) && x.a() == y.a()
}

// worldClock moves when nothing else can happen; allClocks stands for the bounds on clocks that run apart.
func worldClock() Object { return object(objSleep, 0, 0) }
func allClocks() Object  { return object(objSleep, 1, 0) }
