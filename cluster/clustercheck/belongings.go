package clustercheck

import (
	"io/fs"
	"os"

	"github.com/verbatim-rdma/verbatim/cluster"
	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/splitfs"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// belongings are the open resources of an instance.
type belongings struct {
	dir     splitfs.Dir
	file    splitfs.DirFile
	store   splitfs.Store
	object  splitfs.Object
	entries coord.Client
}

// open opens the resources of an instance in d.
func open(d *changed, i *cluster.Instance) (*belongings, error) {
	b := &belongings{dir: splitfs.OwnDir(d, i), store: splitfs.OwnStore(&stored{d: d}, i), entries: i.Guard(&entries{d: d})}
	var err error
	if b.file, err = b.dir.OpenFile("open", os.O_RDWR, 0); err != nil {
		return nil, err
	}
	b.object, err = b.store.Create("there", 1)
	return b, err
}

// changes are the operations that ask the controller first.
var changes = []struct {
	name string
	do   func(*belongings) error
}{
	{"a rename", func(b *belongings) error { return b.dir.Rename("a", "b") }},
	{"a removal", func(b *belongings) error { return b.dir.Remove("a") }},
	{"a new folder", func(b *belongings) error { return b.dir.Mkdir("a", 0) }},
	{"a new file", func(b *belongings) error { _, err := b.dir.OpenFile("a", os.O_CREATE, 0); return err }},
	{"a new object", func(b *belongings) error { _, err := b.store.Create("a", 1); return err }},
	{"the recovery of an object", func(b *belongings) error { _, err := b.store.Recover("a"); return err }},
	{"the deletion of an object", func(b *belongings) error { return b.object.Release() }},
	{"a change at the controller", func(b *belongings) error { _, err := b.entries.Set("a", nil, 1); return err }},
	{"a new key", func(b *belongings) error { return b.entries.Create("a", nil, coord.NoSession) }},
	{"the deletion of a key", func(b *belongings) error { return b.entries.Delete("a", 1) }},
}

// writes are the operations that rely on the last heartbeat.
var writes = []func(*belongings) error{
	func(b *belongings) error { _, err := b.file.WriteAt([]byte("x"), 0); return err },
	func(b *belongings) error { return b.file.Truncate(0) },
	func(b *belongings) error { return b.object.Record(0, []byte("x")) },
}

// changed is a directory that counts changes; only these are implemented.
type changed struct {
	splitfs.Dir
	h host.Host
	n int
}

func (d *changed) change() error {
	d.n++
	_, err := d.h.Call("folder", "folder", nil, verbs.Forever)
	return err
}

func (d *changed) OpenFile(string, int, fs.FileMode) (splitfs.DirFile, error) {
	return &openFile{d: d}, d.change()
}
func (d *changed) Rename(string, string) error     { return d.change() }
func (d *changed) Remove(string) error             { return d.change() }
func (d *changed) Mkdir(string, fs.FileMode) error { return d.change() }

// openFile is a file in it.
type openFile struct {
	splitfs.DirFile
	d *changed
}

func (f *openFile) WriteAt(p []byte, _ int64) (int, error) { return len(p), f.d.change() }
func (f *openFile) Truncate(int64) error                   { return f.d.change() }

// entries is a controller that counts changes; only these are implemented.
type entries struct {
	coord.Client
	d *changed
}

func (e *entries) Set(string, []byte, uint64) (uint64, error) { return 1, e.d.change() }
func (e *entries) Create(string, []byte, coord.Session) error { return e.d.change() }
func (e *entries) Delete(string, uint64) error                { return e.d.change() }

// stored is the store, and an object in it.
type stored struct {
	splitfs.Object
	d *changed
}

func (s *stored) Create(string, int) (splitfs.Object, error) { return s, s.d.change() }
func (s *stored) Recover(string) (splitfs.Object, error)     { return s, s.d.change() }
func (s *stored) Record(int, []byte) error                   { return s.d.change() }
func (s *stored) Release() error                             { return s.d.change() }
