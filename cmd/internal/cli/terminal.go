package cli

import (
	"io"
	"os"

	"github.com/schollz/progressbar/v3"
)

// IsTerminal says whether w is a terminal (or another character device).
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}

// Spinner shows on a terminal what a command does at the moment.
type Spinner struct{ bar *progressbar.ProgressBar }

// NewSpinner shows nothing if w is no terminal.
func NewSpinner(w io.Writer) Spinner {
	if !IsTerminal(w) {
		return Spinner{}
	}
	return Spinner{progressbar.NewOptions(-1, progressbar.OptionSetWriter(w), progressbar.OptionSpinnerType(14),
		progressbar.OptionSetElapsedTime(false), progressbar.OptionClearOnFinish())}
}

// Shown says whether anything is shown.
func (s Spinner) Shown() bool { return s.bar != nil }

// Show draws the line anew.
func (s Spinner) Show(text string) {
	if s.bar != nil {
		s.bar.Describe(text)
		_ = s.bar.Add(1)
	}
}

// Clear removes the line; more can be shown after it.
func (s Spinner) Clear() {
	if s.bar != nil {
		_ = s.bar.Clear()
	}
}

// End removes the line for good.
func (s Spinner) End() {
	if s.bar != nil {
		_ = s.bar.Finish()
	}
}
