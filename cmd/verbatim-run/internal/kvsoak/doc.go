// Package kvsoak kills the processes of Sift, again and again, while clients put, get and delete, and checks that the
// store keeps its promises.
//
// It starts three memory nodes and three CPU nodes, as processes of `verbatim-run`, and has the clients in this process.
// Each round has a fault, or some of them together: the CPU node that leads is killed, or stopped for a while and then
// goes on, or is cut off from memory nodes; a memory node is killed, which loses its memory, or stopped. At the end of a
// round everything that was killed is started again, everything else continues, and the round waits until all memory
// nodes have joined. At most one memory node at a time lacks its memory, so nothing may be lost.
//
// Two things are compared. Each client puts keys of its own, once each: every acknowledged put must be there after
// each round (of the latest) and at the end (all). And all clients work on a few common keys: the operations of a round
// must be linearizable, with those of unknown outcome as ones that may take effect at any time; what is known of the keys
// at the end of one round is where the next one begins.
//
// config.go has the settings, plan.go the faults, group.go the processes and who leads, client.go the clients,
// compare.go the comparisons, run.go the rounds.
package kvsoak
