package nclcheck

import (
	"fmt"
	"strings"

	"github.com/verbatim-rdma/verbatim/explore/scenario"
)

// told is an operation of the application, recorded for viewers.
type told struct {
	scenario.Entry
	app       string
	life, num int   // num is the number of a write; 0: the model does not include the write
	w         write // of size 0: a recovery
	data      []byte
}

// begins records that an operation begins.
func (r *run) begins(o told) *told {
	o.app, o.life = r.file.app, r.life
	o.Entry = r.app.told.Begin(client{o.app, o.life}, &o)
	return &o
}

// ends records the end of the operation. got is the result of a recovery.
func (o *told) ends(got string) { o.End(result{o, got}) }

type client struct {
	app  string
	life int
}

func (c client) String() string { return fmt.Sprintf("%s, life %d", c.app, c.life) }

func (o *told) String() string {
	switch {
	case o.num > 0:
		return fmt.Sprintf("write %d: %s at %d", o.num, runsOf(string(o.data)), o.w.off)
	case o.w.size > 0:
		return fmt.Sprintf("write after its file was taken: %s at %d", runsOf(string(o.data)), o.w.off)
	}
	return "recover the file"
}

type result struct {
	of  *told
	got string
}

func (x result) String() string {
	if x.of.w.size > 0 {
		return "acknowledged"
	}
	return "returns " + runsOf(x.got)
}

// maxRuns bounds the length of a description of a content.
const maxRuns = 12

// runsOf describes a content as runs of equal bytes.
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
