package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/internal/number"
)

// chart is a table of numbers and their drawing: a bar in each row or, if there are too
// many rows to show at once, one outline above them. The drawing is SVG in the page, so
// that the page's style gives it the colours of light and dark screens and of paper.
type chart struct {
	Title   string
	Head    [2]string
	Rows    []bar
	Outline *outline
}

// bar is a row: its length is in thousandths of the longest.
type bar struct {
	explore.Tally
	Length uint64
}

// outline is a line of steps with one for each row, in a box as wide as there are rows and
// a thousand high.
type outline struct {
	Path  string
	Width int
	Most  string // what the upper edge stands for
	Text  string // what it shows, in words
}

// newChart makes a chart of numbers.
func newChart(title string, head [2]string, list []explore.Tally) *chart {
	c := &chart{Title: title, Head: head}
	most := uint64(1)
	for _, x := range list {
		most = max(most, x.Count)
	}
	for _, x := range list {
		c.Rows = append(c.Rows, bar{x, uint64(1000 * (float64(x.Count) / float64(most)))})
	}
	return c
}

// barChart draws a bar for each kind, or nothing.
func barChart(title, unit string, list []explore.Tally) *chart {
	if len(list) == 0 {
		return nil
	}
	var named []explore.Tally
	for _, x := range list {
		named = append(named, explore.Tally{Name: kind(x.Name), Count: x.Count})
	}
	return newChart(title, [2]string{"kind", unit}, named)
}

// maxBins is how many numbers the chart of depths has at the most.
const maxBins = 250

// binned adds up each group of width consecutive numbers, so that at most maxBins are left.
func binned(counts []uint64) (sums []uint64, width int) {
	width = (len(counts) + maxBins - 1) / maxBins
	for part := range slices.Chunk(counts, max(width, 1)) {
		n := uint64(0)
		for _, c := range part {
			n += c
		}
		sums = append(sums, n)
	}
	return sums, width
}

// depthChart draws how many states there are at each depth, or nothing.
func depthChart(r *explore.Result) *chart {
	counts, width := binned(r.Space.ByDepth)
	if len(counts) == 0 {
		return nil
	}
	var list []explore.Tally
	for i, n := range counts {
		name := strconv.Itoa(i * width)
		if last := min((i+1)*width, len(r.Space.ByDepth)) - 1; last > i*width {
			name += "–" + strconv.Itoa(last)
		}
		list = append(list, explore.Tally{Name: name, Count: n})
	}
	title, unit, head := "States by depth", "states", [2]string{"steps from the start", "states first reached after so many"}
	if r.Strategy != explore.Exhaustive {
		title, unit, head = "Runs by length", "runs", [2]string{"steps", "runs of this length"}
	}
	if width > 1 {
		unit = fmt.Sprintf("%s in %d steps", unit, width)
	}
	c := newChart(title, head, list)
	c.Outline = c.outlined(unit)
	return c
}

// outlined is the outline of the rows.
func (c *chart) outlined(unit string) *outline {
	first, last, most := &c.Rows[0], &c.Rows[len(c.Rows)-1], &c.Rows[0]
	var path strings.Builder
	path.WriteString("M0 1000")
	for i := range c.Rows {
		x := &c.Rows[i]
		if x.Count > most.Count {
			most = x
		}
		fmt.Fprintf(&path, "V%dH%d", 1000-x.Length, i+1)
	}
	path.WriteString("V1000Z")
	return &outline{Path: path.String(), Width: len(c.Rows), Most: number.Commas(most.Count) + " " + unit,
		Text: fmt.Sprintf("%s: from %s at %s steps to %s at %s, with the most, %s, at %s. The numbers are in the table below.", c.Title,
			number.Commas(first.Count), first.Name, number.Commas(last.Count), last.Name, number.Commas(most.Count), most.Name)}
}
