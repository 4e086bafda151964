package drawing

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/verbatim-rdma/verbatim/report/view"
)

// Measures of the drawing, in pixels.
const (
	width   = 800
	margin  = 14
	stepEnd = 56  // where the numbers of steps end
	words   = 76  // where the words begin
	lanes   = 380 // where the first lane can be
	line    = 17  // from one line of text to the next
	gap     = 14  // between moments
	spread  = 13  // between the ends of two arrows
	cellW   = 18
	cellH   = 20
	letter  = 7 // the width of a letter of the words, at most on average
	wide    = 8 // the same, in bold
)

// text is a piece of text at the left end of its base line, or around its middle.
type text struct {
	x, y   int
	class  string
	middle bool
	s      string
}

// plan is a drawing: everything has its place.
type plan struct {
	d       *view.Document
	moments []moment
	arrows  []arrow
	strips  []strip
	texts   []text
	lane    []int // x, by host
	top     int   // of the lanes
	bottom  int   // of them
	height  int
	marks   []mark
	chips   []chip
	boxes   []box
}

// mark is a cross on a lane: a crash or another fault.
type mark struct{ x, y int }

// chip is a little square in the colour of a list of requests, beside its words.
type chip struct{ x, y, list int }

// box is a cell of memory in its place.
type box struct {
	x, y, w, h, list int
	gone             bool
}

// newPlan lays a run out, up to a step (0: all): lanes, memory below them, and then the
// violation.
func newPlan(d *view.Document, until int) *plan {
	if until == 0 {
		until = lastStep(d)
	}
	p := &plan{d: d, moments: momentsOf(d, until)}
	limit := 0
	for i := range d.Events {
		if d.Events[i].Step <= until {
			limit = i
		}
	}
	p.arrows = arrowsOf(d, p.moments, limit)
	p.strips = stripsOf(d, p.moments, limit)
	p.placeLanes()
	p.placeMoments()
	p.placeArrows()
	p.explainArrows()
	p.placeMemory(min(until, lastStep(d)))
	p.placeViolation(until)
	return p
}

// lastStep is the last step of a run.
func lastStep(d *view.Document) int {
	if n := len(d.Events); n > 0 {
		return d.Events[n-1].Step
	}
	return 0
}

func (p *plan) say(x, y int, class string, middle bool, s string) {
	p.texts = append(p.texts, text{x, y, class, middle, s})
}

// placeLanes gives each host its lane, and its name above it.
func (p *plan) placeLanes() {
	room := width - margin - lanes
	for i, name := range p.d.Hosts {
		x := lanes + room*(2*i+1)/(2*len(p.d.Hosts))
		p.lane = append(p.lane, x)
		p.say(x, margin+14, "host", true, clip(name, room/len(p.d.Hosts)/8))
	}
	p.texts = append(p.texts, text{stepEnd, margin + 14, "soft end", false, "step"})
	p.top = margin + 24
}

// clip cuts a name that does not fit.
func clip(s string, n int) string {
	if n = max(n, 2); utf8.RuneCountInString(s) > n {
		return string([]rune(s)[:n-1]) + "…"
	}
	return s
}

// placeMoments gives each moment its height and its words.
func (p *plan) placeMoments() {
	y := p.top + gap
	for i := range p.moments {
		m := &p.moments[i]
		m.top = y
		class := "words"
		if p.d.Events[m.events[0]].Marked {
			class = "bad"
			p.marks = append(p.marks, mark{p.lane[m.host], y + 8})
		}
		if m.list >= 0 && !reads(p.d, m) {
			p.chips = append(p.chips, chip{words - 15, y + 3, m.list})
		}
		p.sayStep(y, m.step, m.last)
		n := 0
		for k, s := range m.words(p.d) {
			if k > 0 {
				class = "result"
			}
			n += p.write(y+n*line, class, (lanes-words)/letter, s)
		}
		m.height = max(n*line, m.ends*spread+4)
		y += m.height + gap
	}
	p.bottom, p.height = y, y+6
}

// sayStep writes steps in the left margin.
func (p *plan) sayStep(y, first, last int) {
	step := fmt.Sprint(first)
	if last > first {
		step += fmt.Sprintf("–%d", last)
	}
	p.texts = append(p.texts, text{stepEnd, y + 12, "soft end", false, step})
}

// write writes words in lines of at most n letters, and returns how many lines it took.
func (p *plan) write(y int, class string, n int, s string) int {
	lines := wrap(s, n)
	for i, l := range lines {
		p.say(words, y+12+i*line, class, false, l)
	}
	return len(lines)
}

// placeViolation describes the violation at the bottom, and the omitted steps.
func (p *plan) placeViolation(until int) {
	v := p.d.Violation
	if v == nil {
		return
	}
	const letters = (width - words - margin) / wide
	if left := leftOut(until+1, v.Step-1); left != "" {
		p.height += line * p.write(p.height, "soft", letters, left)
	}
	p.sayStep(p.height, v.Step, v.Step)
	p.height += line*p.write(p.height, "bad", letters, v.Class+": "+v.Message) + gap
}

