package pebblecheck

import (
	"io/fs"

	"github.com/cockroachdb/pebble/vfs"

	"github.com/verbatim-rdma/verbatim/splitfs"
)

type pebbleFS = vfs.FS

// lockedDir is the directory of a machine, safe for concurrent use.
type lockedDir struct{ m *machine }

func locked[T any](m *machine, f func() (T, error)) (T, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return f()
}

func (d *lockedDir) do(f func() error) error {
	d.m.mu.Lock()
	defer d.m.mu.Unlock()
	return f()
}

// OpenFile implements splitfs.Dir, as do the methods below.
func (d *lockedDir) OpenFile(name string, flag int, perm fs.FileMode) (splitfs.DirFile, error) {
	f, err := locked(d.m, func() (splitfs.DirFile, error) { return d.m.dir.OpenFile(name, flag, perm) })
	if err != nil {
		return nil, err
	}
	return &lockedFile{d, f}, nil
}

func (d *lockedDir) Stat(name string) (fs.FileInfo, error) {
	return locked(d.m, func() (fs.FileInfo, error) { return d.m.dir.Stat(name) })
}

func (d *lockedDir) ReadDir(name string) ([]fs.DirEntry, error) {
	return locked(d.m, func() ([]fs.DirEntry, error) { return d.m.dir.ReadDir(name) })
}

func (d *lockedDir) Rename(from, to string) error {
	return d.do(func() error { return d.m.dir.Rename(from, to) })
}

func (d *lockedDir) Remove(name string) error {
	return d.do(func() error { return d.m.dir.Remove(name) })
}

func (d *lockedDir) Mkdir(name string, perm fs.FileMode) error {
	return d.do(func() error { return d.m.dir.Mkdir(name, perm) })
}

func (d *lockedDir) SyncDir(name string) error {
	return d.do(func() error { return d.m.dir.SyncDir(name) })
}

type lockedFile struct {
	d *lockedDir
	f splitfs.DirFile
}

func (f *lockedFile) ReadAt(p []byte, off int64) (int, error) {
	return locked(f.d.m, func() (int, error) { return f.f.ReadAt(p, off) })
}

func (f *lockedFile) WriteAt(p []byte, off int64) (int, error) {
	return locked(f.d.m, func() (int, error) { return f.f.WriteAt(p, off) })
}

func (f *lockedFile) Stat() (fs.FileInfo, error) { return locked(f.d.m, f.f.Stat) }
func (f *lockedFile) Truncate(size int64) error {
	return f.d.do(func() error { return f.f.Truncate(size) })
}
func (f *lockedFile) Sync() error  { return f.d.do(f.f.Sync) }
func (f *lockedFile) Close() error { return f.d.do(f.f.Close) }
