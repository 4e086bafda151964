package nclcheck

import (
	"fmt"
	"strings"

	"github.com/verbatim-rdma/verbatim/explore"
)

// told is an operation of the application, for those who draw a run.
type told struct {
	life, num  int // num is that of a write; 0 is a recovery
	w          write
	data       []byte
	begin, end int64
	got        string // what a recovery returned
}

// begins notes that an operation begins.
func (a *app) begins(o told) {
	o.life, o.begin, o.end = a.life, a.c.Step(), -1
	a.told = append(a.told, o)
}

// ends notes that the last operation that began has ended.
func (a *app) ends(got string) {
	o := &a.told[len(a.told)-1]
	o.end, o.got = a.c.Step(), got
}

// operations are those of a run in words.
func (a *app) operations() []explore.Operation {
	var out []explore.Operation
	for _, o := range a.told {
		x := explore.Operation{Client: fmt.Sprintf("app, life %d", o.life), Begin: o.begin, End: o.end, Call: "recover the file"}
		if o.num > 0 {
			x.Call = fmt.Sprintf("write %d: %s at %d", o.num, runsOf(string(o.data)), o.w.off)
		}
		switch {
		case o.end < 0:
		case o.num > 0:
			x.Result = "acknowledged"
		default:
			x.Result = "returns " + runsOf(o.got)
		}
		out = append(out, x)
	}
	return out
}

// maxRuns bounds how much of a file's content is told.
const maxRuns = 12

// runsOf tells a content as runs of equal bytes.
func runsOf(s string) string {
	var parts []string
	for len(s) > 0 && len(parts) < maxRuns {
		n := 1
		for n < len(s) && s[n] == s[0] {
			n++
		}
		parts, s = append(parts, fmt.Sprintf("%d × %q", n, s[0])), s[n:]
	}
	if len(s) > 0 {
		parts = append(parts, "…")
	}
	return strings.Join(parts, ", ")
}
