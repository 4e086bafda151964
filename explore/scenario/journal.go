package scenario

import (
	"fmt"

	"github.com/verbatim-rdma/verbatim/explore"
)

// Journal keeps operations for viewers only: it is not part of what the checks
// remember. It is for checks without a [Recorder], which keeps its own.
//
// It formats its values, by fmt.Sprint, only when a run is drawn.
type Journal struct {
	k       *Kit
	entries []entry
}

type entry struct {
	client, call, result any
	begin, end           int64
}

// Journal returns a new journal.
func (k *Kit) Journal() *Journal {
	j := &Journal{k: k}
	k.OnReset(j.reset)
	k.Shows(j.operations)
	return j
}

func (j *Journal) reset() {
	clear(j.entries)
	j.entries = j.entries[:0]
}

// Entry is an operation in a journal.
type Entry struct {
	j *Journal
	i int
}

// Begin records that a client starts a call now.
func (j *Journal) Begin(client, call any) Entry {
	j.entries = append(j.entries, entry{client: client, call: call, begin: j.k.Step(), end: -1})
	return Entry{j, len(j.entries) - 1}
}

// End records the result. A call without End has no result.
func (e Entry) End(result any) {
	x := &e.j.entries[e.i]
	x.result, x.end = result, e.j.k.Step()
}

func (j *Journal) operations() []explore.Operation {
	var out []explore.Operation
	for _, x := range j.entries {
		o := explore.Operation{Client: fmt.Sprint(x.client), Call: fmt.Sprint(x.call), Begin: x.begin, End: x.end}
		if x.end >= 0 {
			o.Result = fmt.Sprint(x.result)
		}
		out = append(out, o)
	}
	return out
}
