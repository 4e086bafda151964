package command

import (
	"io"
	"strings"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/litmus"
)

// outcomeWords replaces the words about a promise by words about an outcome, of the same width.
var outcomeWords = strings.NewReplacer("✗ violates the promise below", "! reaches the outcome below ", "\nviolated: reaches ", "\nreached: ")

// writeTimeline writes a timeline. If text is the text of a litmus test, the sources are lines of that text, and the
// timeline ends in an outcome instead of a broken promise.
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
