package command

import (
	"io"
	"strings"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/litmus"
)

// outcomeWords puts the words for an outcome in the place of those for a promise, in as many columns.
var outcomeWords = strings.NewReplacer("✗ violates the promise below", "! reaches the outcome below ", "\nviolated: reaches ", "\nreached: ")

// writeTimeline writes a timeline. That of a litmus test, whose text is given, points at the lines of the test, and has an
// outcome that is reached and no promise.
func writeTimeline(w io.Writer, re *explore.Replay, test string, opt explore.TimelineOptions) error {
	if test == "" {
		return explore.WriteTimeline(w, re, opt)
	}
	if err := litmus.PointAtLines(re, test, "litmus test"); err != nil {
		return err
	}
	var b strings.Builder
	if err := explore.WriteTimeline(&b, re, opt); err != nil {
		return err
	}
	_, err := outcomeWords.WriteString(w, b.String())
	return err
}
