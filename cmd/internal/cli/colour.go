package cli

import (
	"io"
	"os"

	"github.com/jedib0t/go-pretty/v6/text"
)

// Colour is a style of text on a terminal.
type Colour = text.Colors

// The colours of results.
var (
	Good   = Colour{text.Bold, text.FgGreen}
	Wrong  = Colour{text.Bold, text.FgRed}
	Unsure = Colour{text.Bold, text.FgYellow}
)

// Coloured returns s in a colour if w is a terminal and the environment does not forbid it (NO_COLOR).
func Coloured(w io.Writer, c Colour, s string) string {
	if !IsTerminal(w) || os.Getenv("NO_COLOR") != "" {
		return s
	}
	return c.Sprint(s)
}
