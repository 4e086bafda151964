package mirror

import "github.com/verbatim-rdma/verbatim/verbs"

// Write gives v to one mirror after the other, the last one first. A value that
// a reader finds on a mirror is then on all mirrors that it may turn to later.
func (r *Register) Write(v uint64) error {
	r.buf.Region.Store64(0, v)
	ok := false
	for i := len(r.mirrors) - 1; i >= 0; i-- {
		c := r.mirrors[i]
		ok = r.post(c, verbs.OpWrite, verbs.Inline) && r.done(c) || ok
	}
	if !ok {
		return ErrLost
	}
	return nil
}
