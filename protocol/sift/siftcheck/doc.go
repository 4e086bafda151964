// Package siftcheck checks Sift: worlds with CPU nodes and memory nodes, and the promises of
// the paper as predicates. Each scenario says which of them it checks.
//
//	P1  a term has at most one coordinator (3.1)
//	P2  nothing of an earlier coordinator changes a memory node after a later one has read
//	    its log (3.2)
//	P3  an acknowledged write is in what every later coordinator reads (3.3.2, 3.4.1)
//	P4  the memory is linearizable, and lists of writes are atomic (3.3)
//	P5  so are the reads of a coordinator that is being replaced (3.2)
//	P6  logs and memories agree when a coordinator begins to serve (3.4.1)
//	P7  a memory node that has come back has what the others have, and reads do not wait for
//	    its copy (3.4.2)
//	P8  the key-value store is linearizable, across changes of the coordinator (4)
//	P9  no slot of a log is used again before its entry is applied
//	P10 what is in the cache and not applied stays there (4.2)
//	P11 with codes, F+1 chunks give a block, and as many failures are tolerated (5.1)
//	P13 groups that share backups are independent, and a backup serves one of them (5.2)
//	P12 with at most F failures every operation succeeds (3.1, 3.4)
//
// P3, P4, P5 and P9 are one check: one memory (model.Memory) must explain
// the answers of all coordinators. In the same way model.KV must explain those of the key-value
// store, whose scenarios begin with kv: kvscenarios.go has those on memory nodes, and kvalone.go those
// on a memory that is a service, which does what Sift promises.
package siftcheck
