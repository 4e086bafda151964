package sim

import (
	"fmt"

	"github.com/verbatim-rdma/verbatim/faults"
)

// Actor names one source of steps: a task, a fault, a restart. At any moment an
// actor has at most one enabled step. The packed form is kind, life, host a,
// host b or the number of a task.
type Actor uint32

type actorKind uint8

const (
	actTask actorKind = iota + 1
	actRestart
	actHeal
	actFault
	actWire // eager mode: the wire and the card's placement of one QP
	actAck
	actFail  // late mode: a queue pair fails before its completion is polled
	actTimer // the timer of a task fires, and the task goes on
)

func actor(k actorKind, life, a, b int) Actor {
	return Actor(uint32(k)<<28 | uint32(life&0xff)<<20 | uint32(a&0x3f)<<14 | uint32(b&0x3fff))
}

func (x Actor) kind() actorKind { return actorKind(x >> 28) }
func (x Actor) life() int       { return int(x >> 20 & 0xff) }
func (x Actor) a() int          { return int(x >> 14 & 0x3f) }
func (x Actor) b() int          { return int(x & 0x3fff) }

// Kind says in a word what happens when the actor acts: "task", "restart", "heal",
// the name of a fault, "fail", or in eager mode "wire" and "ack".
func (x Actor) Kind() string {
	if x.kind() == actFault {
		return faults.Kind(x.life()).String()
	}
	return actorNames[x.kind()]
}

var actorNames = [...]string{actTask: "task", actRestart: "restart", actHeal: "heal", actWire: "wire", actAck: "ack", actFail: "fail", actTimer: "timer"}

// Node is the index of the host on which the actor acts.
func (x Actor) Node() int { return x.a() }

// Task is the life of its host in which a task runs, and its number there: 0 is
// the host's Main. It is not ok if x is neither a task nor the timer of one.
func (x Actor) Task() (life, number int, ok bool) { return x.life(), x.b(), x.runs() }

// runs reports whether a task runs when x acts.
func (x Actor) runs() bool { return x.kind() == actTask || x.kind() == actTimer }

// Timer reports whether x is the timer of a task.
func (x Actor) Timer() bool { return x.kind() == actTimer }

// Restart reports whether the actor starts a host anew.
func (x Actor) Restart() bool { return x.kind() == actRestart }

// Object names a part of the world that steps share.
type Object uint32

type objKind uint8

const (
	objHost   objKind = iota + 1 // the tasks of a host, and what only they can reach
	objLife                      // that a host lives
	objLink                      // the connections between two hosts
	objMem                       // one region of a host
	objMail                      // requests waiting at a host
	objReply                     // answers on the way to one gather
	objSvc                       // an atomic service
	objMutex                     // a mutex or condition of a host
	objBudget                    // what is left of one fault rule
	objAcks                      // acknowledgements of what changes one region
	objSpawn                     // tasks of a host
	objSleep                     // virtual time
	objKeys                      // the registrations of a host
	objChecks                    // what the scenario's checks remember
	objEnd                       // the end of the run
	objClock                     // the clock and the pending timers of a host
)

func object(k objKind, a, b int) Object {
	return Object(uint32(k)<<26 | uint32(a&0x3f)<<20 | uint32(b&0xfffff))
}

func (o Object) kind() objKind { return objKind(o >> 26) }
func (o Object) a() int        { return int(o >> 20 & 0x3f) }
func (o Object) b() int        { return int(o & 0xfffff) }

func link(a, b int) Object {
	if a > b {
		a, b = b, a
	}
	return object(objLink, a, b)
}

// Mode says how a step uses an object. Two uses conflict unless both are Reads
// or both are Adds: posting to a card's queue, or sending into a mailbox,
// commutes with another such step, and not with looking.
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
// host i. It is how facts about one state carry over to a symmetric one.
func (x Actor) Rename(perm []uint8) Actor {
	switch {
	case x.kind() == actFault && x.b()&twoHosts != 0:
		return faultActor(x.life(), int(perm[x.a()]), int(perm[x.b()&0x3f]))
	case x.kind() == actHeal:
		return heal(int(perm[x.a()]), int(perm[x.b()]))
	}
	return actor(x.kind(), x.life(), int(perm[x.a()]), x.b())
}

// twoHosts marks a fault that concerns a pair of hosts.
const twoHosts = 1 << 8

// faultActor is the actor of a fault of kind k; b < 0 if it concerns one host.
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

// Rename is as for Actor.
func (o Object) Rename(perm []uint8) Object {
	switch o.kind() {
	case objLink:
		return link(int(perm[o.a()]), int(perm[o.b()]))
	case objSvc, objBudget, objSleep, objEnd:
		return o
	case objChecks:
		if o.b() == 0 {
			return o // of all hosts
		}
	}
	return object(o.kind(), int(perm[o.a()]), o.b())
}

var objNames = [...]string{objHost: "host", objLife: "life", objLink: "link", objMem: "mem", objMail: "mail", objReply: "reply",
	objSvc: "svc", objMutex: "mutex", objBudget: "budget", objAcks: "acks", objSpawn: "spawn", objSleep: "sleep", objKeys: "keys", objChecks: "checks", objEnd: "end", objClock: "clock"}

func (o Object) String() string {
	return fmt.Sprintf("%s(%d,%d)", objNames[o.kind()], o.a(), o.b())
}

// Timer reports whether x is the use of virtual time by a timer that goes off when
// nothing else can happen: such a step comes after all before it.
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

// Kills reports whether x is a fault that ends the host of y.
func (x Actor) Kills(y Actor) bool {
	k := faults.Kind(x.life())
	return x.kind() == actFault && (k == faults.Crash || k == faults.Power) && x.a() == y.a()
}

// worldClock moves when nothing else can happen; allClocks is what is known of clocks
// that run apart.
func worldClock() Object { return object(objSleep, 0, 0) }
func allClocks() Object  { return object(objSleep, 1, 0) }
