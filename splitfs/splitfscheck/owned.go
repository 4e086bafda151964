package splitfscheck

import (
	"errors"
	"os"

	"github.com/verbatim-rdma/verbatim/splitfs"
)

// errOver: the right to change files has expired.
var errOver = errors.New("another instance has the directory now")

// right is the application's right to change files: a splitfs.Owner. In most scenarios it never expires.
type right struct{ over bool }

func (o *right) Check() error {
	if o.over {
		return errOver
	}
	return nil
}

func (o *right) Ask() error { return o.Check() }

// outlasting continues after its right has expired: it can no longer change files, in the directory or on
// the peers, but can still read them.
func outlasting(r *run) {
	r.mount()
	both(mkdir("dir"), add("a.log", 5), add("b.log", 5), add("d", 5), fsync("d"))(r)
	log, file := r.opens("a.log", os.O_RDWR), r.opens("d", os.O_RDWR)
	before := r.all(r.read())
	here, there := r.dir.print(), r.store.print()
	r.right.over, r.expecting = true, true
	n, write := log.WriteAt([]byte("x"), 1)
	k, appended := file.Append([]byte("x"))
	m, overwritten := file.WriteAt([]byte("x"), 1)
	r.that(n == 0 && k == 0 && m == 0, "%d, %d and %d bytes were written without the right", n, k, m)
	_, again := splitfs.New(r.config())
	open := func(name string, flag int) error {
		_, err := r.fsys.Open(name, flag, perm)
		return err
	}
	for what, err := range []error{write, appended, overwritten, again, file.Truncate(1), r.fsys.Remove("b.log"), r.fsys.Remove("d"),
		r.fsys.Rename("a.log", "c.log"), r.fsys.Rename("a.log", "b.log"), r.fsys.Rename("d", "e"), r.fsys.Mkdir("new", perm),
		open("c.log", os.O_RDWR|os.O_CREATE), open("e", os.O_RDWR|os.O_CREATE), open("d", os.O_RDWR|os.O_TRUNC), open("d", os.O_WRONLY)} {
		if !errors.Is(err, errOver) {
			r.Failf("nonsense", "change %d after the right has expired: %v", what, err)
		}
	}
	r.that(here == r.dir.print() && there == r.store.print(), "something was changed after the right had expired: before %v, after %v", before, r.all(r.read()))
	r.want("close", errors.Join(log.Close(), file.Close()), nil)
	r.close()
	r.right.over, r.expecting = false, false
	r.mount()
	r.compare()
	r.close()
}
