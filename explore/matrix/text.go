package matrix

import (
	"fmt"
	"io"
	"strings"

	"github.com/verbatim-rdma/verbatim/faults"
)

// Why describes in a line what the verdict rests on.
func (c *Cell) Why() string {
	var parts []string
	switch c.Verdict {
	case Holds:
		parts = append(parts, "all scenarios exhausted")
	case Breaks:
		parts = append(parts, c.Scenario+": "+c.Reason)
	default:
		parts = append(parts, c.Reason)
	}
	if c.DerivedFrom != "" {
		parts = append(parts, "follows from "+c.DerivedFrom)
	}
	if c.Counterexample != "" {
		parts = append(parts, c.Counterexample)
	}
	return strings.Join(parts, "; ")
}

// Legend explains what the table leaves out, what its words mean, and what its searches
// assume about time.
func Legend(cells []Cell) string {
	names, reasons := faults.Sizes()
	var parts []string
	for i, name := range names {
		parts = append(parts, name+" ("+reasons[i]+")")
	}
	text := "Amounts and abilities have no rows of their own: " + strings.Join(parts, "; ") + "."
	for i := range cells {
		if c := &cells[i]; c.Timers != "" && !strings.Contains(text, c.Timers) {
			text += "\nTimers, in all searches: " + c.Timers + "."
		}
		if c := &cells[i]; c.Warning != "" && !strings.Contains(text, c.Warning) {
			text += "\nWarning: " + c.Warning + "."
		}
	}
	return text
}

// Markdown writes the cells of one protocol as a table. It contains
// nothing that differs between two searches of the same code, such as times.
func Markdown(w io.Writer, cells []Cell) error {
	promise := map[string]string{}
	for _, k := range faults.Profiles()[0].Knobs() {
		promise[k.Name] = k.Promise
	}
	var b strings.Builder
	b.WriteString("| protocol | assumption | verdict | why | remedy | who promises more |\n|---|---|---|---|---|---|\n")
	for i := range cells {
		c := cells[i]
		c.Counterexample = ""
		knob, _, single := strings.Cut(c.Assumption, "=")
		who := ""
		if single {
			who = promise[knob]
		}
		fmt.Fprintf(&b, "| %s | `%s` | **%s** | %s | %s | %s |\n", c.Protocol, c.Assumption, c.Verdict, cell(c.Why()), cell(c.Mend), cell(who))
	}
	b.WriteString("\n" + Legend(cells) + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// cell escapes the characters of a text that would end its column.
func cell(s string) string { return strings.ReplaceAll(strings.ReplaceAll(s, "|", `\|`), "\n", " ") }
