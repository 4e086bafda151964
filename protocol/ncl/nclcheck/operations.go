package nclcheck

import (
	"fmt"
	"strings"

	"github.com/verbatim-rdma/verbatim/explore"
)

// told is an operation of the application, for those who draw a run.
type told struct {
	app        string
	life, num  int   // num is that of a write, and 0 of one that the model is not told of
	w          write // of size 0: a recovery
	data       []byte
	begin, end int64
	got        string // what a recovery returned
}

// begins notes that an operation begins, and returns its place.
func (r *run) begins(o told) int {
	o.app, o.life, o.begin, o.end = r.file.app, r.life, r.c.Step(), -1
	r.told = append(r.told, o)
	return len(r.told) - 1
}

// ends notes that operation i has ended.
func (r *run) ends(i int, got string) {
	r.told[i].end, r.told[i].got = r.c.Step(), got
}

// operations are those of a run in words.
func (a *app) operations() []explore.Operation {
	var out []explore.Operation
	for _, o := range a.told {
		x := explore.Operation{Client: fmt.Sprintf("%s, life %d", o.app, o.life), Begin: o.begin, End: o.end, Call: "recover the file"}
		writes := o.w.size > 0
		switch {
		case o.num > 0:
			x.Call = fmt.Sprintf("write %d: %s at %d", o.num, runsOf(string(o.data)), o.w.off)
		case writes:
			x.Call = fmt.Sprintf("write after its file was taken: %s at %d", runsOf(string(o.data)), o.w.off)
		}
		switch {
		case o.end < 0:
		case writes:
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
