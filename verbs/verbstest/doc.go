// Package verbstest is a suite of cases that every implementation of package verbs must
// pass, like testing/fstest for file systems: each verb and flag, order, each error
// that two connected ends can provoke, each transition of a queue pair, revocation,
// receives, waiting, and load.
//
//	func TestVerbs(t *testing.T) { verbstest.Run(t, backend) }
//
// A case requires what every card promises, no more. The completion of a Write says
// nothing about its bytes, so no case looks for them before a Read of the same queue
// pair or a receive has confirmed that they are there. Therefore the simulator passes
// under each of its profiles and for every schedule, and a card passes with any timing.
//
// # Backends
//
// A [Backend] makes a [Site]: hosts with a card each. A case is a script. It runs steps
// on hosts, one after another unless it says otherwise (T.together), so that a
// simulator knows which host acts. Operations that a device lacks are skipped with the
// device's own error. Known deviations from the specification are listed in
// [Backend.Differs], and docs/fidelity.md explains which side is right.
//
// # Where things are
//
// t.go is the interface of a case, end.go one end of a connection. The cases are in
// files by theme: verb.go, order.go, errors.go, qpstate.go, memory.go, lifetime.go,
// receive.go, wait.go, queue.go, cut.go and load.go.
package verbstest
