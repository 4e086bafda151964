package cli

import (
	"strings"
	"testing"
)

// A line is drawn, not drawn again at once, and removed once.
func TestSpinner(t *testing.T) {
	var b strings.Builder
	s := NewSpinner(&b)
	s.Show("nothing")
	s.Clear()
	if b.Len() > 0 {
		t.Errorf("what is no terminal is shown %q", &b)
	}
	s.w = &b
	s.Show("one")
	s.Show("two")
	s.Clear()
	s.Clear()
	if got, want := b.String(), "\r\x1b[K\x1b[?7l⠙ one\x1b[?7h\r\x1b[K"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
