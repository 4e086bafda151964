// Package verbstest is a suite of cases that every implementation of package verbs
// has to pass, as testing/fstest is for file systems: each verb and flag, order,
// each error that two connected ends can provoke of each other, each transition of a
// queue pair, revocation, receives, waiting, and load.
//
//	func TestVerbs(t *testing.T) { verbstest.Run(t, backend) }
//
// A case asks for what is promised on every card, no more. That a Write's
// completion has come says nothing of its bytes, so no case looks for them before a
// Read of the same queue pair or a receive has said that they are there. The
// simulator therefore passes under each of its profiles and for every schedule, and
// a card passes however it times things.
//
// # Backends
//
// A [Backend] makes a [Site]: hosts with a card each. A case is a script. It runs
// what belongs to a host there, one step after the other unless it says otherwise
// (T.together), so that a simulator knows who does what. What a device cannot do is
// skipped with the device's own words. Where it is known to leave the
// specification, the backend says so in [Backend.Differs], and docs/fidelity.md
// says who is right.
//
// # Where things are
//
// t.go is what a case is given, end.go one end of a connection. The cases are in
// files by theme: verb.go, order.go, errors.go, qpstate.go, memory.go,
// lifetime.go, receive.go, wait.go, queue.go, cut.go and load.go.
package verbstest
