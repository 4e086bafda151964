// Package source finds the source tree of the program that runs, for what is built from it: the program may be
// command verbatim, or that of another module with protocols of its own.
package source

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
)

// Module is the path of this module, and command that of its program that checks.
const (
	Module  = "github.com/verbatim-rdma/verbatim"
	command = Module + "/cmd/verbatim"
)

// ErrNone: a folder is not in the source tree.
var ErrNone = errors.New("source: it is not in the source tree")

// Program is the source of a program: the path of its module and of its main package.
type Program struct{ Module, Package string }

// Running returns the program that runs. A test stands for the command of this module.
var Running = sync.OnceValue(func() Program {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return Program{Module, command}
	}
	return programOf(info)
})

func programOf(info *debug.BuildInfo) Program {
	switch {
	case strings.HasSuffix(info.Path, ".test"):
		return Program{Module, command}
	case info.Main.Path == "" || info.Path != info.Main.Path && !strings.HasPrefix(info.Path, info.Main.Path+"/"):
		return Program{info.Main.Path, ""} // it was built from a list of files
	}
	return Program{info.Main.Path, info.Path}
}

// Folder is that of the main package, from the root of the source tree, as arguments of the go command have it.
func (p Program) Folder() string {
	return "." + strings.TrimPrefix(p.Package, p.Module)
}

// Root returns the source tree: dir or the first folder above it with the go.mod of the module.
func (p Program) Root(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if p.Package == "" {
		return "", fmt.Errorf("%w: the program was built from files: build its package, as `go run .` does", ErrNone)
	}
	for at := dir; ; at = filepath.Dir(at) {
		text, err := os.ReadFile(filepath.Join(at, "go.mod"))
		if err == nil && ModuleOf(text) == p.Module {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("%w of %s: %s", ErrNone, p.Module, dir)
		}
	}
}

// ModuleOf returns the path of the module of a go.mod; it is empty if the text is not a valid one.
func ModuleOf(text []byte) string {
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if f := strings.Fields(lines.Text()); len(f) > 1 && f[0] == "module" {
			return strings.Trim(f[1], "\"`")
		}
	}
	return ""
}
