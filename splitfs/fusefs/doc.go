// Package fusefs mounts a split file system, for programs that know nothing of it,
// by FUSE. It is for Linux.
//
// A file on the peers is opened past the kernel's page cache, so that a write has
// reached the peers when the system call returns, and cannot be mapped shared. Files
// of the directory are cached and can be mapped. There are no links, no special
// files and no extended attributes. Locks are the kernel's own: they hold among the
// programs on one mount.
//
// Of an error that has no number of its own a program sees EIO; Config.Logf is told
// all of it.
package fusefs
