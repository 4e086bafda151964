// Package kvsoak kills the processes of Sift, again and again, while clients put, get and delete, and checks that the
// store keeps its promises.
//
// It starts three memory nodes and three CPU nodes, as processes of `verbatim-run`; the clients run in this process.
// Each round has one or more faults: the CPU node that leads is killed, or stopped for a while, or cut off from memory
// nodes; a memory node is killed, which loses its memory, or stopped. At the end of a round all killed processes are
// started again and all stopped ones continue, and the round waits until all memory nodes have joined. At most one memory
// node at a time lacks its memory, so nothing may be lost.
//
// There are two comparisons. Each client puts its own keys, once each: the latest acknowledged puts must be present after
// each round, and all of them at the end. And all clients work on a few common keys: the operations of a round must be
// linearizable, where an operation with an unknown outcome may take effect at any time. A round begins with the known
// content of the keys at the end of the previous round.
//
// config.go has the settings, plan.go the faults, group.go the processes and the leader, client.go the clients,
// compare.go the comparisons, run.go the rounds.
package kvsoak
