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

// Write makes a file of what write writes. If that fails, as on a full disk, a file that
// was there stays as it was and nothing else is left. What is no ordinary file, such as
// a pipe, cannot be replaced: it is written to.
func Write(name string, write func(io.Writer) error) error {
	if st, err := os.Stat(name); err == nil && !st.Mode().IsRegular() {
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return fill(f, write)
	}
	tmp := filepath.Join(filepath.Dir(name), fmt.Sprintf(".verbatim-%016x", rand.Uint64()))
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	if err = fill(f, write); err == nil {
		err = os.Rename(tmp, name)
	}
	if err != nil {
		os.Remove(tmp)
	}
	return err
}

// fill writes and closes a file.
func fill(f *os.File, write func(io.Writer) error) error {
	b := bufio.NewWriter(f)
	return errors.Join(write(b), b.Flush(), f.Close())
}
