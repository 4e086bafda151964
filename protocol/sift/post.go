package sift

import (
	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// write posts a Write of n bytes of mem at from to a node's region. Requests to one node
// reach its memory in the order in which they were posted (3.3.2). If the data is not
// inline, it must stay unchanged until the request is done.
func (c *Coordinator) write(r *replica, at int, mem *lend.Memory, from, n int, flags verbs.SendFlags) {
	if n <= c.inline {
		flags |= verbs.Inline
	}
	c.post(r, verbs.SendWR{Op: verbs.OpWrite, Flags: flags, SGL: []verbs.SGE{mem.SGE(from, n)}}, at)
}

// read posts a Read of n bytes of a node's region into mem.
func (c *Coordinator) read(r *replica, at int, mem *lend.Memory, to, n int) {
	c.post(r, verbs.SendWR{Op: verbs.OpRead, Flags: verbs.Signaled, SGL: []verbs.SGE{mem.SGE(to, n)}}, at)
}

// post posts a request for a node's region. Most need no completion, but the send queue
// must have some for its slots to become free.
func (c *Coordinator) post(r *replica, wr verbs.SendWR, at int) {
	c.until(func() bool { return r.Err != nil || r.Free() > 0 })
	if r.Err != nil || c.stopped != nil {
		return
	}
	if r.quiet++; r.quiet >= c.cfg.QueueDepth/2 {
		wr.Flags |= verbs.Signaled
	}
	if wr.Flags&verbs.Signaled != 0 {
		r.quiet = 0
	}
	w := r.Windows[0]
	wr.ID, wr.RemoteAddr, wr.RKey = r.Asked+1, w.Addr+uint64(at), w.RKey
	c.group.PostBeside(r.Conn, []verbs.SendWR{wr})
}

// The word of zeros, behind the rest of the mirror.
func (c *Coordinator) zeroAt() int { return c.cfg.memoryAt() }
