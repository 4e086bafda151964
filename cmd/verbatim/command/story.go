package command

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/report/view"
	"github.com/verbatim-rdma/verbatim/report/view/story"
)

// tell replays a counterexample and prints its story: a sentence for each thing that matters.
func (f *replayFlags) tell(w io.Writer, ce *explore.Counterexample, s *explore.Scenario, file string) error {
	re, err := ce.ReplayFull(s)
	if errors.Is(err, explore.ErrHang) {
		return hangs(w, file, err)
	}
	if err != nil && !errors.Is(err, explore.ErrNotReproduced) {
		return fmt.Errorf("%s: %w", filepath.Clean(file), err)
	}
	if _, err := fmt.Fprintf(w, "%s with %s\n\n", ce.Scenario, ce.Bounded()); err != nil {
		return err
	}
	for _, x := range story.Tell(view.New(view.Run{Scenario: s, Counterexample: ce, Replay: re})) {
		lines := strings.Split(cli.Wrap(x.Text, 100), "\n")
		for i := range lines {
			lines[i] = strings.TrimRight(lines[i], " ")
		}
		if _, err := fmt.Fprintf(w, "%6d  %s\n", x.Step, strings.Join(lines, "\n        ")); err != nil {
			return err
		}
	}
	text, code := outcome(ce, re)
	if _, err := fmt.Fprintf(w, "\n%s\n", text); err != nil {
		return err
	}
	return cli.Status(code).Err()
}
