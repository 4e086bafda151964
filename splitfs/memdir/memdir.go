package memdir

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/verbatim-rdma/verbatim/splitfs"
)

const sector = 512

// ErrCrashed: the handle predates the crash.
var ErrCrashed = errors.New("memdir: open from before the crash")

// Dir is a directory. The zero value is ready and empty.
type Dir struct {
	// Step, if set, is called before each change: a crash can happen there.
	Step func()
	// Limit is the capacity in bytes of data; 0: no limit.
	Limit int64

	names, durable names
	pending        []rename // changes of names that are not durable, in order
	life           int
}

var _ splitfs.Dir = (*Dir)(nil)

type names map[string]*inode

// rename is a change of names: from "" creates a name, to "" removes one.
type rename struct {
	from, to string
	inode    *inode // if it is new
}

func (n names) apply(r rename) {
	switch {
	case r.from == "":
		n[r.to] = r.inode
	case r.to == "":
		delete(n, r.from)
	default:
		for _, name := range n.below(r.from) {
			i := n[name]
			delete(n, name)
			n[r.to+strings.TrimPrefix(name, r.from)] = i
		}
	}
}

// below is name and all in it, in order.
func (n names) below(name string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(n)), func(s string) bool {
		return s != name && !strings.HasPrefix(s, name+"/")
	})
}

type inode struct {
	data, synced []byte
	log          []change // since it was synced
	mode         fs.FileMode
}

// change is a write, or a truncation if data is nil.
type change struct {
	off  int64
	data []byte
}

func (c change) apply(b []byte) []byte {
	end := c.off + int64(len(c.data))
	if grow := end - int64(len(b)); grow > 0 {
		b = append(b, make([]byte, grow)...)
	}
	if c.data == nil {
		return b[:c.off]
	}
	copy(b[c.off:], c.data)
	return b
}

func (i *inode) change(c change) {
	i.data = c.apply(i.data)
	i.log = append(i.log, c)
}

func (i *inode) sync() {
	for _, c := range i.log {
		i.synced = c.apply(i.synced)
	}
	i.log = nil
}

// Reset makes the directory empty.
func (d *Dir) Reset() { *d = Dir{Step: d.Step, Limit: d.Limit, life: d.life + 1} }

// Crash loses unsynced data as pick decides, which returns a number below n.
func (d *Dir) Crash(pick func(n int) int) {
	d.life++
	keep := 0
	if len(d.pending) > 0 {
		keep = pick(len(d.pending) + 1)
	}
	for _, r := range d.pending[:keep] {
		d.ready().durable.apply(r)
	}
	d.pending = nil
	d.names = maps.Clone(d.durable)
	for _, name := range slices.Sorted(maps.Keys(d.names)) {
		i := d.names[name]
		if len(i.log) == 0 {
			continue
		}
		all := pick(3) // all, none, or each separately
		for _, c := range i.log {
			switch {
			case all == 0 || all == 2 && pick(3) == 0:
				i.synced = c.apply(i.synced)
			case all == 2 && len(c.data) > sector && pick(2) == 0:
				cut := sector * (1 + pick(len(c.data)/sector))
				i.synced = change{c.off, c.data[:min(cut, len(c.data))]}.apply(i.synced)
			}
		}
		i.log, i.data = nil, slices.Clone(i.synced)
	}
}

// Hash is a hash of everything that the directory holds.
func (d *Dir) Hash() uint64 {
	h := fnv.New64a()
	for _, n := range []names{d.names, d.durable} {
		for _, name := range slices.Sorted(maps.Keys(n)) {
			fmt.Fprintf(h, "%q %d %q %q %d", name, n[name].mode, n[name].data, n[name].synced, len(n[name].log))
		}
	}
	fmt.Fprint(h, len(d.pending))
	return h.Sum64()
}

func (d *Dir) ready() *Dir {
	if d.names == nil {
		d.names = names{}
	}
	if d.durable == nil {
		d.durable = names{}
	}
	return d
}

func (d *Dir) step() {
	d.ready()
	if d.Step != nil {
		d.Step()
	}
}

func (d *Dir) rename(r rename) {
	d.names.apply(r)
	d.pending = append(d.pending, r)
}

func failed(op, name string, err error) error { return &fs.PathError{Op: op, Path: name, Err: err} }

// folder returns an error if the parent of name is not a folder.
func (d *Dir) folder(op, name string) error {
	up := path.Dir(name)
	if i := d.names[up]; up != "." && i == nil {
		return failed(op, name, fs.ErrNotExist)
	} else if up != "." && !i.mode.IsDir() {
		return failed(op, name, syscall.ENOTDIR)
	}
	return nil
}

// absent returns the error of a name that is not there.
func (d *Dir) absent(op, name string) error {
	return cmp.Or(d.folder(op, name), failed(op, name, fs.ErrNotExist))
}

// OpenFile implements splitfs.Dir.
func (d *Dir) OpenFile(name string, flag int, perm fs.FileMode) (splitfs.DirFile, error) {
	d.ready()
	i := d.names[name]
	switch {
	case i == nil && flag&os.O_CREATE == 0:
		return nil, d.absent("open", name)
	case i != nil && i.mode.IsDir():
		return nil, failed("open", name, syscall.EISDIR)
	case i != nil && flag&os.O_CREATE != 0 && flag&os.O_EXCL != 0:
		return nil, failed("open", name, fs.ErrExist)
	case i == nil:
		if err := d.folder("open", name); err != nil {
			return nil, err
		}
		d.step()
		i = &inode{mode: perm.Perm()}
		d.rename(rename{to: name, inode: i})
	case flag&os.O_TRUNC != 0 && len(i.data) > 0:
		d.step()
		i.change(change{})
	}
	return &file{d, i, name, d.life}, nil
}

