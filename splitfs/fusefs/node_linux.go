package fusefs

import (
	"context"
	"errors"
	"io"
	iofs "io/fs"
	"os"
	"path"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/verbatim-rdma/verbatim/splitfs"
)

// node is a file or folder as the kernel knows it.
type node struct {
	fs.Inode
	on *mounted
}

// mounted is shared by all nodes of a mount.
type mounted struct {
	fsys *splitfs.FS
	dir  *splitfs.OSDir
	logf func(format string, args ...any)
}

// handle is an open file.
type handle struct {
	*splitfs.File
	append bool
}

var _ = []any{fs.NodeLookuper(&node{}), fs.NodeGetattrer(&node{}), fs.NodeSetattrer(&node{}), fs.NodeOpener(&node{}),
	fs.NodeCreater(&node{}), fs.NodeReader(&node{}), fs.NodeWriter(&node{}), fs.NodeFsyncer(&node{}), fs.NodeReleaser(&node{}),
	fs.NodeUnlinker(&node{}), fs.NodeRmdirer(&node{}), fs.NodeMkdirer(&node{}), fs.NodeRenamer(&node{}),
	fs.NodeReaddirer(&node{}), fs.NodeStatfser(&node{})}

// name returns the name of the node, or of a file in it.
func (n *node) name(in ...string) string {
	return path.Join(append([]string{".", n.Path(nil)}, in...)...)
}

// errno returns the number for the kernel.
func (m *mounted) errno(err error) syscall.Errno {
	var no syscall.Errno
	switch {
	case err == nil:
		return 0
	case errors.Is(err, syscall.ENOSPC):
		m.logf("%v", err) // ENOSPC does not say whether the region or the directory is full
		return syscall.ENOSPC
	case errors.Is(err, splitfs.ErrStore):
		// An errno in it would come from the network.
	case errors.As(err, &no):
		return no
	case errors.Is(err, iofs.ErrNotExist):
		return syscall.ENOENT
	case errors.Is(err, iofs.ErrExist):
		return syscall.EEXIST
	case errors.Is(err, iofs.ErrPermission):
		return syscall.EACCES
	case errors.Is(err, iofs.ErrInvalid):
		return syscall.EINVAL
	}
	m.logf("%v", err)
	return syscall.EIO
}

func (n *node) attr(i iofs.FileInfo, size int64, out *fuse.Attr) {
	if st, ok := i.Sys().(*syscall.Stat_t); ok {
		out.FromStat(st)
	}
	out.Ino = 0 // go-fuse numbers the nodes
	out.Size = uint64(size)
	out.Blocks = (out.Size + 511) / 512
}

// child returns the node of a name in n.
func (n *node) child(ctx context.Context, name string, i *splitfs.Info, out *fuse.EntryOut) *fs.Inode {
	n.attr(i.FileInfo, i.Size(), &out.Attr)
	mode := uint32(syscall.S_IFREG)
	if i.IsDir() {
		mode = syscall.S_IFDIR
	}
	if c := n.GetChild(name); c != nil && c.StableAttr().Mode == mode {
		return c
	}
	return n.NewInode(ctx, &node{on: n.on}, fs.StableAttr{Mode: mode})
}

func (n *node) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	i, err := n.on.fsys.Stat(n.name(name))
	if err != nil {
		return nil, n.on.errno(err)
	}
	if !i.IsDir() && !i.Mode().IsRegular() {
		return nil, syscall.ENOENT // a link or a device: the mount does not offer these
	}
	return n.child(ctx, name, i, out), 0
}

func (n *node) Getattr(_ context.Context, f fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	i, err := n.on.fsys.Stat(n.name())
	h, open := f.(*handle)
	if err == nil {
		n.attr(i.FileInfo, i.Size(), &out.Attr)
	} else if !open {
		return n.on.errno(err)
	}
	if open { // the file may have lost its name
		size, err := h.Size()
		if err != nil {
			return n.on.errno(err)
		}
		out.Size, out.Mode = uint64(size), max(out.Mode, syscall.S_IFREG|0o600)
	}
	return 0
}

func (n *node) Setattr(ctx context.Context, f fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	if err := n.set(f, in); err != nil {
		return n.on.errno(err)
	}
	return n.Getattr(ctx, f, out)
}

func (n *node) set(f fs.FileHandle, in *fuse.SetAttrIn) (err error) {
	name := n.name()
	if size, ok := in.GetSize(); ok {
		if err := n.truncate(f, name, int64(size)); err != nil {
			return err
		}
	}
	if mode, ok := in.GetMode(); ok {
		err = n.on.dir.Chmod(name, iofs.FileMode(mode).Perm())
	}
	uid, isUID := in.GetUID()
	gid, isGID := in.GetGID()
	if isUID || isGID {
		to := [2]int{-1, -1} // unchanged
		if isUID {
			to[0] = int(uid)
		}
		if isGID {
			to[1] = int(gid)
		}
		err = errors.Join(err, n.on.dir.Lchown(name, to[0], to[1]))
	}
	mtime, isM := in.GetMTime()
	atime, isA := in.GetATime()
	if isM || isA {
		err = errors.Join(err, n.on.dir.Chtimes(name, timeOrZero(atime, isA), timeOrZero(mtime, isM)))
	}
	return err
}

