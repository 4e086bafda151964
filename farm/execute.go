package farm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// patience is how long a program may take to end after an interrupt.
const patience = 10 * time.Second

// execute runs the program in a folder. It never fails: what goes wrong is in the result.
func execute(ctx context.Context, program, dir string, args []string) *Result {
	began := time.Now()
	r := &Result{Status: Failed}
	failed := func(err error) *Result {
		r.Stderr = fmt.Appendf(r.Stderr, "farm: %v\n", err)
		return r
	}
	folder, err := os.MkdirTemp("", "verbatim-farm-")
	if err != nil {
		return failed(err)
	}
	defer os.RemoveAll(folder)
	given := make([]string, len(args))
	for i, a := range args {
		given[i] = strings.ReplaceAll(a, Folder, folder)
	}
	if program, err = filepath.Abs(program); err != nil {
		return failed(err)
	}
	c := exec.CommandContext(ctx, program, given...)
	c.Dir = dir
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = patience
	c.SysProcAttr = ownGroup()
	stdout, stderr := &bounded{}, &bounded{}
	c.Stdout, c.Stderr = stdout, stderr
	err = c.Run()
	general := func(b []byte) []byte { return bytes.ReplaceAll(b, []byte(folder), []byte(Folder)) }
	r.Stdout, r.Stderr, r.Seconds = general(stdout.Bytes()), general(stderr.Bytes()), time.Since(began).Seconds()
	var exit *exec.ExitError
	switch {
	case stdout.over || stderr.over:
		return failed(fmt.Errorf("the output of the job has more than %d bytes", maxResult/4))
	case err == nil:
		r.Status = 0
	case errors.As(err, &exit) && exit.Exited():
		r.Status = exit.ExitCode()
	default: // it could not be started, or a signal ended it
		return failed(err)
	}
	if r.Files, err = filesIn(folder); err != nil {
		r.Status = Failed
		return failed(err)
	}
	return r
}

// bounded is a buffer that fills up.
type bounded struct {
	bytes.Buffer
	over bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.over = b.over || b.Len()+len(p) > maxResult/4; b.over {
		return 0, errors.New("farm: too much output")
	}
	return b.Buffer.Write(p)
}

// filesIn reads the files in a folder, by their paths in it, with slashes.
func filesIn(folder string) (map[string][]byte, error) {
	out, size := map[string][]byte{}, 0
	err := filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(folder, name)
		if err != nil {
			return err
		}
		if size += len(b); size > maxResult/4 {
			return fmt.Errorf("the files of the job have more than %d bytes", maxResult/4)
		}
		out[filepath.ToSlash(rel)] = b
		return nil
	})
	if err != nil || len(out) == 0 {
		return nil, err
	}
	return out, nil
}
