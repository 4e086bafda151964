package splitfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"syscall"
)

// node is an opened ncl file. It stays open until it is unlinked or the file system is
// closed, because recovering it again is more expensive.
type node struct {
	fs *FS
	// Guarded by fs.mu.
	id, path string
	refs     int
	intent   string // the file in Reserved which records that the node has lost its name
	failed   error  // guarded by both: written with mu and fs.mu

	mu     sync.Locker
	region *region // replaced with mu and fs.mu
}

// moved records that a file or folder was renamed.
func (n *node) moved(oldname, newname string) {
	if n.intent != "" {
		return
	}
	if rest, ok := strings.CutPrefix(n.path, oldname); ok && (rest == "" || rest[0] == '/') {
		n.path = newname + rest
	}
}

func (n *node) length() int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return int64(n.region.length)
}

func (n *node) readAt(p []byte, off int64) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.region.readAt(p, int(off))
}

// change makes a change that needs up to need more bytes, in a larger region if
// necessary.
func (n *node) change(need int, do func(r *region) error) error {
	if n.failed != nil {
		return fmt.Errorf("%w: %w; close the file and open it again", ErrFailed, n.failed)
	}
	err := do(n.region)
	if errors.Is(err, errFull) {
		if err := n.fs.enlarge(n, need); err != nil {
			return err
		}
		err = do(n.region)
	}
	if err != nil {
		n.fs.mu.Lock()
		defer n.fs.mu.Unlock()
		n.failed = err
	}
	return err
}

// writeAt writes at off, or at the end if that is negative.
func (n *node) writeAt(p []byte, off int64) (int, error) {
	if len(p) == 0 {
		return 0, nil // a write of no bytes does not extend the file
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	length := int64(n.region.length)
	if off < 0 {
		off = length
	}
	end := off + int64(len(p))
	if end < 0 || end > LargestRegion {
		return 0, fmt.Errorf("%w: byte %d; no region has more than %d", ErrNoSpace, uint64(end), LargestRegion)
	}
	err := n.change(int(max(0, end-length)), func(r *region) error { return r.writeAt(p, int(off)) })
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

func (n *node) truncate(size int64) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if size < 0 || size > LargestRegion {
		return fmt.Errorf("%w: %d bytes; no region has more than %d", ErrNoSpace, size, LargestRegion)
	}
	n.fs.mu.Lock()
	gen := n.fs.generation()
	n.fs.mu.Unlock()
	return n.change(int(max(0, size-int64(n.region.length))), func(r *region) error { return r.truncate(int(size), gen) })
}

// File is an open file. Several tasks may use it at once.
type File struct {
	fs     *FS
	name   string
	flag   int
	node   *node // of an ncl file
	dir    DirFile
	closed bool
}

// NCL reports whether the file is on the peers.
func (f *File) NCL() bool { return f.node != nil }

// Name returns the name that the file was opened by.
func (f *File) Name() string { return f.name }

func (f *File) error(op string, err error) error {
	var of *fs.PathError
	if err == nil || errors.As(err, &of) {
		return err
	}
	return &fs.PathError{Op: op, Path: f.name, Err: err}
}

// can returns an error if the file is closed or not open for the operation.
func (f *File) can(not int, off int64) error {
	switch {
	case f.closed:
		return fs.ErrClosed
	case off < 0:
		return fmt.Errorf("%w: offset %d", fs.ErrInvalid, off)
	case f.flag&(os.O_RDONLY|os.O_WRONLY|os.O_RDWR) == not:
		return fmt.Errorf("the file is not open for this operation: %w", syscall.EBADF)
	}
	return nil
}

// ReadAt is pread, as in io.ReaderAt. An ncl file is read from the local copy.
func (f *File) ReadAt(p []byte, off int64) (int, error) {
	if err := f.can(os.O_WRONLY, off); err != nil {
		return 0, f.error("read", err)
	}
	if f.node != nil {
		return f.node.readAt(p, off)
	}
	return f.dir.ReadAt(p, off)
}

// WriteAt is pwrite. On an ncl file it is durable when it returns.
func (f *File) WriteAt(p []byte, off int64) (int, error) {
	if err := f.can(os.O_RDONLY, off); err != nil {
		return 0, f.error("write", err)
	}
	if f.node == nil {
		return f.dir.WriteAt(p, off)
	}
	n, err := f.node.writeAt(p, off)
	return n, f.error("write", err)
}

// Append writes after the last byte.
func (f *File) Append(p []byte) (int, error) {
	if err := f.can(os.O_RDONLY, 0); err != nil {
		return 0, f.error("write", err)
	}
	if f.node != nil {
		n, err := f.node.writeAt(p, -1)
		return n, f.error("write", err)
	}
	f.fs.mu.Lock() // concurrent appends must not overwrite each other
	defer f.fs.mu.Unlock()
	st, err := f.dir.Stat()
	if err != nil {
		return 0, err
	}
	return f.dir.WriteAt(p, st.Size())
}

// Truncate shortens the file, or extends it with zeros.
func (f *File) Truncate(size int64) error {
	if err := f.can(os.O_RDONLY, size); err != nil {
		return f.error("truncate", err)
	}
	if f.node != nil {
		return f.error("truncate", f.node.truncate(size))
	}
	return f.dir.Truncate(size)
}

// Sync is fsync. It has nothing to do for an ncl file.
func (f *File) Sync() error {
	if err := f.can(-1, 0); err != nil {
		return f.error("sync", err)
	}
	if f.node != nil {
		return nil
	}
	return f.dir.Sync()
}

// Size returns the length of the file.
func (f *File) Size() (int64, error) {
	if err := f.can(-1, 0); err != nil {
		return 0, f.error("stat", err)
	}
	if f.node != nil {
		return f.node.length(), nil
	}
	st, err := f.dir.Stat()
	if err != nil {
		return 0, err
	}
	return st.Size(), nil
}

// Close closes the file. An unlinked ncl file is deleted when its last handle is
// closed.
func (f *File) Close() error {
	if f.closed {
		return f.error("close", fs.ErrClosed)
	}
	f.closed = true
	if f.node == nil {
		return f.dir.Close()
	}
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	f.fs.unpin(f.node)
	return nil
}