// timeOrZero returns zero for a time that does not change.
func timeOrZero(t time.Time, set bool) time.Time {
	if !set {
		return time.Time{}
	}
	return t
}

func (n *node) truncate(f fs.FileHandle, name string, size int64) error {
	if h, ok := f.(*handle); ok {
		return h.Truncate(size)
	}
	file, err := n.on.fsys.Open(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(file.Truncate(size), file.Close())
}

// opened returns the kernel's description of an open file.
func opened(f *splitfs.File, flags uint32) (fs.FileHandle, uint32) {
	h := &handle{f, flags&syscall.O_APPEND != 0}
	if f.NCL() {
		return h, fuse.FOPEN_DIRECT_IO
	}
	return h, 0
}

// fileFlags are the flags that splitfs knows.
const fileFlags = syscall.O_ACCMODE | syscall.O_EXCL | syscall.O_TRUNC

func (n *node) Open(_ context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	f, err := n.on.fsys.Open(n.name(), int(flags&fileFlags&^syscall.O_EXCL), 0)
	if err != nil {
		return nil, 0, n.on.errno(err)
	}
	h, how := opened(f, flags)
	return h, how, 0
}

func (n *node) Create(ctx context.Context, name string, flags, mode uint32, out *fuse.EntryOut) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	f, err := n.on.fsys.Open(n.name(name), int(flags&fileFlags)|os.O_CREATE, iofs.FileMode(mode).Perm())
	if err != nil {
		return nil, nil, 0, n.on.errno(err)
	}
	i, err := n.on.fsys.Stat(n.name(name))
	if err != nil {
		_ = f.Close()
		return nil, nil, 0, n.on.errno(err)
	}
	h, how := opened(f, flags)
	return n.child(ctx, name, i, out), h, how, 0
}

func (n *node) Read(_ context.Context, f fs.FileHandle, p []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	got, err := f.(*handle).ReadAt(p, off)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, n.on.errno(err)
	}
	return fuse.ReadResultData(p[:got]), 0
}

func (n *node) Write(_ context.Context, f fs.FileHandle, p []byte, off int64) (uint32, syscall.Errno) {
	h := f.(*handle)
	var done int
	var err error
	if h.append && h.NCL() {
		done, err = h.Append(p)
	} else {
		done, err = h.WriteAt(p, off)
	}
	return uint32(done), n.on.errno(err)
}

// Fsync syncs a folder if there is no handle.
func (n *node) Fsync(_ context.Context, f fs.FileHandle, _ uint32) syscall.Errno {
	if h, ok := f.(*handle); ok {
		return n.on.errno(h.Sync())
	}
	return n.on.errno(n.on.fsys.SyncDir(n.name()))
}

func (n *node) Release(_ context.Context, f fs.FileHandle) syscall.Errno {
	return n.on.errno(f.(*handle).Close())
}

func (n *node) Unlink(_ context.Context, name string) syscall.Errno {
	return n.on.errno(n.on.fsys.Remove(n.name(name)))
}

func (n *node) Rmdir(_ context.Context, name string) syscall.Errno {
	return n.on.errno(n.on.fsys.Remove(n.name(name)))
}

func (n *node) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	if err := n.on.fsys.Mkdir(n.name(name), iofs.FileMode(mode).Perm()); err != nil {
		return nil, n.on.errno(err)
	}
	return n.Lookup(ctx, name, out)
}

func (n *node) Rename(_ context.Context, name string, parent fs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	const noReplace = 1
	to := parent.EmbeddedInode().Operations().(*node).name(newName)
	if flags&^noReplace != 0 {
		return syscall.EINVAL // an exchange of two files
	}
	if flags == noReplace {
		if _, err := n.on.fsys.Stat(to); err == nil {
			return syscall.EEXIST
		}
	}
	return n.on.errno(n.on.fsys.Rename(n.name(name), to))
}

func (n *node) Readdir(context.Context) (fs.DirStream, syscall.Errno) {
	list, err := n.on.fsys.ReadDir(n.name())
	if err != nil {
		return nil, n.on.errno(err)
	}
	var out []fuse.DirEntry
	for _, e := range list {
		switch {
		case e.IsDir():
			out = append(out, fuse.DirEntry{Name: e.Name(), Mode: syscall.S_IFDIR})
		case e.Type().IsRegular():
			out = append(out, fuse.DirEntry{Name: e.Name(), Mode: syscall.S_IFREG})
		}
	}
	return fs.NewListDirStream(out), 0
}

func (n *node) Statfs(_ context.Context, out *fuse.StatfsOut) syscall.Errno {
	var s syscall.Statfs_t
	if err := syscall.Statfs(n.on.dir.Name(), &s); err != nil {
		return n.on.errno(err)
	}
	out.FromStatfsT(&s)
	return 0
}
