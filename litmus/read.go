package litmus

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/verbatim-rdma/verbatim/litmus/lang"
)

// Parse reads and checks a test; file is its name in errors. Every error is an
// [*lang.Error].
func Parse(file string, text []byte) (*lang.Test, error) {
	t, err := lang.Parse(file, text)
	if err != nil {
		return nil, err
	}
	if _, err := resolve(t); err != nil {
		return nil, err
	}
	return t, nil
}

// ParseFile parses and checks the test in a file, which must have the test's name.
func ParseFile(path string) (*lang.Test, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if st.Size() > lang.MaxFile {
		return nil, &lang.Error{File: path, Line: 1, Col: 1, Text: fmt.Sprintf("the file has %d bytes; a test has at most %d", st.Size(), lang.MaxFile)}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	t, err := Parse(path, b)
	if err != nil {
		return nil, err
	}
	if want := strings.TrimSuffix(filepath.Base(path), lang.Ext); want != t.Name {
		return nil, &lang.Error{File: path, Line: 1, Col: 8, Text: fmt.Sprintf("the test is called %q and its file %q", t.Name, filepath.Base(path)),
			Hint: "name the file " + t.Name + lang.Ext}
	}
	return t, nil
}
