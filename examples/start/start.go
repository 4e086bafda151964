// Package start is the module that `verbatim new` writes: a protocol of one word on three hosts (register), its
// promises (registercheck), one mutant that is caught (testdata), and a program that checks it (main.go.txt). All parts
// but the program are packages here too, so the tests of this module cover them.
package start

import (
	"bytes"
	"embed"
	"go/format"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

//go:embed register registercheck testdata main.go.txt
var files embed.FS

// here is the path from which the files import each other.
const here = "github.com/verbatim-rdma/verbatim/examples/start"

// Write writes the files of a module with this path into a folder.
func Write(dir, module string) error {
	return fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		to := filepath.Join(dir, filepath.FromSlash(strings.TrimSuffix(name, ".txt")))
		if filepath.Ext(to) == ".go" {
			text = bytes.ReplaceAll(text, []byte(`"`+here), []byte(`"`+module))
			if text, err = format.Source(text); err != nil { // another path has another place among the imports
				return err
			}
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		return os.WriteFile(to, text, 0o644)
	})
}
