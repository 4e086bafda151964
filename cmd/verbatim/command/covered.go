package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/verbatim-rdma/verbatim/explore/coverage"
	"github.com/verbatim-rdma/verbatim/internal/source"
)

// coveredEnv marks a program that was built to count statements, and names its folder, which the
// program must remove.
const coveredEnv = "VERBATIM_COVERED"

// coveredDir is the prefix of the name of such a folder.
const coveredDir = "verbatim-covered-"

// become replaces this program by another one; tests replace become.
var become = syscall.Exec

// counted ensures that the running program counts the statements of the protocols of names: if it does not,
// counted builds a program that does and executes that program in its place, with the same arguments. It
// returns nil if this program counts, and otherwise the reason why no program does.
func counted(ctx context.Context, names []string, stderr io.Writer) error {
	err := coverage.Clear()
	if err == nil || os.Getenv(coveredEnv) != "" {
		return err
	}
	folders, _, err := foldersOf(names)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", coveredDir+"*")
	if err != nil {
		return err
	}
	program := filepath.Join(dir, "verbatim")
	if err := coverage.Build(ctx, "", source.Running().Folder(), folders, program); err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	remark(stderr, "checking with a program built from this source tree, which counts the lines that it reaches")
	env := append(os.Environ(), coveredEnv+"="+dir, "GOCOVERDIR="+dir)
	err = become(program, append([]string{program}, os.Args[1:]...), env)
	return errors.Join(fmt.Errorf("cannot start the program that counts lines: %w", err), os.RemoveAll(dir))
}

// adopt removes the folder of this program if counted built it, and reports whether it did. A
// running program no longer needs its file, so nothing is left behind however it exits.
func adopt() bool {
	dir := os.Getenv(coveredEnv)
	self, err := os.Executable()
	if dir == "" || err != nil || !strings.HasPrefix(filepath.Base(dir), coveredDir) || !same(filepath.Dir(self), dir) {
		return false
	}
	_ = os.RemoveAll(dir)
	return true
}

// leave exits. A program that counted built exits without writing its counters, which have already
// been read.
func leave(code int, adopted bool) {
	if adopted {
		syscall.Exit(code)
	}
	os.Exit(code)
}
