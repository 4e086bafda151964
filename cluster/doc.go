// Package cluster manages the machines of a replicated system, apart from the protocol.
// It ensures that an application has one instance, gives machines names and addresses,
// expires the sessions of dead processes, and fences a process whose session has
// expired. It is written against package host alone, so the checker and real machines
// run the same code.
//
// # Use
//
// One process is the coordinator: it runs [Serve]. A machine that serves others claims
// its name with [Hold], which records its address; others look it up with [AddressOf].
// An application calls [Start], which waits until the previous instance is gone, and
// then guards what it owns:
//
//	i, err := cluster.Start(h, cluster.InstanceConfig{Coord: c, Wait: 30 * time.Second,
//		Claim: func() (cluster.Right, error) { return ncl.Start(cfg) }})
//	...
//	log := i.Own(file) // refuses records once the session is over
//
// # Sessions
//
// A name and an instance each depend on a session of package coord. A task of the host
// asks about the session periodically. This keeps the session alive at a coordinator
// that runs [Serve], and detects its expiry. A client of etcd keeps its sessions alive
// by itself; then the task only asks.
//
// # Guarantees
//
// The controller has at most one session for an instance, and for a name. A process
// learns late that its own has expired: it may have been stopped in between, or
// partitioned. Three checks differ in strength:
//
//   - [Instance.Check] costs nothing and returns the result of the last heartbeat. It stops a
//     process that has no other way to learn of the expiry, but it protects no data.
//   - [Instance.Ask] asks the controller: an operation that begins after the session has
//     expired is not carried out. The session can expire between the answer and the
//     operation, so an operation that began before may complete after the next instance has
//     started. If the controller does not answer, Ask is Check.
//   - A fence protects the data itself. A recovery of NCL revokes the access of earlier
//     writers of the file, so no record of an earlier instance is acknowledged and then
//     lost. Only this keeps data safe; the other two make errors early and clear.
//
// A directory has no fence, so for a mount Ask is the strongest check. Nothing here
// depends on clocks: a session may expire at any moment, as in the scenarios of
// clustercheck.
//
// # A controller that restarts empty
//
// A coordinator keeps everything in memory. After a restart it knows no session, so
// instances find theirs expired and stop, and machines claim their names again. Its
// session numbers are larger than all earlier ones ([ServeConfig.After]); otherwise a
// stopped process could mistake another's session for its own.
//
// # Where things are
//
// session.go has the length of sessions and how often to ask, instance.go the single
// instance of an application, own.go what it owns, name.go the names of machines,
// book.go their addresses, and serve.go the coordinator.
package cluster
