// Package cluster is what the machines of a replicated system do beside the protocol: who is
// the one instance of an application, which machine has which name and address, who ends the
// sessions of dead processes, and what a process may still touch once its session is over. It
// is written against package host alone, so the checker runs it as it runs on machines.
//
// # Use
//
// One process is the coordinator: it runs [Serve]. A machine that serves others takes its name
// with [Hold], which enters its address; others find it with [AddressOf]. An application begins
// with [Start], which waits until the instance before is over, and then guards what it owns:
//
//	i, err := cluster.Start(h, cluster.InstanceConfig{Coord: c, Wait: 30 * time.Second,
//		Claim: func() (cluster.Right, error) { return ncl.Start(cfg) }})
//	...
//	log := i.Own(file) // refuses records once the session is over
//
// # Sessions
//
// Both a name and an instance rest on a session of package coord. A task of the host asks for it
// from time to time: that keeps the session alive at a [Serve], and tells the process when it is
// over. A client of etcd keeps its sessions alive by itself; then the task only asks.
//
// # What is promised
//
// The controller has at most one session for an instance, and for a name. A process learns late
// that its own is over: it may have been stopped in between, or cut off. Three questions differ in
// what they are worth:
//
//   - [Instance.Check] costs nothing and says what the last heartbeat found. It stops a process
//     that has nothing else to learn it from, and protects nothing.
//   - [Instance.Ask] has an answer of the controller: what begins after the session is over does
//     not happen. Between the answer and the deed there is a moment in which the session can end,
//     so a deed that has begun before may come after the next instance has started. Without an
//     answer, because the controller is gone, it is Check.
//   - A fence is at the thing that is written. A recovery of NCL takes a file away from whoever
//     wrote it before, so nothing that the earlier instance records is acknowledged and lost. This
//     is the only one that keeps data safe; the other two make errors early and clear.
//
// A directory has no fence, so for a mount Ask is all there is. Nothing here rests on clocks:
// a session may end at any moment, and the scenarios in clustercheck let it.
//
// # A controller that comes back empty
//
// A coordinator keeps all in memory. One that is started again knows no session, so instances
// find theirs over and end, and machines take their names again. The numbers of its sessions are
// larger than any before ([ServeConfig.After]); otherwise a process that was stopped could take
// the session of another one for its own.
//
// # Where things are
//
// session.go has how long sessions are and how often to ask, instance.go the one instance of an
// application, own.go what it owns, name.go the names of machines, book.go their addresses, and
// serve.go the coordinator.
package cluster
