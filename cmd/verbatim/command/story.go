package command

import (
	"fmt"
	"io"
	"strings"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/report/view"
)

// tell replays a counterexample and prints its story: a sentence for each thing that matters.
func (f *replayFlags) tell(w io.Writer, ce *explore.Counterexample, s *explore.Scenario, file string) error {
	re, err := replayFull(w, ce, s, file)
	if err != nil {
		return err
	}
	text, code := outcome(ce, re)
	var b strings.Builder
	fmt.Fprintf(&b, "%s with %s\n\n", ce.Scenario, ce.Bounded())
	for _, x := range document(view.Run{Scenario: s, Counterexample: ce, Replay: re}).Story {
		lines := strings.Split(cli.Wrap(x.Text, 100), "\n")
		for i := range lines {
			lines[i] = strings.TrimRight(lines[i], " ")
		}
		fmt.Fprintf(&b, "%6d  %s\n", x.Step, strings.Join(lines, "\n        "))
	}
	return tells(w, code, "%s\n%s\n", b.String(), text)
}
