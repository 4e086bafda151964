package pebblefs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/vfs"

	"github.com/verbatim-rdma/verbatim/splitfs"
)

// New returns a split file system as Pebble sees it.
func New(fsys *splitfs.FS) vfs.FS { return &pebbleFS{fsys: fsys, locked: map[string]bool{}} }

type pebbleFS struct {
	fsys   *splitfs.FS
	mu     sync.Mutex
	locked map[string]bool
}

func clean(name string) string {
	if name = strings.TrimPrefix(path.Clean("/"+name), "/"); name == "" {
		return "."
	}
	return name
}

func (p *pebbleFS) open(name string, flag int) (vfs.File, error) {
	f, err := p.fsys.Open(clean(name), flag, 0o644)
	if err != nil {
		return nil, err
	}
	return &file{File: f, fsys: p.fsys}, nil
}

// Create makes a new file, and replaces a file of that name.
func (p *pebbleFS) Create(name string) (vfs.File, error) {
	if err := p.fsys.Remove(clean(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return p.open(name, os.O_RDWR|os.O_CREATE|os.O_EXCL)
}

func (p *pebbleFS) Link(oldname, newname string) error {
	return &os.LinkError{Op: "link", Old: oldname, New: newname, Err: errors.ErrUnsupported}
}

func (p *pebbleFS) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	return p.opened(name, os.O_RDONLY, opts)
}

func (p *pebbleFS) OpenReadWrite(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	return p.opened(name, os.O_RDWR|os.O_CREATE, opts)
}

func (p *pebbleFS) opened(name string, flag int, opts []vfs.OpenOption) (vfs.File, error) {
	f, err := p.open(name, flag)
	if err != nil {
		return nil, err
	}
	for _, o := range opts {
		o.Apply(f)
	}
	return f, nil
}

func (p *pebbleFS) OpenDir(name string) (vfs.File, error) {
	st, err := p.Stat(name)
	if err != nil {
		return nil, err
	}
	if !st.IsDir() {
		return nil, &fs.PathError{Op: "opendir", Path: name, Err: fs.ErrInvalid}
	}
	return &folder{fsys: p.fsys, name: clean(name)}, nil
}

func (p *pebbleFS) Remove(name string) error { return p.fsys.Remove(clean(name)) }

func (p *pebbleFS) RemoveAll(name string) error {
	list, err := p.fsys.ReadDir(clean(name))
	if err == nil { // a folder
		for _, e := range list {
			err = errors.Join(err, p.RemoveAll(path.Join(name, e.Name())))
		}
		if err != nil {
			return err
		}
	}
	if err := p.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (p *pebbleFS) Rename(oldname, newname string) error {
	return p.fsys.Rename(clean(oldname), clean(newname))
}

func (p *pebbleFS) ReuseForWrite(oldname, newname string) (vfs.File, error) {
	if err := p.Rename(oldname, newname); err != nil {
		return nil, err
	}
	return p.OpenReadWrite(newname)
}

func (p *pebbleFS) MkdirAll(dir string, perm os.FileMode) error {
	name := clean(dir)
	if name == "." {
		return nil
	}
	if err := p.MkdirAll(path.Dir(name), perm); err != nil {
		return err
	}
	err := p.fsys.Mkdir(name, perm)
	if errors.Is(err, fs.ErrExist) {
		if st, err := p.Stat(name); err != nil || st.IsDir() {
			return err
		}
	}
	return err
}

// lock is the lock of a file, held by this process.
type lock struct {
	p    *pebbleFS
	name string
	io.Closer
}

func (p *pebbleFS) Lock(name string) (io.Closer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.locked[clean(name)] {
		return nil, fmt.Errorf("pebblefs: %s is locked by this process", name)
	}
	f, err := p.open(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return nil, err
	}
	p.locked[clean(name)] = true
	return &lock{p, clean(name), f}, nil
}

func (l *lock) Close() error {
	l.p.mu.Lock()
	defer l.p.mu.Unlock()
	delete(l.p.locked, l.name)
	return l.Closer.Close()
}

func (p *pebbleFS) List(dir string) ([]string, error) {
	list, err := p.fsys.ReadDir(clean(dir))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names, nil
}

func (p *pebbleFS) Stat(name string) (os.FileInfo, error) {
	st, err := p.fsys.Stat(clean(name))
	if err != nil {
		return nil, err
	}
	return st, nil
}

func (p *pebbleFS) PathBase(name string) string    { return path.Base(name) }
func (p *pebbleFS) PathJoin(elem ...string) string { return path.Join(elem...) }
func (p *pebbleFS) PathDir(name string) string     { return path.Dir(name) }

func (p *pebbleFS) GetDiskUsage(string) (vfs.DiskUsage, error) {
	return vfs.DiskUsage{}, vfs.ErrUnsupported
}
