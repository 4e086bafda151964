// Package timeline draws a run of a simulated cluster as text: a column for each host, a row for each step. It
// omits what is rarely of interest, folds routine steps, and says how much it left out.
//
// [Write] is for terminals, and [Rows] for other viewers. explore.Replay.Timeline returns the [Run] of a replay.
package timeline

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// Run is the run that a timeline shows.
type Run struct {
	Hosts  []string // from left to right
	Events []sim.TraceEvent
	Err    error  // the violation, or nil
	Class  string // of the violation
	// Outcome is the outcome of a litmus test that the run reaches. Empty: Err is the violation of a protocol's promise.
	Outcome string
}

// Options configure a timeline. The zero value is 120 columns wide, and omits
// and folds what is rarely of interest.
type Options struct {
	Width int  // of the terminal, from Narrowest to Widest: others count as the nearest; 0 means 120
	All   bool // every event, one a row
}

// Limits of Options.Width.
const (
	Narrowest = 40
	Widest    = 20000
)

// Limits of the layout.
const (
	usualWidth  = 120
	minColumn   = 9
	maxSource   = 26
	maxWord     = 18 // longer words are broken: a number of 8 bytes fits
	stepColumns = 6  // at least: a mark, the step and a blank
)

// hidden are the kinds of events that a timeline omits by default. What servers do with
// requests shows at their callers; for the exceptions see untold.
var hidden = []string{"alloc", "register", "connect", "modify", "destroy", "store", "request", "answer", "service", "qp-error"}

// marked are the kinds of events that a timeline highlights.
var marked = []string{"crash", "power", "suspect", "cut", "break", "timeout", "heal", "violation"}

// row is one line of a timeline, before its texts are wrapped.
type row struct {
	Row
	kind     string
	peers    string // the arrow and the hosts at its other end
	host     int
	life     int
	ordinary bool // only routine
	begins   bool // begins with routine
	lands    bool // only placements
}

// Write draws a replay for a terminal: a column for each host, and at the right
// the responsible lines of the protocol. A row is one step; placements in it come
// before the host's own actions. Routine rows are folded (fold.go) and then
// name their first and last step. A line beside a column means that its host is up. The
// last lines say how much is omitted and folded, and what is violated. The error is
// that of w.
func Write(w io.Writer, r *Run, opt Options) error {
	rows, left := rowsOf(r, opt.All)
	all := len(rows)
	if !opt.All {
		rows = fold(rows)
	}
	t := newTable(r.Hosts, rows, min(max(cmp.Or(opt.Width, usualWidth), Narrowest), Widest))
	var b strings.Builder
	t.head(&b)
	step := -1
	for i := range rows {
		told := rows[i].Step == step && rows[i].Last == step
		t.row(&b, &rows[i], !told)
		step = rows[i].Last
	}
	b.WriteString(leftOut(left, all-len(rows)))
	b.WriteString(ending(r, t.width()))
	_, err := io.WriteString(w, b.String())
	return err
}

// leftOut describes how many events a timeline omits, and how many rows were folded.
func leftOut(events, rows int) string {
	text := ""
	if events > 0 {
		text = fmt.Sprintf("left out: %d of allocations, registrations, connections, stores and server events (--all shows them)\n", events)
	}
	if rows > 0 {
		plural := "s"
		if rows == 1 {
			plural = ""
		}
		text += fmt.Sprintf("folded: %d row%s into others of the same step or into routine rows (--all shows them)\n", rows, plural)
	}
	return text
}

// ending describes the violated promise, or the outcome that is reached.
func ending(r *Run, width int) string {
	if r.Err == nil {
		return "\nno promise is violated\n"
	}
	var b strings.Builder
	if r.Outcome != "" {
		fmt.Fprintf(&b, "\nreached: %s\n", r.Outcome)
	} else {
		fmt.Fprintf(&b, "\nviolated: %s\n", r.Class)
	}
	for text := range strings.Lines(r.Err.Error()) {
		for _, l := range wrap(strings.TrimRight(text, "\n"), width-2, 0) {
			b.WriteString("  " + l + "\n")
		}
	}
	return b.String()
}

// rowsOf makes the rows, and counts the omitted events.
func rowsOf(r *Run, all bool) (rows []row, left int) {
	up := make([]bool, len(r.Hosts))
	lives := make([]int, len(r.Hosts))
	told := untold(r.Events)
	for i := range r.Events {
		e := &r.Events[i]
		h := slices.Index(r.Hosts, e.Host)
		if h < 0 {
			left++
			continue
		}
		upAfter(up, h, e)
		lives[h] = max(lives[h], e.Life)
		text, shown := told[i]
		if !all && !shown && slices.Contains(hidden, e.Kind) {
			left++
			continue
		}
		x := newRow(e, h, r)
		if shown {
			x.Cells[h][0] = text
		}
		x.Events = []int{i}
		if e.Life < lives[h] {
			x.Cells[h][0] = fmt.Sprintf("[life %d] %s", e.Life, x.Cells[h][0])
		}
		x.Up = slices.Clone(up)
		if all || !joins(rows, &x) {
			rows = append(rows, x)
		}
	}
	for i := range rows {
		rows[i].Cells[rows[i].host][0] += rows[i].peers
	}
	if !all {
		rows = gathered(rows)
	}
	return rows, left
}

// upAfter records in up the effect of e on its host.
func upAfter(up []bool, h int, e *sim.TraceEvent) {
	switch e.Kind {
	case "start":
		up[h] = true
	case "crash", "power", "end":
		up[h] = false
	}
}

func newRow(e *sim.TraceEvent, h int, r *Run) row {
	x := row{Row: Row{Step: e.Step, Last: e.Step, Cells: make([][]string, len(r.Hosts))}, kind: e.Kind, host: h, life: e.Life,
		ordinary: ordinary(e), begins: ordinary(e), lands: e.Kind == "land"}
	if e.Source != "" {
		x.Sources = []string{e.Source}
	}
	text, arrow := shortText(e)
	if e.Kind == "violation" && r.Outcome != "" {
		text = "! reaches the outcome below"
	}
	x.Cells[h] = []string{text}
	if arrow != "" {
		x.peers = " " + arrow + " " + e.Peer
	}
	return x
}

// shortText returns an event's text without the parts that its place in the timeline shows,
// and the arrow to or from its peer.
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
