package coverage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/coverage"
	"slices"
	"strings"

	"golang.org/x/tools/cover"

	"github.com/verbatim-rdma/verbatim/internal/source"
)

var (
	// ErrNone: the program does not count statements.
	ErrNone = errors.New("coverage: the program was not built with -cover -covermode=atomic")
	// ErrSource: the source of the protocol, or the go command, is missing.
	ErrSource = errors.New("coverage: run the command in the source tree, with the go command installed")
)

// Clear sets all counters to zero.
func Clear() error {
	// What is written first makes the counters known if nothing did so before.
	if err := errors.Join(coverage.WriteMeta(io.Discard), coverage.ClearCounters()); err != nil {
		return fmt.Errorf("%w: %w", ErrNone, err)
	}
	return nil
}

// Collect returns the profile of everything that ran since the last Clear. It requires the go command.
func Collect(ctx context.Context) (*Profile, error) {
	dir, err := os.MkdirTemp("", "verbatim-coverage-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := errors.Join(coverage.WriteMetaDir(dir), coverage.WriteCountersDir(dir)); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNone, err)
	}
	text := filepath.Join(dir, "profile")
	if _, err := goCommand(ctx, "", "tool", "covdata", "textfmt", "-i="+dir, "-o="+text); err != nil {
		return nil, err
	}
	files, err := cover.ParseProfiles(text)
	if err != nil {
		return nil, fmt.Errorf("coverage: %w", err)
	}
	return newProfile(files), nil
}

// Build builds command main of the source tree that dir is in, so that it counts the
// statements of the packages in folders and below, and writes it to file out. Main counts too, because otherwise
// the go command leaves out what is needed to read the counters. It has no
// symbols, since linking takes most of the time.
func Build(ctx context.Context, dir, main string, folders []string, out string) error {
	root, err := source.Running().Root(dir)
	if err != nil {
		return fmt.Errorf("%w; %w", ErrSource, err)
	}
	packages, err := protocolPackages(ctx, root, folders)
	if err != nil {
		return err
	}
	_, err = goCommand(ctx, root, "build", "-ldflags=-s", "-cover", "-covermode=atomic",
		"-coverpkg="+strings.Join(append(packages, main), ","), "-o", out, main)
	return err
}

// protocolPackages returns the packages in folders and below, without those of scenarios.
func protocolPackages(ctx context.Context, root string, folders []string) ([]string, error) {
	if len(folders) == 0 {
		return nil, fmt.Errorf("%w: the protocol names no Folders", ErrSource)
	}
	var all []string
	for _, dir := range folders {
		if _, err := os.Stat(filepath.Join(root, dir)); err != nil {
			return nil, fmt.Errorf("%w; %w", ErrSource, err)
		}
		text, err := goCommand(ctx, root, "list", "./"+dir+"/...")
		if err != nil {
			return nil, err
		}
		all = append(all, strings.Fields(string(text))...)
	}
	return slices.DeleteFunc(all, func(p string) bool {
		return slices.ContainsFunc(strings.Split(p, "/"), func(e string) bool { return strings.HasSuffix(e, "check") })
	}), nil
}

// goCommand runs the go command. Its error contains the command's output.
func goCommand(ctx context.Context, dir string, args ...string) ([]byte, error) {
	var stdout, stderr bytes.Buffer
	c := exec.CommandContext(ctx, "go", args...)
	c.Dir, c.Stdout, c.Stderr = dir, &stdout, &stderr
	err := c.Run()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil, fmt.Errorf("%w; %w", ErrSource, err)
	case err != nil:
		return nil, fmt.Errorf("coverage: go %s: %w: %s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return stdout.Bytes(), nil
}
