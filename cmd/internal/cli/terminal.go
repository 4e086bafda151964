package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// IsTerminal reports whether w is a terminal (or another character device).
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}

// Spinner shows on a terminal, in one line, what a command is doing.
type Spinner struct {
	mu    sync.Mutex
	w     io.Writer
	shown bool
	turn  int
	next  time.Time
}

// NewSpinner shows nothing if w is not a terminal.
func NewSpinner(w io.Writer) *Spinner {
	if !IsTerminal(w) {
		return &Spinner{}
	}
	return &Spinner{w: w}
}

// Control sequences of a terminal: clear the line, and disable or enable the wrapping of long lines.
const (
	clearLine = "\r\x1b[K"
	cut, wrap = "\x1b[?7l", "\x1b[?7h"
)

// Show redraws the line, unless it was just drawn.
func (s *Spinner) Show(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if s.w == nil || now.Before(s.next) {
		return
	}
	signs := []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
	s.next, s.turn, s.shown = now.Add(65*time.Millisecond), (s.turn+1)%len(signs), true
	fmt.Fprintf(s.w, "%s%s%c %s%s", clearLine, cut, signs[s.turn], text, wrap)
}

// Clear removes the line, so that something else can be printed.
func (s *Spinner) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shown {
		s.shown = false
		fmt.Fprint(s.w, clearLine)
	}
}
