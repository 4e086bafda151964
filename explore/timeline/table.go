package timeline

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// table is the layout of a timeline.
type table struct {
	hosts   []string
	columns []int // the width of each host's column
	source  int
	step    int // the width of the left margin
}

// newTable divides the width: each column gets its minimum, and the rest goes where the
// most text is.
func newTable(hosts []string, rows []row, width int) *table {
	t := &table{hosts: hosts, columns: make([]int, len(hosts)), source: runes("source"), step: stepColumns}
	need := make([]want, len(hosts))
	for i := range rows {
		t.step = max(t.step, runes(rows[i].steps())+2)
		sources := strings.Join(rows[i].Sources, ", ")
		if n := runes(sources); n <= width/8 {
			t.source = max(t.source, n)
			sources = ""
		}
		for s := range strings.FieldsSeq(sources) {
			t.source = max(t.source, min(maxSource+1, runes(s))) // one more for the comma
		}
		for h, c := range rows[i].Cells {
			need[h].add(strings.Join(c, "; "))
		}
	}
	least := max(minColumn, (width-t.width())/(len(hosts)+2))
	for i, h := range hosts {
		t.columns[i] = max(least, runes(h))
	}
	for spare := width - t.width(); spare > 0; spare-- {
		if h := t.neediest(need); h >= 0 {
			t.columns[h]++
		}
	}
	return t
}

// want is the space that the texts of a column need.
type want struct{ total, longest, word int }

func (x *want) add(text string) {
	x.total += runes(text)
	x.longest = max(x.longest, runes(text))
	for word := range strings.FieldsSeq(text) {
		x.word = max(x.word, min(runes(word), maxWord)+1)
	}
}

// neediest returns the column to widen: one that breaks a word, or the one with the
// longest text for its width, or -1 if all fit.
func (t *table) neediest(need []want) int {
	best := -1
	for h, n := range t.columns {
		if n < min(need[h].word, need[h].longest) {
			return h
		}
		if n < need[h].longest && (best < 0 || need[h].total*t.columns[best] > need[best].total*n) {
			best = h
		}
	}
	return best
}

// width returns the width of the whole table.
func (t *table) width() int {
	n := t.step + 1 + t.source
	for _, c := range t.columns {
		n += c + 2
	}
	return n
}

// head writes the names of the hosts and a rule under them.
func (t *table) head(b *strings.Builder) {
	line, rule := pad("step", t.step), strings.Repeat("─", t.step)
	for i, h := range t.hosts {
		line += " " + pad(h, t.columns[i]+1)
		rule += "┬" + strings.Repeat("─", t.columns[i]+1)
	}
	b.WriteString(strings.TrimRight(line+" source", " ") + "\n")
	b.WriteString(rule + strings.Repeat("─", t.source+1) + "\n")
}

// row writes one row, with as many lines as its longest cell.
func (t *table) row(b *strings.Builder, x *row, first bool) {
	cells := make([][]string, len(x.Cells))
	lines := 1
	for h, c := range x.Cells {
		cells[h] = wrap(strings.Join(c, "; "), t.columns[h], 1)
		lines = max(lines, len(cells[h]))
	}
	var sources []string
	for _, s := range x.Sources {
		sources = append(sources, shorten(s))
	}
	source := wrap(strings.Join(sources, ", "), max(t.source, 1), 0)
	for i := range max(lines, len(source)) {
		b.WriteString(t.line(x, cells, source, i, first && i == 0))
	}
}

// line returns the i-th line of a row.
func (t *table) line(x *row, cells [][]string, source []string, i int, first bool) string {
	var b strings.Builder
	b.WriteString(t.stepText(x, first, i == 0))
	for h, c := range cells {
		bar := " "
		if x.Up[h] {
			bar = "│"
		}
		b.WriteString(bar + pad(at(c, i), t.columns[h]+1))
	}
	return strings.TrimRight(b.String()+" "+at(source, i), " ") + "\n"
}

// stepText returns the left margin: the step, and a mark beside a fault.
func (t *table) stepText(x *row, first, top bool) string {
	mark, step := " ", ""
	if top && x.isMarked() {
		mark = "!"
	}
	if first {
		step = x.steps()
	}
	return fmt.Sprintf("%s%*s ", mark, t.step-2, step)
}

// isMarked reports whether a row is about a fault or the violation.
func (x *row) isMarked() bool { return slices.Contains(marked, x.kind) }

// steps names the steps of a row: one, or the first and the last.
func (x *row) steps() string {
	if x.Step == x.Last {
		return fmt.Sprint(x.Step)
	}
	return fmt.Sprintf("%d-%d", x.Step, x.Last)
}

// shorten keeps the end of a very long source line.
func shorten(s string) string {
	if n := runes(s); n > maxSource {
		return "…" + string([]rune(s)[n-maxSource+1:])
	}
	return s
}

// wrap breaks s into lines of at most width runes, at blanks if possible. All but the
// first are indented.
func wrap(s string, width, indent int) []string {
	var lines []string
	line := ""
	for word := range strings.SplitSeq(s, " ") { // not Fields: data in quotes may hold blanks
		if line != "" && runes(line)+1+runes(word) > width {
			lines, line = append(lines, line), ""
		}
		switch {
		case line != "":
			line += " "
		case len(lines) > 0:
			line = strings.Repeat(" ", indent)
		}
		for line += word; runes(line) > width; {
			cut := []rune(line)
			lines, line = append(lines, string(cut[:width])), strings.Repeat(" ", indent)+string(cut[width:])
		}
	}
	return append(lines, line)
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

func pad(s string, n int) string { return s + strings.Repeat(" ", max(0, n-runes(s))) }

func runes(s string) int { return utf8.RuneCountInString(s) }
