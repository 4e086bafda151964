package siftcheck

import (
	"bytes"
	"fmt"

	"github.com/verbatim-rdma/verbatim/protocol/sift"
)

// agree checks P6: the nodes have the same log and the same memory.
func (r *run) agree() ([]sift.Image, bool) {
	images, err := r.c.Inspect()
	if err != nil {
		return nil, r.tolerates(err)
	}
	want := r.chunks(images)
	for i, x := range images {
		a, b := &images[0], &x
		if x.Void || x.Term != r.c.Term() || !bytes.Equal(want[i], b.Memory) || ends(a) != ends(b) {
			r.Failf(Disagree, "when the coordinator of term %d begins to serve, %s has %s, memory %q, of term %d, and %s has %s, memory %q, of term %d",
				r.c.Term(), a.Node, ends(a), a.Memory, a.Term, b.Node, ends(b), b.Memory, b.Term)
		}
	}
	return images, true
}

// ends describes the last entry of a log, which determines all before it.
func ends(x *sift.Image) string {
	if len(x.Log.Entries) == 0 {
		return "no entry"
	}
	e := x.Log.Entries[len(x.Log.Entries)-1]
	return fmt.Sprintf("entry %d of term %d", e.Index, e.Term)
}

// stable checks P2: nothing changes a memory node from now on.
func (r *run) stable() {
	before, err := r.c.Inspect()
	if err != nil {
		r.tolerates(err)
		return
	}
	r.quiet()
	after, err := r.c.Inspect()
	if err != nil {
		r.tolerates(err)
		return
	}
	for _, x := range before {
		for _, y := range after {
			if a, b := fmt.Sprint(x), fmt.Sprint(y); x.Node == y.Node && a != b {
				r.Failf(Stray, "a memory node had %s, and then %s", a, b)
			}
		}
	}
}