// leftOut describes the steps that are not drawn; empty if there are none.
func leftOut(first, last int) string {
	switch {
	case first > last:
		return ""
	case first == last:
		return fmt.Sprintf("Step %d is not drawn.", first)
	}
	return fmt.Sprintf("Steps %d to %d are not drawn.", first, last)
}

// reads reports whether a moment posts nothing but Reads.
func reads(d *view.Document, m *moment) bool {
	for _, i := range m.events {
		if q := d.Events[i].Request; q >= 0 && d.Requests[q].Op != "Read" {
			return false
		}
	}
	return true
}

// placeArrows gives arrows their ends.
func (p *plan) placeArrows() {
	for i := range p.arrows {
		a := &p.arrows[i]
		b, e := &p.moments[a.begin], &p.moments[a.end]
		a.x1, a.y1 = p.lane[a.from], b.top+8
		a.x2, a.y2 = p.lane[a.to], e.top+8+a.order*spread
		if a.begin == a.end || p.d.Events[e.events[0]].Marked {
			a.y2 += spread // below the beginning, or the mark
		}
		if a.fate == lost || a.fate == flying {
			a.x2 -= (a.x2 - a.x1) / 8
			a.y2 -= (a.y2 - a.y1) / 8
		}
	}
}

// explainArrows explains below the lanes how the arrows differ.
func (p *plan) explainArrows() {
	s := "An arrow points the way the bytes go."
	for f, meaning := range []string{whole: "", part: "Hollow: part of them arrived.", lost: "Dotted: they never arrive.",
		gone: "Circle: their memory was gone before anything looked.", flying: "Dashed: they are under way."} {
		if meaning != "" && slices.ContainsFunc(p.arrows, func(a arrow) bool { return a.fate == fate(f) }) {
			s += " " + meaning
		}
	}
	if len(p.arrows) > 0 {
		p.height += line * p.write(p.height, "soft", (width-words-margin)/wide, s)
	}
}

// placeMemory draws the strips below the lanes of their hosts.
func (p *plan) placeMemory(step int) {
	perLane := (width - margin - lanes) / max(len(p.d.Hosts), 1)
	columns := max((perLane-8)/cellW, 1)
	below := make([]int, len(p.d.Hosts))
	top := p.height + gap
	for i := range p.strips {
		s := &p.strips[i]
		n := min(columns, len(s.cells))
		x0, y0 := p.lane[s.host]-n*cellW/2, top+below[s.host]
		rows := (len(s.cells) + columns - 1) / columns
		if s.gone {
			p.boxes = append(p.boxes, box{x0, y0, n * cellW, cellH, nobody, true})
			p.say(x0+n*cellW/2, y0+14, "tiny", true, "gone")
			below[s.host] += cellH + 10
			continue
		}
		for k := range s.cells {
			c := &s.cells[k]
			x, y := x0+k%columns*cellW, y0+k/columns*(cellH+line)
			p.boxes = append(p.boxes, box{x, y, cellW, cellH, c.list, false})
			p.say(x+cellW/2, y+14, glyphClass(c.list), true, c.glyph)
			p.say(x+cellW/2, y+cellH+11, "tiny", true, fmt.Sprint(c.offset))
		}
		below[s.host] += rows*(cellH+line) + 6
	}
	if len(p.strips) == 0 {
		return
	}
	about := fmt.Sprintf("memory after step %d: a cell is %d bytes, in the colour of the request that brought them", step, word)
	if slices.ContainsFunc(p.strips, func(s strip) bool { return s.more }) {
		about += fmt.Sprintf("; the first %d cells", maxCells)
	}
	n := p.write(top, "words", (lanes-words)/letter, about)
	p.height = top + max(slices.Max(below), n*line) + gap
}

// breaks reports whether a line may break at r. A name and its number stay together.
func breaks(r rune) bool { return unicode.IsSpace(r) && r != keep }

// keep is a space at which no line breaks.
const keep = '\u00a0'

// wrap breaks a text into lines of at most n letters, at spaces where there are some.
func wrap(s string, n int) []string {
	var out []string
	for _, w := range strings.Split(strings.Join(strings.FieldsFunc(s, breaks), " "), " ") {
		for utf8.RuneCountInString(w) > n {
			r := []rune(w)
			out, w = append(out, string(r[:n])), string(r[n:])
		}
		if k := len(out) - 1; k >= 0 && utf8.RuneCountInString(out[k])+1+utf8.RuneCountInString(w) <= n {
			out[k] += " " + w
		} else {
			out = append(out, w)
		}
	}
	return out
}

func glyphClass(list int) string {
	if list >= 0 {
		return "inked"
	}
	return "glyph"
}
