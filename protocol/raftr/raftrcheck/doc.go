// Package raftrcheck checks Raft-R: worlds with three nodes, and its promises as predicates. Each
// scenario says which of them it checks.
//
//	R1  a term has one leader
//	R2  an acknowledged write is in what every later leader reads
//	R3  so is it in what a leader reads that is being replaced: no read is stale
//	R4  a node that restarts keeps what it has promised, or takes no part
//	R5  a write that a client repeats is carried out once
//	R6  with at most F failures a node that nothing keeps from it is elected, and every operation of a
//	    leader that is not replaced succeeds
//
// R2, R3 and R5 are one check: one key-value store (model.KV) must explain all answers.
//
// The nodes are not interchangeable: their numbers are in the messages, and the library visits them in
// that order. So no node is marked Symmetric.
package raftrcheck
