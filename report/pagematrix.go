package report

import (
	"strings"

	"github.com/verbatim-rdma/verbatim/explore/matrix"
	"github.com/verbatim-rdma/verbatim/faults"
)

// matrixSection is the matrix: the promises of cards that the protocols need.
func matrixSection(r *Report) part {
	const name = "matrix"
	heading := text("What it needs of cards")
	if len(r.Cells) == 0 {
		return section(name, heading, paragraph(r.NoMatrix))
	}
	return section(name, heading,
		paragraph("A row is a named profile, or one promise of the profile strong taken away. A cell that breaks leads to its run."),
		table(columns("protocol", "assumption", "verdict", "why", "remedy", "who promises more"), each(r.Cells, matrixRow), id("cells")),
		el("p", class("note"), text(legend(r.Cells))))
}

func matrixRow(c Cell) part {
	lost := c.Verdict == matrix.Breaks && c.Run == ""
	return el("tr",
		cell(c.Protocol),
		rowHead(code(c.Assumption)),
		verdictCell(c),
		el("td", text(c.Why()), when(lost, text(" (no run was kept)"))),
		cell(c.Mend),
		cell(whoOf[knobOf(c.Assumption)]))
}

// verdictCell is the verdict of a cell, which leads to its run.
func verdictCell(c Cell) part {
	look, words := "verdict", "? "+string(c.Verdict)
	switch c.Verdict {
	case matrix.Breaks:
		look, words = "verdict bad", "✗ breaks"
	case matrix.Holds:
		look, words = "verdict good", "✓ holds"
	}
	if c.Run != "" {
		return el("td", class(look), link(c.Run, text("✗ breaks")))
	}
	return el("td", class(look), text(words))
}

// whoOf says for each knob who promises it.
var whoOf = func() map[string]string {
	out := map[string]string{}
	for _, k := range faults.Profiles()[0].Knobs() {
		out[k.Name] = k.Promise
	}
	return out
}()

// knobOf is the knob of an assumption, or nothing if it is a named profile.
func knobOf(assumption string) string {
	knob, _, single := strings.Cut(assumption, "=")
	if !single {
		return ""
	}
	return knob
}
