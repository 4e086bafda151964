// Package raftrcheck checks Raft-R: it has worlds with three nodes, and the promises of Raft-R as
// predicates. Each scenario names the promises that it checks.
//
//	R1  a term has one leader
//	R2  every later leader reads an acknowledged write
//	R3  a leader that is being replaced reads it too: no read is stale
//	R4  a node that restarts keeps its vote and its log, or takes no part
//	R5  a write that a client repeats is carried out once
//	R6  with at most F failures a node that can reach a majority, and has no rival, is elected, and every
//	    operation of a leader that is not replaced succeeds
//
// R2, R3 and R5 are one check: one key-value store (model.KV) must explain all answers.
//
// The nodes are not interchangeable: their numbers are in the messages, and the library visits them in
// that order. So no node is marked Symmetric.
package raftrcheck
