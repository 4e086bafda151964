package sim

import (
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// exercisedBy returns the promises of a card that posting wr relies on.
func exercisedBy(wr *verbs.SendWR) faults.Exercise {
	var x faults.Exercise
	switch {
	case wr.Op == verbs.OpRead:
		x = faults.Reads
	case wr.Op.IsAtomic():
		x = faults.Atomics
	case wr.Op == verbs.OpWrite || wr.Op == verbs.OpWriteImm:
		x = faults.Writes
	}
	if wr.Flags&verbs.Fence != 0 {
		x |= faults.Fences
	}
	return x
}
