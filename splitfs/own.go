package splitfs

import (
	"io/fs"
	"os"
)

// Owner is the right to change files, which may expire: a *cluster.Instance.
type Owner interface {
	// Check returns an error if the right is known to have expired. It costs nothing.
	Check() error
	// Ask is Check after a question to the grantor of the right.
	Ask() error
}

// OwnDir returns a directory that an instance shares with its predecessors and successors:
// it is changed only while the right lives. Creating, replacing or removing a file
// calls Ask; writing to an open file calls Check. The right can expire between the
// answer and the operation: a directory has no fence.
func OwnDir(d Dir, o Owner) Dir { return ownDir{d, o} }

// OwnStore returns the store of an instance. Opening or deleting an object calls Ask; a
// record calls Check, and the store's own fence protects the rest.
func OwnStore(s Store, o Owner) Store { return ownStore{s, o} }

type ownDir struct {
	Dir
	o Owner
}

const writing = os.O_WRONLY | os.O_RDWR | os.O_CREATE | os.O_TRUNC

func (d ownDir) OpenFile(name string, flag int, perm fs.FileMode) (DirFile, error) {
	if flag&writing != 0 {
		if err := d.o.Ask(); err != nil {
			return nil, err
		}
	}
	f, err := d.Dir.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return ownDirFile{f, d.o}, nil
}

func (d ownDir) Rename(oldname, newname string) error {
	if err := d.o.Ask(); err != nil {
		return err
	}
	return d.Dir.Rename(oldname, newname)
}

func (d ownDir) Remove(name string) error {
	if err := d.o.Ask(); err != nil {
		return err
	}
	return d.Dir.Remove(name)
}

func (d ownDir) Mkdir(name string, perm fs.FileMode) error {
	if err := d.o.Ask(); err != nil {
		return err
	}
	return d.Dir.Mkdir(name, perm)
}

type ownDirFile struct {
	DirFile
	o Owner
}

func (f ownDirFile) WriteAt(p []byte, off int64) (int, error) {
	if err := f.o.Check(); err != nil {
		return 0, err
	}
	return f.DirFile.WriteAt(p, off)
}

func (f ownDirFile) Truncate(size int64) error {
	if err := f.o.Check(); err != nil {
		return err
	}
	return f.DirFile.Truncate(size)
}

type ownStore struct {
	Store
	o Owner
}

func (s ownStore) Create(object string, size int) (Object, error) {
	return s.open(func() (Object, error) { return s.Store.Create(object, size) })
}

func (s ownStore) Recover(object string) (Object, error) {
	return s.open(func() (Object, error) { return s.Store.Recover(object) })
}

func (s ownStore) open(open func() (Object, error)) (Object, error) {
	if err := s.o.Ask(); err != nil {
		return nil, err
	}
	x, err := open()
	if err != nil {
		return nil, err
	}
	return ownObject{x, s.o}, nil
}

type ownObject struct {
	Object
	o Owner
}

func (x ownObject) Record(off int, data []byte) error {
	if err := x.o.Check(); err != nil {
		return err
	}
	return x.Object.Record(off, data)
}

func (x ownObject) Release() error {
	if err := x.o.Ask(); err != nil {
		return err
	}
	return x.Object.Release()
}
