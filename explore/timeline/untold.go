package timeline

import (
	"strings"

	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// untold returns the server events that are shown because no caller's row reports them,
// with their texts: a rejection that its caller did not see, and a request that its
// server left unanswered when it went on to the next.
func untold(events []sim.TraceEvent) map[int]string {
	out, ends := map[int]string{}, map[string]map[string]int{"answer": {}, "answered": {}}
	last := map[life]int{} // the last request of a server
	for i := range events {
		e := &events[i]
		if byCall := ends[e.Kind]; byCall != nil {
			byCall[e.Call] = i
		} else if e.Kind == "request" {
			last[life{e.Host, e.Life}] = i
		}
	}
	for i := range events {
		e := &events[i]
		_, answered := ends["answer"][e.Call]
		_, seen := ends["answered"][e.Call]
		what, reason, rejects := strings.Cut(e.Text, ": ")
		switch {
		case e.Kind == "answer" && rejects && !seen:
			out[i] = "rejects " + service(what, " of ") + ": " + reason
		case e.Kind == "request" && !answered && i < last[life{e.Host, e.Life}]:
			out[i] = "never answers " + service(e.Text, " from ")
		}
	}
	return out
}

// life is one life of a host.
type life struct {
	host string
	n    int
}

// service returns the second word of a text.
func service(text, before string) string {
	text, _, _ = strings.Cut(text, before)
	_, name, _ := strings.Cut(text, " ")
	return name
}
