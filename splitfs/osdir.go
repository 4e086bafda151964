package splitfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// OSDir is a directory of the operating system, such as a mounted distributed file
// system. Symbolic links do not lead out of it.
type OSDir struct{ *os.Root }

// OpenOSDir opens an existing directory.
func OpenOSDir(dir string) (*OSDir, error) {
	r, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &OSDir{r}, nil
}

// OpenFile implements [Dir].
func (d *OSDir) OpenFile(name string, flag int, perm fs.FileMode) (DirFile, error) {
	f, err := d.Root.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err // not f: a nil *os.File is a DirFile
	}
	return f, nil
}

// Stat implements [Dir]. A symbolic link is one.
func (d *OSDir) Stat(name string) (fs.FileInfo, error) { return d.Lstat(name) }

// ReadDir implements [Dir].
func (d *OSDir) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(d.FS(), name) }

// SyncDir implements [Dir].
func (d *OSDir) SyncDir(name string) error {
	f, err := d.Open(filepath.FromSlash(name))
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
