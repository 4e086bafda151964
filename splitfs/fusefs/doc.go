// Package fusefs mounts a split file system through FUSE, for unmodified programs. It
// is for Linux.
//
// A file on the peers is opened with direct I/O, so that a write has reached the peers
// when the system call returns; it cannot be mapped shared. Files of the directory are
// cached and can be mapped. There are no links, no special files and no extended
// attributes. Locks are the kernel's: they apply only among the programs on one mount.
//
// A program sees EIO for an error that has no errno; Config.Logf receives the whole
// error.
package fusefs
