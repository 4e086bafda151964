package command

import (
	"io"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/report/view"
	"github.com/verbatim-rdma/verbatim/report/view/story"
)

// tell replays a counterexample and prints its story: a sentence for each thing that matters.
func (f *replayFlags) tell(w io.Writer, ce *explore.Counterexample, s *explore.Scenario, file string) error {
	re, err := replayFull(w, ce, s, file)
	if err != nil {
		return err
	}
	text, code := outcome(ce, re)
	told := story.Text(document(view.Run{Scenario: s, Counterexample: ce, Replay: re}).Story)
	return tells(w, code, "%s with %s\n\n%s\n%s\n", ce.Scenario, ce.Bounded(), told, text)
}
