package explore

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/verbatim-rdma/verbatim/internal/whole"
)

// EnvHTML names a folder into which [Test] writes a page for each violation. The test must import package
// report/view/ontest.
const EnvHTML = "VERBATIM_HTML"

// PageWriter writes the page of a run. The page names command as the way to replay the run.
type PageWriter func(w io.Writer, s *Scenario, ce *Counterexample, r *Replay, command string) error

var pageWriter PageWriter

// WritePages sets the function with which [Test] writes pages. Package report/view/ontest calls it. This package
// cannot import the code that writes pages, because that code imports this package.
func WritePages(f PageWriter) { pageWriter = f }

// page writes the page of a violation if EnvHTML is set, and returns a line about it.
func page(s *Scenario, ce *Counterexample, command string) string {
	dir := os.Getenv(EnvHTML)
	if dir == "" {
		return ""
	}
	if pageWriter == nil {
		return EnvHTML + ": no page is written: import _ \"github.com/verbatim-rdma/verbatim/report/view/ontest\" in the test\n"
	}
	file, err := filepath.Abs(filepath.Join(dir, strings.TrimSuffix(FileName(s.Name), fileSuffix)+".html"))
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o755)
	}
	if err == nil {
		err = writePage(file, s, ce, command)
	}
	if err != nil {
		return fmt.Sprintf("%s: no page is written: %v\n", EnvHTML, err)
	}
	return "The page of the run is " + file + "\n"
}

func writePage(file string, s *Scenario, ce *Counterexample, command string) error {
	r, err := ce.ReplayFull(s)
	if err != nil {
		return err
	}
	return whole.Write(file, func(w io.Writer) error { return pageWriter(w, s, ce, r, command) })
}
