package splitfs_test

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/verbatim-rdma/verbatim/splitfs"
	"github.com/verbatim-rdma/verbatim/splitfs/memdir"
)

// crashed is the panic of a crash.
type crashed struct{}

// machine is the environment of a file system: a directory, a store, and the time of
// the crash.
type machine struct {
	dir   memdir.Dir
	store memStore
	left  int // steps until the crash; 0: none is to come
	pick  func(n int) int
}

func newMachine(pick func(n int) int) *machine {
	m := &machine{pick: pick, store: memStore{objects: map[string][]byte{}}}
	m.store.m = m
	m.dir.Step = m.step
	return m
}

// crashes reports whether the crash comes now.
func (m *machine) crashes() bool {
	m.left--
	return m.left == 0
}

func (m *machine) step() {
	if m.crashes() {
		panic(crashed{})
	}
}

// run calls f and reports whether it crashed; then the directory loses what a crash
// loses.
func (m *machine) run(f func()) (dead bool) {
	defer func() {
		switch x := recover().(type) {
		case nil:
		case crashed:
			dead, m.left = true, 0
			m.dir.Crash(m.pick)
		default:
			panic(x)
		}
	}()
	f()
	m.left = 0
	return false
}

func (m *machine) config() splitfs.Config {
	return splitfs.Config{Dir: &m.dir, Store: &m.store, Patterns: []string{"*.log"}, Region: 1024, MaxRegion: 8192}
}

// memStore is a store whose Record tears at the crash.
type memStore struct {
	m       *machine
	objects map[string][]byte
	// refuse, if set, is the error of every call.
	refuse error
}

func (s *memStore) Create(object string, size int) (splitfs.Object, error) {
	s.m.step()
	if s.refuse != nil {
		return nil, s.refuse
	}
	if s.objects[object] != nil {
		return nil, fmt.Errorf("object %s is there already", object)
	}
	s.objects[object] = make([]byte, size)
	s.m.step()
	return &memObject{s, object}, nil
}

func (s *memStore) Recover(object string) (splitfs.Object, error) {
	s.m.step()
	if s.refuse != nil {
		return nil, s.refuse
	}
	if s.objects[object] == nil {
		return nil, fmt.Errorf("object %s: %w", object, fs.ErrNotExist)
	}
	return &memObject{s, object}, nil
}

func (s *memStore) names() []string { return slices.Sorted(maps.Keys(s.objects)) }

type memObject struct {
	s    *memStore
	name string
}

func (o *memObject) Record(off int, data []byte) error {
	to := o.s.objects[o.name][off : off+len(data)]
	if o.s.refuse != nil {
		return o.s.refuse
	}
	if o.s.m.crashes() {
		o.tear(to, data)
		panic(crashed{})
	}
	copy(to, data)
	return nil
}

// tear leaves a beginning, an end, or any bytes of data.
func (o *memObject) tear(to, data []byte) {
	pick := o.s.m.pick
	switch cut := pick(len(data) + 1); pick(3) {
	case 0:
		copy(to[:cut], data)
	case 1:
		copy(to[cut:], data[cut:])
	case 2:
		for i := range data {
			if (cut*2654435761+i*40503)>>3&1 == 0 {
				to[i] = data[i]
			}
		}
	}
}

func (o *memObject) ReadAt(p []byte, off int) (int, error) {
	return copy(p, o.s.objects[o.name][off:]), nil
}

func (o *memObject) Size() int { return len(o.s.objects[o.name]) }

func (o *memObject) Release() error {
	o.s.m.step()
	if o.s.refuse != nil {
		return o.s.refuse
	}
	delete(o.s.objects, o.name)
	o.s.m.step()
	return nil
}

func (o *memObject) Close() {}
