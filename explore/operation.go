package explore

import (
	"fmt"

	"github.com/verbatim-rdma/verbatim/model"
)

// Operation is a client's request to a protocol and its result, for viewers.
type Operation struct {
	Client, Call string
	Result       string // empty: none arrived
	Begin, End   int64  // steps; End is -1 without a result
}

// Shows registers f, which returns the operations of a finished run. Only replays call
// it, so it need not be fast.
func (c *Case) Shows(f func() []Operation) { c.shows = append(c.shows, f) }

// Operations returns the operations of a history.
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
