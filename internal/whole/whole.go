// Package whole writes files whole or not at all.
package whole

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// Write makes a file of the output of write. If that fails, as on a full disk, a file that
// existed stays unchanged and nothing else is left. A replaced file leaves its
// mode to the new one, and a symbolic link still leads to it. A file that is not regular,
// such as a pipe, cannot be replaced: Write writes to it.
func Write(name string, write func(io.Writer) error) error {
	mode := os.FileMode(0)
	if st, err := os.Stat(name); err == nil {
		if !st.Mode().IsRegular() {
			f, err := os.OpenFile(name, os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			return errors.Join(fill(f, write), f.Close())
		}
		mode = st.Mode().Perm()
		if name, err = filepath.EvalSymlinks(name); err != nil {
			return err
		}
	}
	tmp := filepath.Join(filepath.Dir(name), fmt.Sprintf(".verbatim-%016x", rand.Uint64()))
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return named(err, tmp, name)
	}
	err = fill(f, write)
	if err == nil && mode != 0 {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync() // else the name can outlive a power failure, and the bytes not
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(tmp, name)
	}
	if err != nil {
		os.Remove(tmp)
	}
	return named(err, tmp, name)
}

// named makes an error of the temporary file name the file that the reader knows.
func named(err error, tmp, name string) error {
	if e, ok := errors.AsType[*os.PathError](err); ok && e.Path == tmp {
		e.Path = name
	}
	return err
}

func fill(f *os.File, write func(io.Writer) error) error {
	b := bufio.NewWriter(f)
	return errors.Join(write(b), b.Flush())
}
