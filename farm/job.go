package farm

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Job is a command line of the program.
type Job struct {
	Args []string `json:"args"`
	// Source: the program needs its source tree.
	Source bool `json:"source,omitempty"`
}

// Folder stands for a folder of the worker in [Job].Args, and in what the program prints. The files that the program writes
// there come with the result.
const Folder = "{folder}"

// Result is the result of a job.
type Result struct {
	Status  int               `json:"status"` // the exit status of the program
	Stdout  []byte            `json:"stdout"`
	Stderr  []byte            `json:"stderr"`
	Files   map[string][]byte `json:"files,omitempty"` // what it wrote into Folder
	Worker  string            `json:"worker"`
	Seconds float64           `json:"seconds"`
	// Lost, if not 0, is how many workers were lost with the job before it was given up. The status is Failed.
	Lost int `json:"lost,omitempty"`
}

// Failed is the status of a job that no worker could run.
const Failed = 2

// ErrConfig is wrapped by errors about configurations and the files that they name.
var ErrConfig = errors.New("farm: bad configuration")

// Build returns the identity of a program: the hash of its file, shortened.
func Build(program string) (string, error) {
	f, err := os.Open(program)
	if err != nil {
		return "", fmt.Errorf("%w: the program: %w", ErrConfig, err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("%w: the program: %w", ErrConfig, err)
	}
	return short(h.Sum(nil)), nil
}

// Tree returns the identity of a source tree: a hash over the names and contents of the files that a build or a mutant
// can depend on, shortened. dir must have a go.mod.
func Tree(dir string) (string, error) {
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		return "", fmt.Errorf("%w: %s is no source tree: %w", ErrConfig, dir, err)
	}
	var names []string
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && name != dir:
			return fs.SkipDir
		case d.Type().IsRegular() && counts(name):
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("%w: the source tree: %w", ErrConfig, err)
	}
	slices.Sort(names)
	h := sha256.New()
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			return "", fmt.Errorf("%w: the source tree: %w", ErrConfig, err)
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %d\n", filepath.ToSlash(rel), len(b))
		h.Write(b)
	}
	return short(h.Sum(nil)), nil
}

// counts reports whether a file is part of a source tree. Builds can embed files, and mutants read litmus tests. What a
// check writes, and the pages, are no part of it.
func counts(name string) bool {
	return slices.Contains([]string{".go", ".mod", ".sum", ".c", ".h", ".s", ".patch", ".txt", ".litmus", ".css", ".js", ".yml"}, filepath.Ext(name)) ||
		filepath.Base(filepath.Dir(name)) == "equivalent"
}

func short(sum []byte) string { return hex.EncodeToString(sum[:12]) }
