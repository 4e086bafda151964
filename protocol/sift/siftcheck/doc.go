// Package siftcheck checks Sift: worlds with CPU nodes and memory nodes, and the promises
// that specification and paper make, as predicates.
//
//	P1  a term has at most one coordinator
//	P2  nothing that an earlier coordinator has posted changes a memory node after a later
//	    one has read its log
//	P3  an acknowledged write is in what every later coordinator reads
//	P4  the memory is linearizable, and lists of writes are atomic
//	P5  so are the reads of a coordinator that is being replaced
//	P6  the logs and the memories agree when a coordinator begins to serve
//	P9  no slot of the log is used again before its entry is applied
//	P12 with at most F failures every operation succeeds
//
// Each scenario says which of them it checks. P3, P4, P5 and P9 are one check: the answers
// of all coordinators must be those of one memory ([model.Memory]).
package siftcheck

import "github.com/verbatim-rdma/verbatim/model"

var _ model.Memory
