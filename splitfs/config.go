package splitfs

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"sync"
	"syscall"
)

// Errors; test for them with errors.Is. Other errors are those of package io/fs, of the
// directory and of the store.
var (
	// ErrNoSpace: the file does not fit into a region of Config.MaxRegion. It is
	// also a syscall.ENOSPC.
	ErrNoSpace = fmt.Errorf("splitfs: the region is too small: %w", syscall.ENOSPC)
	// ErrStore: the Store failed: with NCL, the log peers or their controller; with
	// recordstore, the log. A network error among its causes does not concern the file.
	ErrStore = errors.New("splitfs: the store failed")
	// ErrConfig: a configuration or an argument exceeds the limits.
	ErrConfig = errors.New("splitfs: bad configuration")
	// ErrCorrupt: a file of splitfs's own in the directory is malformed.
	ErrCorrupt = errors.New("splitfs: damaged")
	// ErrFailed: an earlier write to the file has failed, so the content on the peers
	// is unknown. Open the file again to find out.
	ErrFailed = errors.New("splitfs: an earlier write failed")
)

// O_NCL is a flag of Open in addition to those of package os: a new file goes to the
// peers, whatever its name.
const O_NCL = 1 << 30 //nolint:revive // named as the paper does

// Sizes of regions.
const (
	MinRegion     = 1 << 10
	DefaultRegion = 4 << 20
	LargestRegion = 1<<30 - 64 // the limit of a file in ncl
)

// Store is the store of ncl files. [NCL] returns a store on log peers.
type Store interface {
	// Create makes an object of size zeros.
	Create(object string, size int) (Object, error)
	// Recover opens an object after a crash, with everything that was recorded. If it
	// does not exist the error is fs.ErrNotExist.
	Recover(object string) (Object, error)
}

// Object is a region on the peers, and a local copy of it. It is an *ncl.File.
type Object interface {
	// Record writes data at off. When it returns nil, this and all earlier data is
	// durable. A crash before that may leave any part of data.
	Record(off int, data []byte) error
	// ReadAt reads the local copy.
	ReadAt(p []byte, off int) (int, error)
	Size() int
	// Release deletes the object.
	Release() error
	// Close releases the handle; the object stays.
	Close()
}

// Config configures a file system.
type Config struct {
	// Dir holds all files that are not ncl files, and a stub for each that is.
	Dir Dir
	// Store has the ncl files.
	Store Store
	// Patterns select the new files that go to the store, in the form of path.Match:
	// they match the whole name if the pattern has a slash, otherwise its last element.
	Patterns []string
	// Region is the size of a new file's region, 4 MiB if it is 0. A full region is
	// replaced by one of up to MaxRegion, 64 times Region if it is 0.
	Region, MaxRegion int
	// NewMutex creates locks; nil: sync.Mutex. In the simulator it is
	// host.Host.NewMutex.
	NewMutex func() sync.Locker
	// Logf is called for failed clean-ups; may be nil.
	Logf func(format string, args ...any)
}

// Validate checks c. Its error wraps [ErrConfig].
func (c *Config) Validate() error {
	if c.Dir == nil || c.Store == nil {
		return fmt.Errorf("%w: a file system needs a directory and a store", ErrConfig)
	}
	for _, p := range c.Patterns {
		if _, err := path.Match(p, ""); err != nil || p == "" {
			return fmt.Errorf("%w: pattern %q: want a name with *, ? or [a-z], such as *-wal", ErrConfig, p)
		}
	}
	r := c.complete()
	if r.Region < MinRegion || r.MaxRegion < r.Region || r.MaxRegion > LargestRegion {
		return fmt.Errorf("%w: regions of %d to %d bytes; want %d to %d", ErrConfig, r.Region, r.MaxRegion, MinRegion, LargestRegion)
	}
	return nil
}

// complete returns c with its defaults filled in.
func (c Config) complete() Config {
	if c.Region == 0 {
		c.Region = DefaultRegion
		if c.MaxRegion > 0 {
			c.Region = min(c.Region, c.MaxRegion)
		}
	}
	if c.MaxRegion == 0 {
		c.MaxRegion = min(64*c.Region, LargestRegion)
	}
	if c.NewMutex == nil {
		c.NewMutex = func() sync.Locker { return new(sync.Mutex) }
	}
	if c.Logf == nil {
		c.Logf = func(string, ...any) {}
	}
	return c
}

// Dir is a directory of files: the interface through which splitfs uses the mounted
// file system below. Names have slashes, and begin with neither a dot nor a slash, as in
// package io/fs; "." is the directory itself.
type Dir interface {
	// OpenFile takes the flags of package os, except O_APPEND.
	OpenFile(name string, flag int, perm fs.FileMode) (DirFile, error)
	// Stat does not follow symbolic links.
	Stat(name string) (fs.FileInfo, error)
	// Rename atomically replaces newname if it exists.
	Rename(oldname, newname string) error
	Remove(name string) error
	Mkdir(name string, perm fs.FileMode) error
	ReadDir(name string) ([]fs.DirEntry, error)
	// SyncDir makes the names in a folder durable.
	SyncDir(name string) error
}

// DirFile is an open file of a Dir.
type DirFile interface {
	ReadAt(p []byte, off int64) (int, error)
	WriteAt(p []byte, off int64) (int, error)
	Truncate(size int64) error
	Stat() (fs.FileInfo, error)
	Sync() error
	Close() error
}
