package sqlite

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path"
	"strings"
	"sync"
	"syscall"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/util/vfsutil"
	"github.com/ncruces/go-sqlite3/vfs"

	"github.com/verbatim-rdma/verbatim/splitfs"
)

// Setup must be the first statements of a connection.
const Setup = `PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY;`

// VFS is a split file system as SQLite sees it.
type VFS struct {
	name string
	fs   *splitfs.FS

	mu      sync.Mutex
	holders map[string]*file // the file that holds the locks of a database
	carried any              // a panic that must not pass through SQLite
}

// Register makes a file system known to SQLite by a name.
func Register(name string, fsys *splitfs.FS) *VFS {
	v := &VFS{name: name, fs: fsys, holders: map[string]*file{}}
	vfs.Register(name, v)
	return v
}

// Unregister removes it from SQLite.
func (v *VFS) Unregister() { vfs.Unregister(v.name) }

// URI returns the name with which SQLite opens a database in the file system.
func (v *VFS) URI(database string) string {
	return "file:" + (&url.URL{Path: "/" + database}).EscapedPath() + "?vfs=" + url.QueryEscape(v.name)
}

// Resume raises the saved panic again, if the file system has panicked in a call of SQLite.
func (v *VFS) Resume() {
	if v.carried != nil {
		panic(v.carried)
	}
}

// do calls f, and saves its panic.
func (v *VFS) do(f func() error) (err error) {
	if v.carried != nil {
		return sqlite3.IOERR
	}
	defer func() {
		if x := recover(); x != nil {
			v.carried, err = x, sqlite3.IOERR
		}
	}()
	err = f()
	if errors.Is(err, syscall.ENOSPC) {
		err = vfs.SystemError(err, sqlite3.FULL)
	}
	return err
}

// Open implements vfs.VFS.
func (v *VFS) Open(name string, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	if name == "" {
		return new(tempFile), flags | vfs.OPEN_MEMORY, nil
	}
	flag := os.O_RDWR
	if flags&vfs.OPEN_READONLY != 0 {
		flag = os.O_RDONLY
	}
	if flags&vfs.OPEN_CREATE != 0 {
		flag |= os.O_CREATE
	}
	if flags&vfs.OPEN_EXCLUSIVE != 0 {
		flag |= os.O_EXCL
	}
	if flags&vfs.OPEN_WAL != 0 {
		flag |= splitfs.O_NCL
	}
	f := &file{v: v, deleted: flags&vfs.OPEN_DELETEONCLOSE != 0, isNew: flag&os.O_CREATE != 0}
	err := v.do(func() (err error) {
		f.File, err = v.fs.Open(name, flag, 0o644)
		return err
	})
	if err != nil {
		return nil, flags, err
	}
	return f, flags, nil
}

// Delete implements vfs.VFS.
func (v *VFS) Delete(name string, syncDir bool) error {
	return v.do(func() error {
		err := v.fs.Remove(name)
		if errors.Is(err, fs.ErrNotExist) {
			return sqlite3.IOERR_DELETE_NOENT
		}
		if err == nil && syncDir {
			err = v.fs.SyncDir(path.Dir(name))
		}
		return err
	})
}

// Access implements vfs.VFS.
func (v *VFS) Access(name string, _ vfs.AccessFlag) (found bool, err error) {
	err = v.do(func() error {
		_, err := v.fs.Stat(name)
		found = err == nil
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	})
	return found, err
}

// FullPathname implements vfs.VFS.
func (v *VFS) FullPathname(name string) (string, error) {
	return strings.TrimPrefix(path.Clean("/"+name), "/"), nil
}

// file is an open file.
type file struct {
	*splitfs.File
	v       *VFS
	lock    vfs.LockLevel
	isNew   bool // its name may not be durable yet
	deleted bool // on close
}

func (f *file) Close() error {
	_ = f.Unlock(vfs.LOCK_NONE)
	return f.v.do(func() error {
		err := f.File.Close()
		if f.deleted {
			err = errors.Join(err, f.v.fs.Remove(f.Name()))
		}
		return err
	})
}

func (f *file) ReadAt(p []byte, off int64) (n int, err error) {
	err = f.v.do(func() error {
		n, err = f.File.ReadAt(p, off)
		return err
	})
	return n, err
}

func (f *file) WriteAt(p []byte, off int64) (n int, err error) {
	err = f.v.do(func() error {
		n, err = f.File.WriteAt(p, off)
		return err
	})
	return n, err
}

func (f *file) Truncate(size int64) error {
	return f.v.do(func() error { return f.File.Truncate(size) })
}

// Sync makes the file durable, and its name if it is new.
func (f *file) Sync(vfs.SyncFlag) error {
	return f.v.do(func() error {
		err := f.File.Sync()
		if err == nil && f.isNew && !f.NCL() {
			if err = f.v.fs.SyncDir(path.Dir(f.Name())); err == nil {
				f.isNew = false
			}
		}
		return err
	})
}

func (f *file) Size() (n int64, err error) {
	err = f.v.do(func() (err error) {
		n, err = f.File.Size()
		return err
	})
	return n, err
}

// Lock implements vfs.File. One connection holds all locks of a database.
func (f *file) Lock(lock vfs.LockLevel) error {
	f.v.mu.Lock()
	defer f.v.mu.Unlock()
	if h := f.v.holders[f.Name()]; h != nil && h != f {
		return sqlite3.BUSY
	}
	f.v.holders[f.Name()] = f
	f.lock = max(f.lock, lock)
	return nil
}

// Unlock implements vfs.File.
func (f *file) Unlock(lock vfs.LockLevel) error {
	f.v.mu.Lock()
	defer f.v.mu.Unlock()
	f.lock = min(f.lock, lock)
	if f.lock == vfs.LOCK_NONE && f.v.holders[f.Name()] == f {
		delete(f.v.holders, f.Name())
	}
	return nil
}

// CheckReservedLock implements vfs.File.
func (f *file) CheckReservedLock() (bool, error) {
	f.v.mu.Lock()
	defer f.v.mu.Unlock()
	h := f.v.holders[f.Name()]
	return h != nil && h.lock >= vfs.LOCK_RESERVED, nil
}

func (f *file) LockState() vfs.LockLevel { return f.lock }

// SectorSize implements vfs.File.
func (f *file) SectorSize() int { return 0 }

// DeviceCharacteristics implements vfs.File: a write does not change adjacent bytes.
func (f *file) DeviceCharacteristics() vfs.DeviceCharacteristic {
	return vfs.IOCAP_POWERSAFE_OVERWRITE | vfs.IOCAP_SUBPAGE_READ
}

// tempFile is a file without a name: no process will look for it after a crash.
type tempFile struct{ vfsutil.SliceFile }

func (*tempFile) Lock(vfs.LockLevel) error         { return nil }
func (*tempFile) Unlock(vfs.LockLevel) error       { return nil }
func (*tempFile) CheckReservedLock() (bool, error) { return false, nil }
