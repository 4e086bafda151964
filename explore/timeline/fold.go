package timeline

import (
	"regexp"
	"slices"
	"strings"

	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// Folding shortens a timeline without hiding anything: the texts and the lines of the
// protocol stay, and the step becomes a first and a last one. Rows of events that
// failures are about (posts other than Reads, placements, loads, errors, faults) never
// merge two steps of a host: only routine steps are merged with the step that follows.

// ordinary reports whether an event is routine: calls and their answers,
// successes, releases at the end of a use, and terminations and restarts of a host. A
// Read is routine too: it changes nothing, and the loads show its result.
func ordinary(e *sim.TraceEvent) bool {
	switch e.Kind {
	case "post":
		return strings.HasPrefix(e.Text, "posts Read ")
	case "call":
		return !strings.Contains(e.Text, ", which is down")
	case "answered":
		return !strings.Contains(e.Text, ": ") // no error
	case "completion":
		return strings.HasSuffix(e.Text, ": SUCCESS")
	case "revoke", "end":
		return true
	case "start":
		return e.Life > 0
	}
	return false
}

// fold merges each row into the one before where that reads as well, until no two can
// be merged.
func fold(rows []row) []row {
	for n := len(rows) + 1; len(rows) < n; {
		n = len(rows)
		rows = foldOnce(rows)
	}
	return rows
}

func foldOnce(rows []row) []row {
	var out []row
	for _, x := range rows {
		if len(out) > 0 {
			y := &out[len(out)-1]
			if y.landed(&x) || y.course(&x) || y.alike(&x) {
				y.take(&x)
				continue
			}
		}
		out = append(out, x)
	}
	return out
}

// landed: x continues with the step in which y landed.
func (y *row) landed(x *row) bool {
	return y.lands && y.Last == x.Step && x.kind != "start" && !slices.Contains(marked, x.kind)
}

// course: one host's routine continues, and no other host did anything that is shown. The
// first other action of x, in the last of the steps, ends the row.
func (y *row) course(x *row) bool {
	return y.ordinary && x.begins && y.host == x.host && y.alone() && x.alone() && (y.life == x.life || x.kind == "start" && y.kind == "end")
}

// alike: the same happens at one host after another, with nothing else in between: a
// release at the same line of the protocol, or a placement. The effects of a release
// stay beside it.
func (y *row) alike(x *row) bool {
	back := x.kind == "revoke" && y.kind == "revoke" && y.source() == x.source()
	if !back && !(x.lands && y.lands) {
		return false
	}
	for h := range x.Cells {
		if len(x.Cells[h]) > 0 && len(y.Cells[h]) > 0 {
			return false // a host's texts are in the order of the steps
		}
	}
	return true
}

// source returns the line of the protocol with which a row ends.
func (y *row) source() string {
	if len(y.Sources) == 0 {
		return ""
	}
	return y.Sources[len(y.Sources)-1]
}

// alone: y is about one host only.
func (y *row) alone() bool {
	n := 0
	for _, c := range y.Cells {
		n += min(len(c), 1)
	}
	return n == 1
}

// take merges x, the next row, into y.
func (y *row) take(x *row) {
	for h, cell := range x.Cells {
		for _, text := range cell {
			y.say(h, text)
		}
	}
	for _, s := range x.Sources {
		if !slices.Contains(y.Sources, s) {
			y.Sources = append(y.Sources, s)
		}
	}
	y.Events = append(y.Events, x.Events...)
	y.ordinary, y.lands = y.ordinary && x.ordinary, y.lands && x.lands
	y.Last, y.host, y.life, y.kind, y.Up = x.Last, x.host, x.life, x.kind, x.Up
}

// seen matches a success in the words of shortText.
var seen = regexp.MustCompile(`^sees (\S+) → ([^:"]+): SUCCESS$`)

// say adds a text to a host's cell. The successes of one operation at several peers
// share a text.
func (y *row) say(h int, text string) {
	cell := y.Cells[h]
	if n := len(cell); n > 0 {
		a, b := seen.FindStringSubmatch(cell[n-1]), seen.FindStringSubmatch(text)
		if a != nil && b != nil && a[1] == b[1] && !slices.Contains(strings.Split(a[2], ", "), b[2]) {
			cell[n-1] = "sees " + a[1] + " → " + a[2] + ", " + b[2] + ": SUCCESS"
			return
		}
	}
	y.Cells[h] = append(cell, text)
}

// gathered makes one row of everything that a host does in one step, and one of
// everything that lands at a host in one step.
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

// append adds the texts of x, without the words that y already has.
func (y *row) append(x *row) {
	y.Events = append(y.Events, x.Events...)
	cell := &y.Cells[y.host]
	text, end := x.Cells[x.host][0], len(*cell)-1
	switch {
	case x.kind == "post" && y.kind == "post":
		text = strings.TrimPrefix(text, "posts ")
	case x.kind == "land" && y.peers == x.peers:
		(*cell)[end] = strings.TrimSuffix((*cell)[end], y.peers)
		text = strings.Replace(text, " lands at ", " at ", 1)
	}
	y.say(x.host, text)
	y.Up, y.kind, y.peers = x.Up, x.kind, x.peers
	y.ordinary = y.ordinary && x.ordinary
}

// together returns the row of the same step that x belongs to, or -1.
func together(rows []row, x *row) int {
	for i := len(rows) - 1; i >= 0 && rows[i].Step == x.Step; i-- {
		y := &rows[i]
		if y.host == x.host && y.life == x.life && (y.kind == "land") == (x.kind == "land") &&
			!slices.Contains(marked, x.kind) && !slices.Contains(marked, y.kind) && x.kind != "start" && y.kind != "start" {
			return i
		}
	}
	return -1
}

// joins adds x to a row of this step with the same text for other hosts, if there is
// one: three posts of one text are a row with three peers, and hosts that start
// together share a row.
func joins(rows []row, x *row) bool {
	for i := len(rows) - 1; i >= 0; i-- {
		y := &rows[i]
		if y.Step != x.Step || y.kind != x.kind {
			return false
		}
		if x.kind == "start" && len(y.Cells[x.host]) == 0 {
			y.Cells[x.host], y.Up = x.Cells[x.host], x.Up
			y.Events = append(y.Events, x.Events...)
			return true
		}
		if y.host == x.host && y.life == x.life && slices.Equal(y.Sources, x.Sources) && y.peers != "" && x.peers != "" &&
			y.Cells[y.host][0] == x.Cells[x.host][0] && !strings.Contains(y.peers, peerOf(x)) {
			y.peers += "," + peerOf(x)
			y.Events = append(y.Events, x.Events...)
			return true
		}
	}
	return false
}

// peerOf returns the name after the arrow, with the preceding blank.
func peerOf(x *row) string {
	_, name, _ := strings.Cut(x.peers, " ")
	_, name, _ = strings.Cut(name, " ")
	return " " + name
}