// Stat implements splitfs.Dir.
func (d *Dir) Stat(name string) (fs.FileInfo, error) {
	if name == "." {
		return info{".", 0, fs.ModeDir | 0o700}, nil
	}
	i := d.ready().names[name]
	if i == nil {
		return nil, d.absent("stat", name)
	}
	return info{path.Base(name), int64(len(i.data)), i.mode}, nil
}

// Rename implements splitfs.Dir.
func (d *Dir) Rename(oldname, newname string) error {
	d.step()
	i, j := d.names[oldname], d.names[newname]
	err := d.folder("rename", newname)
	switch {
	case i == nil:
		err = fs.ErrNotExist
	case err != nil:
	case oldname == newname:
		return nil
	case strings.HasPrefix(newname, oldname+"/"):
		err = fs.ErrInvalid
	case j != nil && i.mode.IsDir() && !j.mode.IsDir():
		err = syscall.ENOTDIR
	case j != nil && j.mode.IsDir() && !i.mode.IsDir():
		err = syscall.EISDIR
	case j != nil && len(d.names.below(newname)) > 1:
		err = syscall.ENOTEMPTY
	}
	if err != nil {
		return &os.LinkError{Op: "rename", Old: oldname, New: newname, Err: err}
	}
	d.rename(rename{from: oldname, to: newname})
	return nil
}

// Remove implements splitfs.Dir.
func (d *Dir) Remove(name string) error {
	d.step()
	switch {
	case d.names[name] == nil:
		return failed("remove", name, fs.ErrNotExist)
	case len(d.names.below(name)) > 1:
		return failed("remove", name, syscall.ENOTEMPTY)
	}
	d.rename(rename{from: name})
	return nil
}

// Mkdir implements splitfs.Dir.
func (d *Dir) Mkdir(name string, perm fs.FileMode) error {
	d.step()
	if d.names[name] != nil {
		return failed("mkdir", name, fs.ErrExist)
	}
	if err := d.folder("mkdir", name); err != nil {
		return err
	}
	d.rename(rename{to: name, inode: &inode{mode: fs.ModeDir | perm.Perm()}})
	return nil
}

// ReadDir implements splitfs.Dir.
func (d *Dir) ReadDir(name string) ([]fs.DirEntry, error) {
	d.ready()
	if i := d.names[name]; name != "." && i == nil {
		return nil, failed("readdir", name, fs.ErrNotExist)
	} else if name != "." && !i.mode.IsDir() {
		return nil, failed("readdir", name, syscall.ENOTDIR)
	}
	var list []fs.DirEntry
	for _, n := range slices.Sorted(maps.Keys(d.names)) {
		if path.Dir(n) == name {
			st, _ := d.Stat(n) // it is there
			list = append(list, fs.FileInfoToDirEntry(st))
		}
	}
	return list, nil
}

// SyncDir implements splitfs.Dir.
func (d *Dir) SyncDir(name string) error {
	d.step()
	if i := d.names[name]; name != "." && (i == nil || !i.mode.IsDir()) {
		return failed("sync", name, fs.ErrNotExist)
	}
	for _, r := range d.pending {
		d.durable.apply(r)
	}
	d.pending = nil
	return nil
}

type info struct {
	name string
	size int64
	mode fs.FileMode
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return i.mode }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return i.mode.IsDir() }
func (i info) Sys() any           { return nil }

type file struct {
	d     *Dir
	inode *inode
	name  string
	life  int
}

func (f *file) check(op string) error {
	if f.life != f.d.life {
		return failed(op, f.name, ErrCrashed)
	}
	return nil
}

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	if err := f.check("read"); err != nil {
		return 0, err
	}
	if off >= int64(len(f.inode.data)) {
		return 0, io.EOF
	}
	n := copy(p, f.inode.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *file) WriteAt(p []byte, off int64) (int, error) {
	f.d.step()
	if err := f.check("write"); err != nil {
		return 0, err
	}
	if f.d.Limit > 0 {
		used := max(0, off+int64(len(p))-int64(len(f.inode.data)))
		for _, name := range slices.Sorted(maps.Keys(f.d.names)) {
			used += int64(len(f.d.names[name].data))
		}
		if used > f.d.Limit {
			return 0, failed("write", f.name, syscall.ENOSPC)
		}
	}
	if len(p) > 0 {
		f.inode.change(change{off, slices.Clone(p)})
	}
	return len(p), nil
}

func (f *file) Truncate(size int64) error {
	f.d.step()
	if err := f.check("truncate"); err != nil {
		return err
	}
	if size > int64(len(f.inode.data)) {
		f.inode.change(change{int64(len(f.inode.data)), make([]byte, size-int64(len(f.inode.data)))})
		return nil
	}
	f.inode.change(change{off: size})
	return nil
}

func (f *file) Stat() (fs.FileInfo, error) {
	return info{path.Base(f.name), int64(len(f.inode.data)), f.inode.mode}, f.check("stat")
}

func (f *file) Sync() error {
	f.d.step()
	if err := f.check("sync"); err != nil {
		return err
	}
	f.inode.sync()
	return nil
}

func (f *file) Close() error { return nil }
