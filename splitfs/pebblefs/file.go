package pebblefs

import (
	"io/fs"
	"os"

	"github.com/cockroachdb/pebble/vfs"

	"github.com/verbatim-rdma/verbatim/splitfs"
)

// file is an open file with the position of the next read or write.
type file struct {
	*splitfs.File
	fsys *splitfs.FS
	at   int64
}

func (f *file) Read(p []byte) (int, error) {
	n, err := f.ReadAt(p, f.at)
	f.at += int64(n)
	return n, err
}

func (f *file) Write(p []byte) (int, error) {
	n, err := f.WriteAt(p, f.at)
	f.at += int64(n)
	return n, err
}

func (f *file) Stat() (os.FileInfo, error) {
	st, err := f.fsys.Stat(f.Name())
	if err != nil {
		return nil, err
	}
	return st, nil
}

func (f *file) Preallocate(int64, int64) error { return nil }
func (f *file) SyncData() error                { return f.Sync() }
func (f *file) SyncTo(int64) (bool, error)     { return true, f.Sync() }
func (f *file) Prefetch(int64, int64) error    { return nil }
func (f *file) Fd() uintptr                    { return vfs.InvalidFd }

// folder is an open folder, which can be synced and nothing else.
type folder struct {
	fsys *splitfs.FS
	name string
}

func (f *folder) refused(op string) error {
	return &fs.PathError{Op: op, Path: f.name, Err: fs.ErrInvalid}
}

func (f *folder) Stat() (os.FileInfo, error) {
	st, err := f.fsys.Stat(f.name)
	if err != nil {
		return nil, err
	}
	return st, nil
}

func (f *folder) Close() error                            { return nil }
func (f *folder) Read([]byte) (int, error)                { return 0, f.refused("read") }
func (f *folder) ReadAt([]byte, int64) (int, error)       { return 0, f.refused("read") }
func (f *folder) Write([]byte) (int, error)               { return 0, f.refused("write") }
func (f *folder) WriteAt([]byte, int64) (int, error)      { return 0, f.refused("write") }
func (f *folder) Preallocate(_, _ int64) error            { return f.refused("preallocate") }
func (f *folder) Sync() error                             { return f.fsys.SyncDir(f.name) }
func (f *folder) SyncTo(int64) (fullSync bool, err error) { return false, nil }
func (f *folder) SyncData() error                         { return f.Sync() }
func (f *folder) Prefetch(_, _ int64) error               { return nil }
func (f *folder) Fd() uintptr                             { return vfs.InvalidFd }
