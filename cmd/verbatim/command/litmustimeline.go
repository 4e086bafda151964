package command

import (
	"io"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/timeline"
	"github.com/verbatim-rdma/verbatim/litmus"
)

// writeTimeline writes a timeline. If text is the text of a litmus test, the sources are lines of that text, and the
// timeline ends in an outcome instead of a broken promise.
func writeTimeline(w io.Writer, re *explore.Replay, test string, opt timeline.Options) error {
	if test != "" {
		if err := litmus.PointAtLines(re, test, "litmus test"); err != nil {
			return err
		}
	}
	return timeline.Write(w, re.Timeline(), opt)
}
