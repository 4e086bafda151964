package command

import (
	"fmt"
	"io"

	"github.com/verbatim-rdma/verbatim/cmd/internal/cli"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/internal/number"
	"github.com/verbatim-rdma/verbatim/report"
)

// Progress is the line that shows the progress of a search. It appears only on a
// terminal.
type Progress struct {
	line *cli.Spinner
	last explore.Progress
}

// NewProgress returns the line, on w.
func NewProgress(w io.Writer) *Progress { return &Progress{line: cli.NewSpinner(w)} }

// Show redraws the line.
func (p *Progress) Show(now explore.Progress) {
	p.line.Show(progressText(p.last, now))
	p.last = now
}

// Clear removes the line.
func (p *Progress) Clear() { p.line.Clear() }

// progressText describes the progress of a search, and its speed since the last update.
func progressText(last, now explore.Progress) string {
	text := fmt.Sprintf("%s %s, %s runs, %s/s", now.Scenario, short(now.Elapsed), number.Commas(now.Runs), number.Commas(rate(last, now)))
	if now.States > 0 {
		text += fmt.Sprintf(", %s states, frontier %s", number.Commas(now.States), number.Commas(uint64(max(now.Frontier, 0))))
	}
	if now.Remaining > 0 {
		text += ", " + report.Estimate(now.Remaining) + " left"
	}
	return text
}

// rate returns the number of runs a second.
func rate(last, now explore.Progress) uint64 {
	if last.Runs > now.Runs || last.Elapsed >= now.Elapsed {
		last = explore.Progress{}
	}
	seconds := (now.Elapsed - last.Elapsed).Seconds()
	if seconds <= 0 {
		return 0
	}
	return uint64(float64(now.Runs-last.Runs) / seconds)
}
