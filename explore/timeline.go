package explore

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// TimelineOptions say how to draw a timeline. The zero value is 120 columns wide
// and leaves out what is seldom of interest.
type TimelineOptions struct {
	Width int  // of the terminal; 0 means 120
	All   bool // every event, one a row
}

// Limits of the layout.
const (
	usualWidth  = 120
	narrowest   = 40 // a smaller Width counts as this
	minColumn   = 9
	maxSource   = 26
	maxWord     = 18 // longer words are broken: a number of 8 bytes fits
	stepColumns = 6  // a mark, the step and a blank
)

// folded are the kinds of events that a timeline leaves out unless asked.
// What servers do with requests shows in what callers see.
var folded = []string{"alloc", "register", "connect", "modify", "destroy", "store", "request", "answer", "service", "qp-error"}

// marked are the kinds of events that a timeline points at.
var marked = []string{"crash", "power", "suspect", "cut", "break", "timeout", "heal", "violation"}

// row is one line of a timeline, before its texts are wrapped.
type row struct {
	step   int
	kind   string
	source string
	cells  []string // by host; empty where nothing happened
	up     []bool   // which hosts are up after it
	peers  string   // the arrow and the hosts at its other end
	host   int
	life   int
}

// WriteTimeline draws a replay for a terminal: a row for each step, a column for
// each host, and at the right the line of the protocol that did it. A line
// beside a column says that its host is up. The last lines say what is violated.
func WriteTimeline(w io.Writer, r *Replay, opt TimelineOptions) error {
	rows, left := timelineRows(r, opt.All)
	width := opt.Width
	if width == 0 {
		width = usualWidth
	}
	t := newTable(r.Hosts, rows, max(width, narrowest))
	var b strings.Builder
	t.head(&b)
	step := -1
	for i := range rows {
		t.row(&b, &rows[i], rows[i].step != step)
		step = rows[i].step
	}
	b.WriteString(leftOut(left))
	b.WriteString(ending(r.Err, t.width()))
	_, err := io.WriteString(w, b.String())
	return err
}

// leftOut says how many events a timeline does not show.
func leftOut(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("left out: %d of allocations, registrations, connections, stores and what servers do (--all shows them)\n", n)
}

// ending is the violated promise in words.
func ending(err error, width int) string {
	if err == nil {
		return "\nno promise is violated\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\nviolated: %s\n", ClassOf(err))
	for text := range strings.Lines(err.Error()) {
		for _, l := range wrap(strings.TrimRight(text, "\n"), width-2, 0) {
			b.WriteString("  " + l + "\n")
		}
	}
	return b.String()
}

// timelineRows makes the rows, and counts the events that it left out.
func timelineRows(r *Replay, all bool) (rows []row, left int) {
	up := make([]bool, len(r.Hosts))
	lives := make([]int, len(r.Hosts))
	for i := range r.Events {
		e := &r.Events[i]
		h := slices.Index(r.Hosts, e.Host)
		if h < 0 {
			left++
			continue
		}
		upAfter(up, h, e)
		lives[h] = max(lives[h], e.Life)
		if !all && slices.Contains(folded, e.Kind) {
			left++
			continue
		}
		x := newRow(e, h, r.Hosts)
		if e.Life < lives[h] {
			x.cells[h] = fmt.Sprintf("[life %d] %s", e.Life, x.cells[h])
		}
		x.up = slices.Clone(up)
		if all || !joins(rows, &x) {
			rows = append(rows, x)
		}
	}
	for i := range rows {
		rows[i].cells[rows[i].host] += rows[i].peers
	}
	if !all {
		rows = gathered(rows)
	}
	return rows, left
}

// gathered makes one row of what a host does in one step, and one of what lands
// at a host in one step.
func gathered(rows []row) []row {
	var out []row
	for _, x := range rows {
		if i := together(out, &x); i >= 0 {
			out[i].append(&x)
			continue
		}
		out = append(out, x)
	}
	return out
}

// append adds what x says, without the words that y has said already.
func (y *row) append(x *row) {
	text := x.cells[x.host]
	switch {
	case x.kind == "post" && y.kind == "post":
		text = strings.TrimPrefix(text, "posts ")
	case x.kind == "land" && y.peers == x.peers:
		y.cells[y.host] = strings.TrimSuffix(y.cells[y.host], y.peers)
		text = strings.Replace(text, " lands at ", " at ", 1)
	}
	y.cells[y.host] += "; " + text
	y.up, y.kind, y.peers = x.up, x.kind, x.peers
}

// together is the row of the same step that x belongs to, or -1.
func together(rows []row, x *row) int {
	for i := len(rows) - 1; i >= 0 && rows[i].step == x.step; i-- {
		y := &rows[i]
		if y.host == x.host && y.life == x.life && (y.kind == "land") == (x.kind == "land") &&
			!slices.Contains(marked, x.kind) && !slices.Contains(marked, y.kind) && x.kind != "start" && y.kind != "start" {
			return i
		}
	}
	return -1
}

// upAfter notes in up what e does to its host.
func upAfter(up []bool, h int, e *sim.TraceEvent) {
	switch e.Kind {
	case "start":
		up[h] = true
	case "crash", "power", "end":
		up[h] = false
	}
}

func newRow(e *sim.TraceEvent, h int, hosts []string) row {
	x := row{step: e.Step, kind: e.Kind, source: e.Source, cells: make([]string, len(hosts)), host: h, life: e.Life}
	text, arrow := shortText(e)
	x.cells[h] = text
	if arrow != "" {
		x.peers = " " + arrow + " " + e.Peer
	}
	return x
}

