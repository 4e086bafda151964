// Package litmusfiles finds and reads the litmus tests that the arguments of a command name.
package litmusfiles

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/internal/mistake"
	"github.com/verbatim-rdma/verbatim/litmus"
	"github.com/verbatim-rdma/verbatim/litmus/lang"
)

// Dir is the folder of the tests, from the root of the repository.
const Dir = "testdata/litmus"

// Find lists the files that the arguments name; without arguments, the files in [Dir].
func Find(args []string) ([]string, error) {
	if len(args) == 0 {
		if _, err := os.Stat(Dir); err != nil {
			return nil, fmt.Errorf("no %s in the current directory: name a file or a directory with litmus tests", Dir)
		}
		args = []string{Dir}
	}
	var files []string
	for _, a := range args {
		st, err := os.Stat(a)
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w%s", err, meantTest(a))
		}
		if err != nil {
			return nil, err
		}
		if !st.IsDir() {
			files = append(files, a)
			continue
		}
		n := len(files)
		err = filepath.WalkDir(a, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && strings.HasSuffix(path, lang.Ext) {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		if len(files) == n {
			return nil, fmt.Errorf("%s contains no file whose name ends in %s", a, lang.Ext)
		}
	}
	return files, nil
}

// meantTest suggests a test for a missing file.
func meantTest(a string) string {
	paths, _ := filepath.Glob(filepath.Join(Dir, "*"+lang.Ext))
	var names []string
	for _, p := range paths {
		names = append(names, strings.TrimSuffix(filepath.Base(p), lang.Ext))
	}
	if n := mistake.Nearest(strings.TrimSuffix(filepath.Base(a), lang.Ext), names); n != "" {
		return "; did you mean " + filepath.Join(Dir, n+lang.Ext) + "?"
	}
	return ""
}

// Parse reads the files. It omits and reports files that are not tests; these determine
// the status.
func Parse(program string, files []string, stderr io.Writer, add func(file string, t *lang.Test)) (code int) {
	for _, file := range files {
		t, err := litmus.ParseFile(file)
		if err != nil {
			fmt.Fprintf(stderr, "%s: %v\n", program, err)
			code = cli.Bad
			continue
		}
		add(file, t)
	}
	return code
}
