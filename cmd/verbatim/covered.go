package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"github.com/verbatim-rdma/verbatim/coverage"
)

// coveredEnv tells a program that it was built to count statements, and in which folder
// it is. The folder is its to remove.
const coveredEnv = "VERBATIM_COVERED"

// become replaces this program by another; tests put something else in its place.
var become = syscall.Exec

// counted makes sure that this program counts the statements of protocols: if it does not,
// it builds one that does and becomes that, with the same arguments. It returns only if
// this program counts, or with the reason why no program does.
func counted(ctx context.Context, protocols []string, stderr io.Writer) error {
	err := coverage.Clear()
	if err == nil || os.Getenv(coveredEnv) != "" {
		return err
	}
	dir, err := os.MkdirTemp("", "verbatim-covered-*")
	if err != nil {
		return err
	}
	program := filepath.Join(dir, "verbatim")
	if err := coverage.Build(ctx, "", "./cmd/verbatim", protocols, program); err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	fmt.Fprintln(stderr, "verbatim: checking with a program built from the source here, which counts what it reaches")
	env := append(os.Environ(), coveredEnv+"="+dir, "GOCOVERDIR="+dir)
	err = become(program, append([]string{program}, os.Args[1:]...), env)
	return errors.Join(fmt.Errorf("the program that counts cannot be started: %w", err), os.RemoveAll(dir))
}

// leave ends the program. One that counted built is removed, and ends without writing
// down its counters, which have been read.
func leave(code int) {
	if dir := os.Getenv(coveredEnv); dir != "" {
		if self, err := os.Executable(); err == nil && filepath.Dir(self) == dir {
			_ = os.RemoveAll(dir)
			syscall.Exit(code)
		}
	}
	os.Exit(code)
}
