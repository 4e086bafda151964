package explore

import (
	"fmt"

	"github.com/verbatim-rdma/verbatim/model"
)

// Operation is what a client asked of a protocol and what it was told, for those
// who draw a run.
type Operation struct {
	Client, Call string
	Result       string // empty: none came
	Begin, End   int64  // steps; End is -1 if no result came
}

// Shows registers f to tell the operations of a run that has ended. Only replays
// call it, so it need not be fast.
func (c *Case) Shows(f func() []Operation) { c.shows = append(c.shows, f) }

// Operations are those of a history.
func Operations(h *model.History) []Operation {
	var out []Operation
	for _, o := range h.Operations() {
		x := Operation{Client: fmt.Sprint("client ", o.ClientId), Call: fmt.Sprint(o.Input), End: -1}
		if at, ok := o.Metadata.(model.Span); ok {
			x.Begin = at.Call
			if at.Return != model.Never {
				x.Result, x.End = fmt.Sprint(o.Output), at.Return
			}
		}
		out = append(out, x)
	}
	return out
}
