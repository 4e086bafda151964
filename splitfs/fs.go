package splitfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// Reserved is the folder of the directory that splitfs reserves for itself.
const Reserved = ".splitfs"

// FS is a split file system. Several tasks may use it at once.
type FS struct {
	cfg Config
	mu  sync.Locker // of all below; taken after that of a node, if both are
	// life is the number of this mount, and made counts its objects and generations.
	life, made uint32
	intents    []string // in Reserved, by operations that are in progress or have failed
	nodes      []*node  // of the ncl files that were opened
	closed     bool
}

// New opens the file system in cfg.Dir, which is empty or holds an earlier file system,
// and cleans up after a crash. The caller, or the store, must ensure that no other FS
// has the directory open.
func New(cfg Config) (*FS, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.complete()
	f := &FS{cfg: cfg, mu: cfg.NewMutex()}
	if err := f.begin(); err != nil {
		return nil, fmt.Errorf("splitfs: folder %s: %w", Reserved, err)
	}
	return f, nil
}

// Open opens a file with the flags of package os, and O_NCL.
func (f *FS) Open(name string, flag int, perm fs.FileMode) (*File, error) {
	f.mu.Lock()
	file, err := f.open(name, flag, perm)
	f.mu.Unlock()
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	if file.node != nil && flag&os.O_TRUNC != 0 {
		if err := file.node.truncate(0); err != nil {
			_ = file.Close()
			return nil, &fs.PathError{Op: "truncate", Path: name, Err: err}
		}
	}
	return file, nil
}

func (f *FS) open(name string, flag int, perm fs.FileMode) (*File, error) {
	if err := f.check(name); err != nil {
		return nil, err
	}
	id, err := f.stub(name)
	isNew := errors.Is(err, fs.ErrNotExist)
	file := &File{fs: f, name: name, flag: flag}
	switch {
	case err != nil && !isNew:
		return nil, err
	case id != "" && flag&os.O_CREATE != 0 && flag&os.O_EXCL != 0:
		return nil, fs.ErrExist
	case id != "":
		file.node, err = f.node(id, name)
	case isNew && flag&os.O_CREATE != 0 && (flag&O_NCL != 0 || f.cfg.matches(name)):
		file.node, err = f.create(name, perm)
	case f.isLink(name):
		return nil, fmt.Errorf("%w: symbolic links are not followed", fs.ErrInvalid)
	default:
		file.dir, err = f.cfg.Dir.OpenFile(name, flag&^(O_NCL|os.O_APPEND), perm)
	}
	if err != nil {
		return nil, err
	}
	if file.node != nil {
		file.node.refs++
	}
	return file, nil
}

// isLink reports whether name is a symbolic link. Through a link, Open would take a stub
// for a file of the directory.
func (f *FS) isLink(name string) bool {
	st, err := f.cfg.Dir.Stat(name)
	return err == nil && st.Mode()&fs.ModeSymlink != 0
}

// check refuses names that are invalid in package io/fs, and splitfs's own.
func (f *FS) check(names ...string) error {
	if f.closed {
		return fs.ErrClosed
	}
	for _, name := range names {
		switch {
		case !fs.ValidPath(name):
			return fmt.Errorf("%w: the name %q: want it relative to the directory, without dots as elements", fs.ErrInvalid, name)
		case name == Reserved || strings.HasPrefix(name, Reserved+"/"):
			return fmt.Errorf("%w: %s is reserved for the file system", fs.ErrPermission, Reserved)
		}
	}
	return nil
}

// Info is the result of Stat.
type Info struct {
	fs.FileInfo
	size int64
	// NCL: the file is on the peers.
	NCL bool
}

// Size returns the length of the file.
func (i *Info) Size() int64 { return i.size }

