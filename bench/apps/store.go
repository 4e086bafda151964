package apps

import (
	"github.com/verbatim-rdma/verbatim/bench"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
	"github.com/verbatim-rdma/verbatim/splitfs"
)

// store is the store of NCL, called in a task that may use it.
type store struct{ app bench.NCLApp }

func (s *store) do(f func(splitfs.Store) (splitfs.Object, error)) (splitfs.Object, error) {
	var o splitfs.Object
	var err error
	if e := s.app.Do(func(h host.Host, cfg ncl.Config) { o, err = f(splitfs.NCL(h, cfg, 0)) }); e != nil {
		return nil, e
	}
	if err != nil {
		return nil, err
	}
	return &object{o, s.app}, nil
}

func (s *store) Create(name string, size int) (splitfs.Object, error) {
	return s.do(func(n splitfs.Store) (splitfs.Object, error) { return n.Create(name, size) })
}

func (s *store) Recover(name string) (splitfs.Object, error) {
	return s.do(func(n splitfs.Store) (splitfs.Object, error) { return n.Recover(name) })
}

// object is an object of NCL's store. Its size needs no call.
type object struct {
	splitfs.Object
	app bench.NCLApp
}

func (o *object) do(f func() error) (err error) {
	if e := o.app.Do(func(host.Host, ncl.Config) { err = f() }); e != nil {
		return e
	}
	return err
}

func (o *object) Record(off int, data []byte) error {
	return o.do(func() error { return o.Object.Record(off, data) })
}

func (o *object) ReadAt(p []byte, off int) (n int, err error) {
	err = o.do(func() (err error) {
		n, err = o.Object.ReadAt(p, off)
		return err
	})
	return n, err
}

func (o *object) Release() error { return o.do(o.Object.Release) }

func (o *object) Close() {
	_ = o.do(func() error { // on an error the world is gone, and the object with it
		o.Object.Close()
		return nil
	})
}
