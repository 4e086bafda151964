package fusefs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/verbatim-rdma/verbatim/splitfs"
)

// ErrMountPoint: the file system cannot be mounted there.
var ErrMountPoint = errors.New("fusefs: bad mount point")

// Config configures a mount.
type Config struct {
	// FS is the file system, and Dir its directory.
	FS  *splitfs.FS
	Dir *splitfs.OSDir
	// At is an empty folder.
	At string
	// Logf is called for errors without an errno; may be nil.
	Logf func(format string, args ...any)
}

// Check checks whether a folder can serve as a mount point, for a directory elsewhere.
// Its error wraps [ErrMountPoint].
func Check(at, dir string) error {
	st, err := os.Stat(at)
	switch {
	case errors.Is(err, syscall.ENOTCONN):
		return fmt.Errorf("%w: %s is in use by a mount whose process has died; unmount it with 'umount -l %s'", ErrMountPoint, at, at)
	case err != nil:
		return fmt.Errorf("%w: %w", ErrMountPoint, err)
	case !st.IsDir():
		return fmt.Errorf("%w: %s is not a folder", ErrMountPoint, at)
	}
	if mountedOn(at) {
		return fmt.Errorf("%w: %s is in use: something is mounted there; unmount it or name another folder", ErrMountPoint, at)
	}
	list, err := os.ReadDir(at)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrMountPoint, err)
	}
	if len(list) > 0 {
		return fmt.Errorf("%w: %s is not empty: it has %s", ErrMountPoint, at, list[0].Name())
	}
	return apart(at, dir)
}

// apart: a directory below its own mount point cannot be reached.
func apart(at, dir string) error {
	a, err := filepath.EvalSymlinks(at)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrMountPoint, err)
	}
	d, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(a, d)
	if err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
		return fmt.Errorf("%w: the directory %s is below %s, and the mount would hide it; mount elsewhere", ErrMountPoint, dir, at)
	}
	return nil
}

// mountedOn reports whether at is on another device than its parent folder.
func mountedOn(at string) bool {
	var here, above syscall.Stat_t
	return syscall.Stat(at, &here) == nil && syscall.Stat(filepath.Join(at, ".."), &above) == nil && here.Dev != above.Dev
}

// Mount mounts a file system and serves it until it is unmounted; Server.Wait waits for
// that. The error wraps [ErrMountPoint] if the folder is the problem.
func Mount(cfg Config) (*fuse.Server, error) {
	if err := Check(cfg.At, cfg.Dir.Name()); err != nil {
		return nil, err
	}
	if cfg.Logf == nil {
		cfg.Logf = func(string, ...any) {}
	}
	root := &node{on: &mounted{cfg.FS, cfg.Dir, cfg.Logf}}
	s, err := fs.Mount(cfg.At, root, &fs.Options{NullPermissions: true, MountOptions: fuse.MountOptions{
		FsName: cfg.Dir.Name(), Name: "verbatim", DirectMount: true, DisableXAttrs: true, MaxWrite: 1 << 20,
	}})
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w; it needs /dev/fuse, and root or fusermount3", ErrMountPoint, cfg.At, err)
	}
	return s, nil
}
