package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the page and its style
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/verbatim-rdma/verbatim/coverage"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/faults"
)

//go:embed report.css
var style string

//go:embed report.html
var layout string

// MaxPage is how large a page may be, in bytes.
const MaxPage = 2 << 20

// ErrTooLarge: the page would be larger than MaxPage, even without the source.
var ErrTooLarge = errors.New("report: the page would be too large")

var page = template.Must(template.New("report").Funcs(template.FuncMap{
	"verdict": verdict, "mark": mark, "meaning": meaning, "count": Count[uint64], "seconds": seconds, "rate": rate, "ended": Ended,
	"eager": Eager, "met": Met, "total": total, "share": share, "ranges": ranges, "kind": kind, "depths": depthChart, "bars": barChart,
	"resumed": resumed, "uncounted": uncounted, "source": marked, "legend": legend,
	"excerpt": excerpt, "score": score, "operators": byOperator, "equivalent": equivalent, "int": Count[int],
	"who": func(assumption string) string { return whoOf[knobOf(assumption)] },
}).Parse(layout))

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

// Write writes the page of a report. If it would be too large, the source of the
// protocol is left out; nothing is written if the error wraps ErrTooLarge.
func Write(w io.Writer, r *Report) error {
	text, err := render(r)
	if err == nil && len(text) > MaxPage {
		short := *r
		short.Lines = make([]coverage.File, len(r.Lines))
		for i, f := range r.Lines {
			f.Lines = nil
			short.Lines[i] = f
		}
		text, err = render(&short)
	}
	switch {
	case err != nil:
		return err
	case len(text) > MaxPage:
		return fmt.Errorf("%w: %d bytes, and %d are the most: check fewer scenarios at once", ErrTooLarge, len(text), MaxPage)
	}
	_, err = w.Write(text)
	return err
}

// checkView is a check as the page shows it.
type checkView struct {
	Check
	ID       string
	Promises []Promise
}

func render(r *Report) ([]byte, error) {
	sum := sha256.Sum256([]byte(style))
	data := struct {
		*Report
		Policy string
		Style  template.CSS
		Views  []checkView
	}{Report: r, Style: template.CSS(style),
		Policy: "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; img-src data:; base-uri 'none'; form-action 'none'"}
	for i, c := range r.Checks {
		data.Views = append(data.Views, checkView{Check: c, ID: "check-" + strconv.Itoa(i+1), Promises: promises(c.Result, r.Cells)})
	}
	var b bytes.Buffer
	if err := page.Execute(&b, data); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	return append(bytes.TrimSpace(b.Bytes()), '\n'), nil
}

// chart is a chart for light and for dark screens, what it shows in words, and its
// numbers.
type chart struct {
	Light       template.URL
	Dark        template.Srcset
	Title, Text string
	Head        [2]string
	Rows        []explore.Tally
}

// maxBins is how many numbers the chart of depths has at the most.
const maxBins = 250

// binned sums up each width numbers in a row, so that there are no more than maxBins.
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
func depthChart(r *explore.Result) (*chart, error) {
	counts, width := binned(r.Space.ByDepth)
	unit := "states"
	c := &chart{Title: "States by depth", Head: [2]string{"steps from the start", "states first reached after so many"}}
	if r.Strategy != explore.Exhaustive {
		unit, c.Title, c.Head = "runs", "Runs by length", [2]string{"steps", "runs of this length"}
	}
	if len(counts) == 0 {
		return nil, nil
	}
	most := 0
	for i, n := range counts {
		if n > counts[most] {
			most = i
		}
		name := strconv.Itoa(i * width)
		if last := min((i+1)*width, len(r.Space.ByDepth)) - 1; last > i*width {
			name += "–" + strconv.Itoa(last)
		}
		c.Rows = append(c.Rows, explore.Tally{Name: name, Count: n})
	}
	if width > 1 {
		unit = fmt.Sprintf("%s in %d steps", unit, width)
	}
	last := len(counts) - 1
	c.Text = fmt.Sprintf("%s: from %s at %s steps to %s at %s, with the most, %s, at %s. The numbers are in the table below.", c.Title, Count(counts[0]), c.Rows[0].Name,
		Count(counts[last]), c.Rows[last].Name, Count(counts[most]), c.Rows[most].Name)
	return c, c.draw(func(s scheme) (string, error) { return depths(counts, width, unit, s) })
}

// barChart draws a bar for each kind, or nothing.
func barChart(title, unit string, list []explore.Tally) (*chart, error) {
	if len(list) == 0 {
		return nil, nil
	}
	c := &chart{Title: title, Head: [2]string{"kind", unit}}
	var parts []string
	for _, x := range list {
		parts = append(parts, x.Name+" "+Count(x.Count))
		c.Rows = append(c.Rows, explore.Tally{Name: kind(x.Name), Count: x.Count})
	}
	c.Text = title + ": " + strings.Join(parts, ", ") + "."
	return c, c.draw(func(s scheme) (string, error) { return bars(list, unit, s) })
}

func (c *chart) draw(draw func(scheme) (string, error)) error {
	a, err := draw(light)
	if err != nil {
		return err
	}
	b, err := draw(dark)
	c.Light, c.Dark = template.URL(a), template.Srcset(b)
	return err
}

// markedLine is a line of source and what became of it.
type markedLine struct {
	Number            int
	Class, Mark, Text string
}

// marked are the lines of a file; none if its source is not there.
func marked(f coverage.File) []markedLine {
	marks := [...][2]string{coverage.Nothing: {"", " "}, coverage.Reached: {"reached", "✓"}, coverage.Partly: {"partly", "◐"}, coverage.Never: {"never", "✗"}}
	var out []markedLine
	for i, text := range f.Lines {
		m := marks[f.States[i]]
		out = append(out, markedLine{i + 1, m[0], m[1], strings.ReplaceAll(text, "\t", "    ")})
	}
	return out
}
