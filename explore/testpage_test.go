package explore_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
)

// A test writes the page of a violation into the folder VERBATIM_HTML. If it cannot, it still reports the violation,
// and the reason why there is no page.
func TestPageOfAViolation(t *testing.T) {
	t.Setenv(explore.EnvOut, t.TempDir())
	defer explore.WritePages(nil)
	dir := filepath.Join(t.TempDir(), "a", "b")
	for _, x := range []struct {
		dir   string
		write explore.PageWriter
		want  string
	}{
		{dir, nil, "VERBATIM_HTML: no page is written: import _ \"github.com/verbatim-rdma/verbatim/report/view/ontest\""},
		{dir, func(io.Writer, *explore.Scenario, *explore.Counterexample, *explore.Replay, string) error {
			return errors.New("full disk")
		}, "VERBATIM_HTML: no page is written: full disk"},
		{os.DevNull, pageOfTest, "VERBATIM_HTML: no page is written: mkdir " + os.DevNull},
		{dir, pageOfTest, "The page of the run is " + filepath.Join(dir, "fails.html")},
	} {
		t.Setenv(explore.EnvHTML, x.dir)
		explore.WritePages(x.write)
		s := flagBeforeData()
		s.Name = "fails"
		wants(t, testWith(t, s, explore.Options{Profile: "relaxed"}), true, "VERBATIM_REPLAY=", x.want)
	}
	b, err := os.ReadFile(filepath.Join(dir, "fails.html"))
	if err != nil || string(b) != "fails violation true true" {
		t.Errorf("%q, %v", b, err)
	}
}

func pageOfTest(w io.Writer, s *explore.Scenario, ce *explore.Counterexample, r *explore.Replay, command string) error {
	_, err := fmt.Fprintf(w, "%s %s %v %v", s.Name, ce.Class, len(r.Events) > 0, command != "")
	return err
}
