package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the style of the page
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strconv"

	"golang.org/x/net/html"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/coverage"
	"github.com/verbatim-rdma/verbatim/internal/number"
)

//go:embed report.css
var style string

// MaxPage is how large a page may be, in bytes.
const MaxPage = 2 << 20

// ErrTooLarge: the page would be larger than MaxPage, even without the source.
var ErrTooLarge = errors.New("report: the page would be too large")

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
		return fmt.Errorf("%w: %d bytes, but the limit is %d: check fewer scenarios at once", ErrTooLarge, len(text), MaxPage)
	}
	_, err = w.Write(text)
	return err
}

func render(r *Report) ([]byte, error) {
	page := &html.Node{Type: html.DocumentNode}
	document(r)(page)
	b := bytes.NewBufferString("<!doctype html>\n")
	if err := html.Render(b, page); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	return b.Bytes(), nil
}

// checkView is a check as the page shows it.
type checkView struct {
	*Check
	id       string
	promises []Promise
}

// document is the page from its head to its end.
func document(r *Report) part {
	var views []checkView
	for i := range r.Checks {
		c := &r.Checks[i]
		views = append(views, checkView{Check: c, id: "check-" + strconv.Itoa(i+1), promises: promises(c.Result, r.Cells)})
	}
	return el("html", attr("lang", "en"),
		head(r.Title),
		el("body",
			el("header",
				el("h1", text(r.Title)),
				el("p", class("note"), text(r.Made)),
				el("p", code(r.Command))),
			el("main",
				summary(views),
				each(views, checkSection),
				linesSection(r),
				mutantsSection(r),
				matrixSection(r))))
}

// head is the head of the page. Its policy allows this style and no requests. The style is
// a constant, so it needs no escaping.
func head(title string) part {
	sum := sha256.Sum256([]byte(style))
	policy := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; img-src data:; base-uri 'none'; form-action 'none'"
	return el("head",
		el("meta", attr("charset", "utf-8")),
		el("meta", attr("http-equiv", "Content-Security-Policy"), attr("content", policy)),
		el("meta", attr("name", "viewport"), attr("content", "width=device-width, initial-scale=1")),
		el("meta", attr("name", "color-scheme"), attr("content", "light dark")),
		el("title", text(title)),
		el("link", attr("rel", "icon"), attr("href", "data:,")),
		el("style", text(style)))
}

// summary is the table of verdicts, with links to the sections below it.
func summary(views []checkView) part {
	headings := group(columns("scenario", "verdict", "cards"), numbers("runs", "states", "choices", "time"), columns("of the protocol reached"))
	row := func(v checkView) part {
		r, reached := v.Result, "not known"
		if len(v.Files) > 0 {
			reached = total(v.Files)
		}
		return el("tr",
			rowHead(link("#"+v.id, text(r.Scenario))),
			el("td", verdictMark(r.Verdict)),
			cell(r.Profile),
			el("td", class("number runs"), text(number.Commas(r.Runs))),
			el("td", class("number states"), text(number.Commas(r.States))),
			el("td", class("number choices"), text(number.Commas(r.Choices))),
			numeric(seconds(r.Elapsed)),
			cell(reached))
	}
	return section("verdicts", text("Verdicts"),
		table(headings, each(views, row), id("summary")),
		el("p", text("On this page: "),
			each(views, func(v checkView) part { return group(link("#"+v.id, text(v.Result.Scenario)), text(", ")) }),
			link("#lines", text("lines of the protocol")), text(", "),
			link("#mutants", text("mistakes that are seen")), text(", "),
			link("#matrix", text("what it needs of cards")), text(".")))
}

// verdictMark is a verdict with its mark and its colour.
func verdictMark(v explore.Verdict) part {
	look := "verdict"
	switch mark(v) {
	case "✓":
		look += " good"
	case "✗":
		look += " bad"
	}
	return el("span", class(look), text(mark(v), " ", Word(v)))
}
