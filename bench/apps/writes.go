package apps

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/verbatim-rdma/verbatim/splitfs"
)

// logFile is a file that is appended to.
type logFile interface {
	// append adds p, and makes it durable if the mode does.
	append(p []byte) error
	// remove closes the file and deletes it.
	remove() error
}

// writes measures appending to a log file, by the size of the write (5.1). Each round
// has a new file.
func (r *runner) writes(name string) error {
	var dirs [modes]string
	var fsys *splitfs.FS
	for m := range modes {
		dir, f, err := r.folder(name, m)
		if err != nil {
			return err
		}
		if dirs[m] = dir; f != nil {
			fsys = f
			defer f.Close()
		}
	}
	for _, size := range r.cfg.Sizes {
		var subjects [modes]subject
		for m := range modes {
			subjects[m] = func(ops int) (time.Duration, error) {
				f, err := openLog(dirs[m], m, fsys)
				if err != nil {
					return 0, err
				}
				took, err := appending(f, make([]byte, size), ops)
				return took, errors.Join(err, f.remove())
			}
		}
		if err := r.contest(Row{App: name, What: sizeName(size)}, subjects); err != nil {
			return err
		}
	}
	return nil
}

func appending(f logFile, p []byte, ops int) (time.Duration, error) {
	began := time.Now()
	for i := range ops {
		p[0] = byte(i)
		if err := f.append(p); err != nil {
			return 0, fmt.Errorf("write %d: %w", i, err)
		}
	}
	return time.Since(began), nil
}

// logName is among the patterns of the file system.
const logName = "wal.log"

func openLog(dir string, m Mode, fsys *splitfs.FS) (logFile, error) {
	if m == NCL {
		f, err := fsys.Open(logName, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		return &splitLog{f, fsys}, err
	}
	f, err := os.OpenFile(filepath.Join(dir, logName), os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	return &plainLog{f, m == Strong}, err
}

// plainLog is a file of the directory.
type plainLog struct {
	f interface {
		io.WriteCloser
		Sync() error
		Name() string
	}
	sync bool
}

func (l *plainLog) append(p []byte) error {
	_, err := l.f.Write(p)
	if err == nil && l.sync {
		err = l.f.Sync()
	}
	return err
}

func (l *plainLog) remove() error { return errors.Join(l.f.Close(), os.Remove(l.f.Name())) }

// splitLog is a file on the peers. append calls Sync, although Sync has nothing to do.
type splitLog struct {
	f    *splitfs.File
	fsys *splitfs.FS
}

func (l *splitLog) append(p []byte) error {
	_, err := l.f.Append(p)
	if err == nil {
		err = l.f.Sync()
	}
	return err
}

func (l *splitLog) remove() error { return errors.Join(l.f.Close(), l.fsys.Remove(l.f.Name())) }
