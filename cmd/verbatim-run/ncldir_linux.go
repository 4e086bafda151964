package main

import (
	"io/fs"
	"os"

	"github.com/verbatim-rdma/verbatim/splitfs"
)

// ownDir is the directory of an instance, which it shares with the instances before and
// after it: it is changed only while the session lives. What replaces or removes a file
// asks the controller; a write to an open file looks at what the last heartbeat said.
type ownDir struct {
	splitfs.Dir
	i *instance
}

const writing = os.O_WRONLY | os.O_RDWR | os.O_CREATE | os.O_TRUNC

func (d ownDir) OpenFile(name string, flag int, perm fs.FileMode) (splitfs.DirFile, error) {
	if flag&writing != 0 {
		if err := d.i.ask(); err != nil {
			return nil, err
		}
	}
	f, err := d.Dir.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return ownDirFile{f, d.i}, nil
}

func (d ownDir) Rename(oldname, newname string) error {
	if err := d.i.ask(); err != nil {
		return err
	}
	return d.Dir.Rename(oldname, newname)
}

func (d ownDir) Remove(name string) error {
	if err := d.i.ask(); err != nil {
		return err
	}
	return d.Dir.Remove(name)
}

func (d ownDir) Mkdir(name string, perm fs.FileMode) error {
	if err := d.i.ask(); err != nil {
		return err
	}
	return d.Dir.Mkdir(name, perm)
}

type ownDirFile struct {
	splitfs.DirFile
	i *instance
}

func (f ownDirFile) WriteAt(p []byte, off int64) (int, error) {
	if err := f.i.check(); err != nil {
		return 0, err
	}
	return f.DirFile.WriteAt(p, off)
}

func (f ownDirFile) Truncate(size int64) error {
	if err := f.i.check(); err != nil {
		return err
	}
	return f.DirFile.Truncate(size)
}
