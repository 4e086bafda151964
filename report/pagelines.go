package report

import (
	"fmt"
	"strings"

	"github.com/verbatim-rdma/verbatim/explore/coverage"
)

// linesSection is which lines of the protocol the checks reached, and the lines.
func linesSection(r *Report) part {
	const name = "lines"
	heading := text("Lines of the protocol")
	if len(r.Lines) == 0 {
		return section(name, heading, paragraph("Which lines were reached is not known: ", r.NoCoverage))
	}
	missing, who := uncounted(r.Checks), "All checks of this page"
	never := "a line that was never reached was not checked at all"
	if missing != "" {
		who, never = "The other checks", "a line that was never reached was not checked by them"
	}
	if resumed(r.Checks) {
		never = "lines count from where a search was resumed, so one that was never reached may have been reached by its earlier runs"
	}
	return section(name, heading,
		when(missing != "", el("p", class("broken"), text("Not all is counted: what was reached is not known of ", missing, ". ", r.NoCoverage))),
		paragraph(who, " together reached ", total(r.Lines), ", as Go’s own coverage counts them. A line that was reached was not tried in every state; ", never, "."),
		el("p", class("note"), text("✓ reached, ◐ in part, ✗ never; the others have no statement.")),
		each(r.Lines, sourceFile))
}

// sourceFile is a file with its lines, if its source is known.
func sourceFile(f coverage.File) part {
	title := f.Name + ": " + share(f.Reached, f.Statements)
	if len(f.Never()) > 0 {
		title += "; never: " + ranges(f.Never())
	}
	source := paragraph("The source is not on this page.")
	if lines := marked(f); len(lines) > 0 {
		source = listing(f.Name, lines)
	}
	return folded(title, class("file"), source)
}

// markedLine is a line of source and its fate. One without a number is a remark.
type markedLine struct {
	Number            int
	Class, Mark, Text string
}

// listing shows lines of source.
func listing(label string, lines []markedLine) part {
	line := func(x markedLine) part {
		n := "    "
		if x.Number > 0 {
			n = fmt.Sprintf("%4d", x.Number)
		}
		return el("span", class(x.Class), text(n, " ", x.Mark, " ", x.Text, "\n"))
	}
	return el("pre", attr("tabindex", "0"), attr("aria-label", label), each(lines, line))
}

// marked are the lines of a file; none if its source is not there.
func marked(f coverage.File) []markedLine {
	marks := [...][2]string{coverage.Nothing: {"none", " "}, coverage.Reached: {"reached", "✓"}, coverage.Partly: {"partly", "◐"}, coverage.Never: {"never", "✗"}}
	var out []markedLine
	for i, text := range f.Lines {
		m := marks[f.States[i]]
		out = append(out, markedLine{i + 1, m[0], m[1], strings.ReplaceAll(text, "\t", "    ")})
	}
	return out
}