// shortText is an event's text without what its place in the timeline says, and
// the arrow to or from its peer.
func shortText(e *sim.TraceEvent) (text, arrow string) {
	text = strings.NewReplacer(" of "+e.Host+"→", " → ", e.Host+"→", "→").Replace(e.Text)
	switch {
	case e.Kind == "violation":
		return "✗ violates the promise below", ""
	case e.Kind == "heal":
		return "✓ " + text, ""
	case slices.Contains(marked, e.Kind):
		return "✗ " + text, ""
	case e.Peer == "":
		return text, ""
	case e.Kind == "land":
		return strings.TrimPrefix(text, e.Peer+"→"+e.Host+" "), "←"
	case e.Kind == "request":
		return strings.TrimSuffix(text, " from "+e.Peer), "←"
	case e.Kind == "answered":
		return strings.Replace(text, " of "+e.Peer, "", 1), "←"
	}
	return strings.Replace(text, " of "+e.Peer, "", 1), "→"
}

// joins adds x to a row that says the same of other hosts, if there is one in
// this step: three posts of one text are a row with three peers, and hosts that
// start together start in one row.
func joins(rows []row, x *row) bool {
	for i := len(rows) - 1; i >= 0; i-- {
		y := &rows[i]
		if y.step != x.step || y.kind != x.kind {
			return false
		}
		if x.kind == "start" && y.cells[x.host] == "" {
			y.cells[x.host], y.up = x.cells[x.host], x.up
			return true
		}
		if y.host == x.host && y.life == x.life && y.source == x.source && y.peers != "" && x.peers != "" &&
			y.cells[y.host] == x.cells[x.host] && !strings.Contains(y.peers, peerOf(x)) {
			y.peers += "," + peerOf(x)
			return true
		}
	}
	return false
}

// peerOf is the name after the arrow, with the blank before it.
func peerOf(x *row) string {
	_, name, _ := strings.Cut(x.peers, " ")
	_, name, _ = strings.Cut(name, " ")
	return " " + name
}

// table is the layout of a timeline.
type table struct {
	hosts   []string
	columns []int // the width of each host's text
	source  int
}

// newTable divides the width: each column has the least that it can do with, and
// the rest goes where the most text is.
func newTable(hosts []string, rows []row, width int) *table {
	t := &table{hosts: hosts, columns: make([]int, len(hosts)), source: runes("source")}
	need := make([]want, len(hosts))
	for i := range rows {
		t.source = max(t.source, min(maxSource, runes(rows[i].source)))
		for h, c := range rows[i].cells {
			need[h].add(c)
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

// want is what a column has to hold.
type want struct{ total, longest, word int }

func (x *want) add(text string) {
	x.total += runes(text)
	x.longest = max(x.longest, runes(text))
	for word := range strings.FieldsSeq(text) {
		x.word = max(x.word, min(runes(word), maxWord)+1)
	}
}

// neediest is the column that should be wider: one that breaks a word, or the
// one whose text is longest for its width, or -1 if all fit.
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

// width is that of the whole table.
func (t *table) width() int {
	n := stepColumns + 1 + t.source
	for _, c := range t.columns {
		n += c + 2
	}
	return n
}

// head writes the names of the hosts and a rule under them.
func (t *table) head(b *strings.Builder) {
	line, rule := pad("step", stepColumns), strings.Repeat("─", stepColumns)
	for i, h := range t.hosts {
		line += " " + pad(h, t.columns[i]+1)
		rule += "┬" + strings.Repeat("─", t.columns[i]+1)
	}
	b.WriteString(strings.TrimRight(line+" source", " ") + "\n")
	b.WriteString(rule + strings.Repeat("─", t.source+1) + "\n")
}

// row writes one row: as many lines as its longest cell takes.
func (t *table) row(b *strings.Builder, x *row, first bool) {
	cells := make([][]string, len(x.cells))
	lines := 1
	for h, c := range x.cells {
		cells[h] = wrap(c, t.columns[h], 1)
		lines = max(lines, len(cells[h]))
	}
	source := wrap(shorten(x.source), max(t.source, 1), 0)
	for i := range max(lines, len(source)) {
		b.WriteString(t.line(x, cells, source, i, first && i == 0))
	}
}

// line is the i-th line of a row.
func (t *table) line(x *row, cells [][]string, source []string, i int, first bool) string {
	var b strings.Builder
	b.WriteString(stepText(x, first, i == 0))
	for h, c := range cells {
		bar := " "
		if x.up[h] {
			bar = "│"
		}
		b.WriteString(bar + pad(at(c, i), t.columns[h]+1))
	}
	return strings.TrimRight(b.String()+" "+at(source, i), " ") + "\n"
}

// stepText is the left margin: the step, and a mark beside a fault.
func stepText(x *row, first, top bool) string {
	mark, step := " ", ""
	if top && slices.Contains(marked, x.kind) {
		mark = "!"
	}
	if first {
		step = fmt.Sprint(x.step)
	}
	return fmt.Sprintf("%s%*s ", mark, stepColumns-2, step)
}

// shorten keeps the end of a source line that is very long.
func shorten(s string) string {
	if n := runes(s); n > maxSource {
		return "…" + string([]rune(s)[n-maxSource+1:])
	}
	return s
}

// wrap breaks s into lines of at most width runes, at blanks if it can. All but
// the first line are indented.
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
