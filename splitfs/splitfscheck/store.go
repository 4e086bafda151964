package splitfscheck

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/splitfs"
)

// errFenced: another handle has recovered the object.
var errFenced = errors.New("the object was recovered by another handle")

// store is a store whose Records tear when the application crashes, or when they fail.
type store struct {
	m       *memory
	objects map[string]*object
	made    map[string]bool // names that were ever used
	open    map[string]*handle
	handles int    // neither closed nor released
	fault   string // the kind of call that fails, if there is one
	spare   int    // number of reads that succeed first
}

// object is the durable side.
type object struct {
	data []byte
	// doubt is a Record in doubt: any part of it may have landed.
	doubt   []byte
	doubtAt int
}

func (s *store) reset() {
	s.objects, s.made, s.open, s.handles, s.fault, s.spare = map[string]*object{}, map[string]bool{}, map[string]*handle{}, 0, "", 0
}

func (s *store) names() []string { return slices.Sorted(maps.Keys(s.objects)) }

func (s *store) print() (p fingerprint.Print) {
	for _, name := range s.names() {
		o := s.objects[name]
		p = p.String(name).Bytes(o.data).Bytes(o.doubt).Int(o.doubtAt)
	}
	for _, name := range slices.Sorted(maps.Keys(s.made)) {
		p = p.String(name)
	}
	return p
}

func (s *store) call(do func() error, what string, more ...string) error {
	if what == s.fault {
		return errInjected
	}
	return s.m.call(&s.m.load.storeFails, do, what, more...)
}

func (s *store) Create(name string, size int) (obj splitfs.Object, err error) {
	err = s.call(func() error {
		if s.made[name] {
			s.m.Failf("reused-name", "an object %s was made before", name)
		}
		s.made[name] = true
		s.objects[name] = &object{data: make([]byte, size)}
		obj = s.handle(name, true)
		return nil
	}, "create object", name, fmt.Sprint(size))
	if err != nil {
		s.unknown(obj)
		return nil, err
	}
	return obj, nil
}

func (s *store) Recover(name string) (obj splitfs.Object, err error) {
	err = s.call(func() error {
		o := s.objects[name]
		if o == nil {
			return fmt.Errorf("object %s: %w", name, fs.ErrNotExist)
		}
		o.settle(s.m)
		obj = s.handle(name, false)
		return nil
	}, "recover object", name)
	if err != nil {
		s.unknown(obj)
		return nil, err
	}
	return obj, nil
}

// unknown discounts the handle of a call that failed: the caller does not get the handle.
func (s *store) unknown(obj splitfs.Object) {
	if obj != nil {
		s.handles--
	}
}

// handle opens an object, and fences earlier handles.
func (s *store) handle(name string, read bool) *handle {
	if old := s.open[name]; old != nil {
		old.fenced = true
	}
	h := &handle{s: s, name: name, local: slices.Clone(s.objects[name].data), read: read}
	s.open[name] = h
	s.handles++
	return h
}

// handle is an open object: a copy of it, from which reads are served.
type handle struct {
	s      *store
	name   string
	local  []byte
	broken bool // a Record has failed
	fenced bool
	gone   bool // closed or released
	read   bool // since it was recovered; a new object is not read
}

func (h *handle) usable(what string) {
	if h.gone {
		h.s.m.Failf("misuse", "%s of object %s, which was closed or released", what, h.name)
	}
}

func (h *handle) Record(off int, data []byte) error {
	h.usable("Record")
	copy(h.local[off:off+len(data):len(h.local)], data)
	o := h.s.objects[h.name]
	switch {
	case h.fenced:
		return errFenced
	case h.broken, h.s.fault == "record":
		return errInjected
	case o == nil:
		return fs.ErrNotExist
	}
	o.doubt, o.doubtAt = slices.Clone(data), off
	h.broken = true
	m := h.s.m
	m.note("records", h.name) // a crash at this point tears the Record
	m.logs("record", h.name, fmt.Sprint(off), string(data))
	err := m.ends(m.fate(&m.load.storeFails, 1), func() error {
		copy(o.data[off:], data)
		o.doubt, h.broken = nil, false
		return nil
	})
	m.note("record", fmt.Sprint(off), string(data), fmt.Sprint(err != nil))
	return err
}

func (h *handle) ReadAt(p []byte, off int) (int, error) {
	h.usable("ReadAt")
	if h.s.fault == "read object" {
		if h.s.spare--; h.s.spare < 0 {
			return 0, errInjected
		}
	}
	if h.read && h.s.m.underWay == nil { // the checks read all files, so a call for each would be too many
		return copy(p, h.local[off:off+len(p)]), nil
	}
	h.read = true
	n := 0
	err := h.s.m.look(&h.s.m.load.storeFails, func() error { n = copy(p, h.local[off:off+len(p)]); return nil })
	return n, err
}

func (h *handle) Size() int { return len(h.local) }

func (h *handle) Release() error {
	h.usable("Release")
	err := h.s.call(func() error {
		if h.fenced {
			return errFenced
		}
		delete(h.s.objects, h.name)
		return nil
	}, "release", h.name)
	if err == nil {
		h.Close()
	}
	return err
}

func (h *handle) Close() {
	h.usable("Close")
	h.gone = true
	h.s.handles--
	if h.s.open[h.name] == h {
		delete(h.s.open, h.name)
	}
}

// settle finds out which pieces of a Record in doubt have landed.
func (o *object) settle(m *memory) {
	if o.doubt == nil {
		return
	}
	landed, missing := false, false
	for _, p := range m.load.pieces(len(o.doubt)) {
		old, now := o.data[o.doubtAt+p[0]:o.doubtAt+p[1]], o.doubt[p[0]:p[1]]
		if bytes.Equal(old, now) {
			continue
		}
		if m.h.Rand(2) == 0 {
			missing = true
			continue
		}
		copy(old, now)
		landed = true
	}
	if o.doubt = nil; landed && missing {
		m.Meet(sawTorn)
	}
}

// pieces returns the pieces of a torn Record of n bytes: the words at the start, which are a header
// or overwritten data, those at the end, and everything in between as one piece.
func (l *workload) pieces(n int) [][2]int {
	grain, most := max(l.grain, 4), max(l.tears, 6)
	var cuts []int
	for at := 0; at < n; at += grain {
		cuts = append(cuts, at)
	}
	if len(cuts) > most {
		cuts = append(cuts[:most-1:most-1], cuts[len(cuts)-1])
	}
	var out [][2]int
	for i, at := range cuts {
		end := n
		if i+1 < len(cuts) {
			end = cuts[i+1]
		}
		out = append(out, [2]int{at, end})
	}
	return out
}
