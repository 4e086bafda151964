package drawing

import (
	"fmt"
	"html"
	"io"
	"math"
	"strings"
	"unicode"

	"github.com/verbatim-rdma/verbatim/report/view"
)

// Write draws a run as SVG, up to a step (0: all) and with the violation at its end. The
// drawing is 800 pixels wide, needs nothing but itself, and follows the light or dark
// setting of the reader's machine.
func Write(w io.Writer, d *view.Document, until int) error {
	_, err := io.WriteString(w, newPlan(d, until).svg())
	return err
}

// colours is how many lists of requests have a colour of their own.
const colours = 4

const style = `
text{font:12.5px system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif;fill:#1b1b1f}
.mid{text-anchor:middle}.end{text-anchor:end}.soft{fill:#55555e}.host{font-weight:600;font-size:14px}
.bad{fill:#a33b00;font-weight:600}.result{font-style:italic}.tiny{font-size:9px;fill:#55555e}.glyph,.inked{font-size:11px}
.inked{fill:#fff}.back{fill:#fff;stroke:#c9c9d1}.lane{stroke:#c9c9d1;stroke-width:5}.down{stroke-dasharray:2 7}
.cell{fill:none;stroke:#55555e}.cross{stroke:#a33b00;stroke-width:2.5}
.arrow{stroke-width:1.8;fill:none}.dots{stroke-dasharray:2 4}.dash{stroke-dasharray:7 4}.hollow{fill:#fff}
.r{stroke:#55555e}.rf{fill:#55555e}
.k0{stroke:#00548a}.f0{fill:#00548a}.k1{stroke:#a85500}.f1{fill:#a85500}
.k2{stroke:#00664a}.f2{fill:#00664a}.k3{stroke:#7a2f62}.f3{fill:#7a2f62}
@media (prefers-color-scheme:dark){
text{fill:#ececf1}.soft,.tiny{fill:#b4b4bf}.bad{fill:#ff9d66}.inked{fill:#17171b}
.back,.hollow{fill:#17171b}.back,.lane{stroke:#46464f}.cell{stroke:#b4b4bf}.cross{stroke:#ff9d66}
.r{stroke:#b4b4bf}.rf{fill:#b4b4bf}
.k0{stroke:#7cc4f5}.f0{fill:#7cc4f5}.k1{stroke:#ffb066}.f1{fill:#ffb066}
.k2{stroke:#5fd6b0}.f2{fill:#5fd6b0}.k3{stroke:#e8a6d2}.f3{fill:#e8a6d2}
}
`

// svg is the drawing as text.
func (p *plan) svg() string {
	var b strings.Builder
	title := p.d.Scenario + ", profile " + p.d.Profile
	if v := p.d.Violation; v != nil {
		title += ": " + v.Message
	}
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\">\n<title>%s</title>\n<style>%s</style>\n",
		width, p.height, width, p.height, escape(title), style)
	fmt.Fprintf(&b, "<rect class=\"back\" x=\".5\" y=\".5\" width=\"%d\" height=\"%d\" rx=\"6\"/>\n", width-1, p.height-1)
	p.writeLanes(&b)
	for _, x := range p.boxes {
		p.writeBox(&b, x)
	}
	for i := range p.arrows {
		writeArrow(&b, &p.arrows[i])
	}
	for _, m := range p.marks {
		cross(&b, "cross", m.x, m.y, 6)
	}
	for _, c := range p.chips {
		fmt.Fprintf(&b, "<rect class=\"f%d\" x=\"%d\" y=\"%d\" width=\"9\" height=\"9\"/>\n", c.list%colours, c.x, c.y)
	}
	for _, t := range p.texts {
		class := t.class
		if t.middle {
			class += " mid"
		}
		if t.s != "" {
			fmt.Fprintf(&b, "<text class=\"%s\" x=\"%d\" y=\"%d\">%s</text>\n", class, t.x, t.y, escape(t.s))
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// escape makes text of a run text of a drawing: no name becomes markup, and what XML cannot
// hold becomes a mark.
func escape(s string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar || r == '\ufffe' || r == '\uffff' {
			return unicode.ReplacementChar
		}
		return r
	}, s))
}

// writeLanes draws when each host is up.
func (p *plan) writeLanes(b *strings.Builder) {
	for h, x := range p.lane {
		y, up := p.top, true
		part := func(to int) {
			class := "lane"
			if !up {
				class += " down"
			}
			fmt.Fprintf(b, "<line class=\"%s\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>\n", class, x, y, x, to)
			y = to
		}
		for i := range p.moments {
			m := &p.moments[i]
			kind := p.d.Events[m.events[0]].Kind
			if now := kind == "start"; m.kind == other && m.host == h && now != up && (now || kind == "crash" || kind == "power") {
				part(m.top + 8)
				up = now
			}
		}
		part(p.bottom)
	}
}

// writeBox draws a cell of memory.
func (p *plan) writeBox(b *strings.Builder, x box) {
	class := "cell"
	if x.list >= 0 {
		fmt.Fprintf(b, "<rect class=\"f%d\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", x.list%colours, x.x, x.y, x.w, x.h)
	}
	if x.gone {
		class += " dots"
	}
	fmt.Fprintf(b, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", class, x.x, x.y, x.w, x.h)
}

func cross(b *strings.Builder, class string, x, y, r int) {
	fmt.Fprintf(b, "<path class=\"%s\" d=\"M%d %dL%d %dM%d %dL%d %d\"/>\n", class, x-r, y-r, x+r, y+r, x-r, y+r, x+r, y-r)
}

// writeArrow draws an arrow: its line and end differ by its fate.
func writeArrow(b *strings.Builder, a *arrow) {
	stroke, fill := "r", "rf"
	if a.list >= 0 {
		stroke, fill = fmt.Sprintf("k%d", a.list%colours), fmt.Sprintf("f%d", a.list%colours)
	}
	line := map[fate]string{lost: " dots", gone: " dash", flying: " dash"}[a.fate]
	fmt.Fprintf(b, "<line class=\"arrow %s%s\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>\n", stroke, line, a.x1, a.y1, a.x2, a.y2)
	switch a.fate {
	case whole:
		fmt.Fprintf(b, "<path class=\"%s\" d=\"%s\"/>\n", fill, head(a))
	case part, flying:
		fmt.Fprintf(b, "<path class=\"hollow %s\" d=\"%s\"/>\n", stroke, head(a))
	case lost:
		cross(b, "arrow "+stroke, a.x2, a.y2, 5)
	case gone:
		fmt.Fprintf(b, "<circle class=\"hollow arrow %s\" cx=\"%d\" cy=\"%d\" r=\"4\"/>\n", stroke, a.x2, a.y2)
	}
}

// head is a triangle at the end of an arrow.
func head(a *arrow) string {
	const long, wide = 10, 4.5
	dx, dy := float64(a.x2-a.x1), float64(a.y2-a.y1)
	n := max(math.Hypot(dx, dy), 1)
	dx, dy = dx/n, dy/n
	x, y := float64(a.x2)-long*dx, float64(a.y2)-long*dy
	return fmt.Sprintf("M%d %dL%.1f %.1fL%.1f %.1fZ", a.x2, a.y2, x-wide*dy, y+wide*dx, x+wide*dy, y-wide*dx)
}
