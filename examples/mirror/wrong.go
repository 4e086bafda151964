package mirror

import "github.com/verbatim-rdma/verbatim/verbs"

// WriteOne is wrong: it takes one completion for a success.
func (r *Register) WriteOne(v uint64) error {
	r.buf.Store64(0, v)
	for _, l := range r.links {
		r.post(l, verbs.OpWrite, verbs.Inline)
	}
	for _, l := range r.links {
		if r.done(l) {
			return nil
		}
	}
	return ErrLost
}

// WriteAll is wrong: it waits for all, and nobody knows who has it first.
func (r *Register) WriteAll(v uint64) error {
	r.buf.Store64(0, v)
	for _, l := range r.links {
		r.post(l, verbs.OpWrite, verbs.Inline)
	}
	ok := false
	for _, l := range r.links {
		ok = r.done(l) || ok
	}
	if !ok {
		return ErrLost
	}
	return nil
}
