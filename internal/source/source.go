// Package source finds the source tree of this module, for what is built from it.
package source

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Module is the path of this module.
const Module = "github.com/verbatim-rdma/verbatim"

// ErrNone: a folder is not in the source tree.
var ErrNone = errors.New("source: it is not in the source tree of verbatim")

// Root returns the source tree: dir or the first folder above it with this module's go.mod.
func Root(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for at := dir; ; at = filepath.Dir(at) {
		text, err := os.ReadFile(filepath.Join(at, "go.mod"))
		if err == nil && bytes.HasPrefix(text, []byte("module "+Module+"\n")) {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("%w: %s", ErrNone, dir)
		}
	}
}
