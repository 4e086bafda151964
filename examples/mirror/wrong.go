package mirror

import "github.com/verbatim-rdma/verbatim/verbs"

// WriteOne is wrong: it takes one completion for a success.
func (r *Register) WriteOne(v uint64) error {
	r.buf.Region.Store64(0, v)
	for _, c := range r.mirrors {
		r.post(c, verbs.OpWrite, verbs.Inline)
	}
	for _, c := range r.mirrors {
		if r.done(c) {
			return nil
		}
	}
	return ErrLost
}

// WriteAll is wrong: it waits for all mirrors, but the order in which they get the value is not defined.
func (r *Register) WriteAll(v uint64) error {
	r.buf.Region.Store64(0, v)
	for _, c := range r.mirrors {
		r.post(c, verbs.OpWrite, verbs.Inline)
	}
	ok := false
	for _, c := range r.mirrors {
		ok = r.done(c) || ok
	}
	if !ok {
		return ErrLost
	}
	return nil
}