// Stat describes a file or folder. Time and permissions of an ncl file are those of its
// stub.
func (f *FS) Stat(name string) (*Info, error) {
	i, err := f.stat(name)
	if err != nil {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	return i, nil
}

func (f *FS) stat(name string) (*Info, error) {
	n, i, err := f.pinned(name)
	if n == nil || err != nil {
		return i, err
	}
	i.NCL, i.size = true, n.length()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.unpin(n)
	return i, nil
}

// pinned finds a file or folder, with its node if it is an ncl file.
func (f *FS) pinned(name string) (*node, *Info, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.check(name); err != nil {
		return nil, nil, err
	}
	st, err := f.cfg.Dir.Stat(name)
	if err != nil {
		return nil, nil, err
	}
	i := &Info{FileInfo: st, size: st.Size()}
	id, err := f.stub(name)
	if id == "" || err != nil {
		return nil, i, err
	}
	n, err := f.node(id, name)
	if err != nil {
		return nil, nil, err
	}
	n.refs++
	return n, i, nil
}

// Remove deletes a file or an empty folder. Open handles to the file stay valid until
// they are closed.
func (f *FS) Remove(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.remove(name); err != nil {
		return &fs.PathError{Op: "remove", Path: name, Err: err}
	}
	return nil
}

func (f *FS) remove(name string) error {
	if err := f.check(name); err != nil {
		return err
	}
	id, err := f.stub(name)
	if err != nil {
		return err
	}
	if id == "" {
		return f.cfg.Dir.Remove(name)
	}
	dead := path.Join(Reserved, id)
	if err := f.cfg.Dir.Rename(name, dead); err != nil {
		return err
	}
	if err := f.syncDirs(path.Dir(name), Reserved); err != nil {
		return err
	}
	f.orphan(id, dead)
	return nil
}

// Rename renames a file or folder. It atomically replaces a file with the new name. A
// file stays where it is, on the peers or in the directory.
func (f *FS) Rename(oldname, newname string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.rename(oldname, newname); err != nil {
		return &os.LinkError{Op: "rename", Old: oldname, New: newname, Err: err}
	}
	return nil
}

func (f *FS) rename(oldname, newname string) error {
	if err := f.check(oldname, newname); err != nil {
		return err
	}
	moved, err := f.stub(oldname)
	if err != nil || oldname == newname {
		return err
	}
	if err := f.withdraw(); err != nil {
		return err
	}
	replaced, err := f.stub(newname)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	intent := ""
	if replaced != "" {
		if st, err := f.cfg.Dir.Stat(oldname); err != nil || st.IsDir() {
			return errors.Join(err, syscall.ENOTDIR)
		}
		if intent, err = f.intend(replaced, newname); err != nil {
			return err
		}
	}
	if err := f.cfg.Dir.Rename(oldname, newname); err != nil {
		return err // the intent is harmless: see withdraw
	}
	for _, n := range f.nodes {
		n.moved(oldname, newname)
	}
	if moved == "" && replaced == "" {
		return nil
	}
	if err := f.syncDirs(path.Dir(oldname), path.Dir(newname)); err != nil {
		return err
	}
	if replaced != "" {
		f.carriedOut(intent)
		f.orphan(replaced, intent)
	}
	return nil
}

// Mkdir makes a folder.
func (f *FS) Mkdir(name string, perm fs.FileMode) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.check(name)
	if err == nil {
		err = f.cfg.Dir.Mkdir(name, perm)
	}
	if err != nil {
		return &fs.PathError{Op: "mkdir", Path: name, Err: err}
	}
	return nil
}

// ReadDir lists a folder.
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.check(name); err != nil {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: err}
	}
	list, err := f.cfg.Dir.ReadDir(name)
	if name == "." {
		list = slices.DeleteFunc(list, func(e fs.DirEntry) bool { return e.Name() == Reserved })
	}
	return list, err
}

// SyncDir makes the names in a folder durable. Those of ncl files already are.
func (f *FS) SyncDir(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.check(name); err != nil {
		return err
	}
	return f.cfg.Dir.SyncDir(name)
}

// Close releases all ncl files; they stay on the peers. Do not use files afterwards.
func (f *FS) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, n := range f.nodes {
		n.region.obj.Close()
	}
	f.nodes, f.closed = nil, true
}

func (f *FS) syncDirs(names ...string) error {
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if err := f.cfg.Dir.SyncDir(name); err != nil {
			return err
		}
	}
	return nil
}
