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
	"strconv"
	"strings"

	"github.com/verbatim-rdma/verbatim/explore/coverage"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/internal/number"
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
	"verdict": verdict, "mark": mark, "meaning": meaning, "count": number.Commas[uint64], "seconds": seconds, "rate": rate, "ended": Ended,
	"eager": Eager, "met": Met, "total": total, "share": share, "ranges": ranges, "kind": kind, "depths": depthChart, "bars": barChart,
	"last":    func(rows []bar) bar { return rows[len(rows)-1] },
	"resumed": resumed, "uncounted": uncounted, "source": marked, "legend": legend,
	"excerpt": excerpt, "score": score, "operators": byOperator, "equivalent": equivalent, "int": number.Commas[int],
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
