package main

import (
	"fmt"
	"io"
	"os"

	"github.com/schollz/progressbar/v3"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/report"
)

// progress is the line that shows a search under way. It is there only on a
// terminal.
type progress struct {
	bar  *progressbar.ProgressBar
	last explore.Progress
}

func newProgress(w io.Writer) *progress {
	p := &progress{}
	if isTerminal(w) {
		p.bar = progressbar.NewOptions(-1, progressbar.OptionSetWriter(w), progressbar.OptionSpinnerType(14),
			progressbar.OptionSetElapsedTime(false), progressbar.OptionClearOnFinish())
	}
	return p
}

// isTerminal says whether w is a terminal (or another character device).
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}

// show draws the line anew.
func (p *progress) show(now explore.Progress) {
	if p.bar == nil {
		return
	}
	p.bar.Describe(progressText(p.last, now))
	_ = p.bar.Add(1)
	p.last = now
}

// clear removes the line.
func (p *progress) clear() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}

// progressText says how far a search is, and how fast since the last look.
func progressText(last, now explore.Progress) string {
	text := fmt.Sprintf("%s %s, %s runs, %s/s", now.Scenario, short(now.Elapsed), report.Count(now.Runs), report.Count(rate(last, now)))
	if now.States > 0 {
		text += fmt.Sprintf(", %s states, frontier %s", report.Count(now.States), report.Count(uint64(max(now.Frontier, 0))))
	}
	if now.Remaining > 0 {
		text += ", ~" + report.Estimate(now.Remaining) + " left"
	}
	return text
}

// rate is the number of runs a second.
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
