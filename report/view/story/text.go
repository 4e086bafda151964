package story

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/verbatim-rdma/verbatim/report/view"
)

// width is the maximum length of a line of text on a terminal, without the column of steps.
const width = 100

// Text formats a story for a terminal: each sentence after its step, and a star before each key sentence.
func Text(all []view.Sentence) string {
	var b strings.Builder
	for _, s := range all {
		mark := " "
		if s.Key {
			mark = "*"
		}
		fmt.Fprintf(&b, "%s%5d  %s\n", mark, s.Step, strings.Join(wrapped(s.Text), "\n        "))
	}
	return b.String()
}

// wrapped breaks a text into lines at spaces. It keeps the line breaks of the text, and their indentation.
func wrapped(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \n")
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		now := indent
		for _, word := range strings.Fields(line) {
			if now != indent && utf8.RuneCountInString(now)+utf8.RuneCountInString(word) >= width {
				out, now = append(out, now), indent
			}
			if now != indent {
				now += " "
			}
			now += word
		}
		out = append(out, now)
	}
	return out
}
