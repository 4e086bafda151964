package browser_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"github.com/verbatim-rdma/verbatim/report/view"
)

// overText lists the words of the timeline that an arrow or a mark lies on. It tests a point every two pixels of each
// line, and the corners of each square. On paper an arrow is cut into pieces, one for each row.
const overText = `(() => {
	const words = [], walk = document.createTreeWalker(document.querySelector(".timeline"), NodeFilter.SHOW_TEXT);
	for (let n = walk.nextNode(); n; n = walk.nextNode()) {
		const r = document.createRange();
		r.selectNodeContents(n);
		for (const b of r.getClientRects()) words.push({ text: n.textContent, b });
	}
	words.sort((a, b) => a.b.top - b.b.top);
	const out = new Set(), high = Math.max(...words.map((w) => w.b.height));
	const at = (x, y) => {
		let lo = 0, hi = words.length;
		while (lo < hi) { const m = (lo + hi) >> 1; words[m].b.top < y - high ? lo = m + 1 : hi = m }
		for (; lo < words.length && words[lo].b.top < y; lo++) {
			const b = words[lo].b;
			if (y > b.top && y < b.bottom && x > b.left && x < b.right) out.add(words[lo].text);
		}
	};
	let points = 0;
	const drawn = document.body.classList.contains("paper") ? ".arrows.cut" : ".lanes > .arrows";
	for (const e of document.querySelectorAll(["polyline", "path", "circle"].map((x) => drawn + " " + x).join(","))) {
		const m = e.getScreenCTM(), end = e.getTotalLength(), svg = e.closest("svg"), clip = svg.getBoundingClientRect();
		for (let i = 0; i <= end + 1; i += 2) {
			const p = e.getPointAtLength(Math.min(i, end)).matrixTransform(m);
			if (svg.classList.contains("cut") && (p.y < clip.top || p.y > clip.bottom)) continue;
			points++;
			at(p.x, p.y);
		}
	}
	for (const e of document.querySelectorAll(drawn === ".arrows.cut" ? "none" : drawn + " rect")) {
		const b = e.getBoundingClientRect();
		for (const x of [b.left, b.right]) for (const y of [b.top, b.bottom]) at(x, y);
	}
	return { Words: [...out], Points: points };
})()`

// tooWide lists elements that are wider than their cell of the timeline, or that stick out of the page.
const tooWide = `[...document.querySelectorAll(".timeline th, .timeline td, .timeline .chip, main, header, aside")].filter((e) => {
	const r = e.getBoundingClientRect();
	return r.right > innerWidth + 1 || r.left < -1 || e.matches(".timeline *") && e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== "inline";
}).map((e) => e.tagName + "." + e.className + ": " + e.textContent.slice(0, 60))`

// checkArrows fails the test if an arrow lies on a word.
func (b *tab) checkArrows(what string) {
	b.t.Helper()
	got := eval[struct {
		Words  []string
		Points int
	}](b, overText)
	if len(got.Words) > 0 || got.Points < 10 {
		b.t.Errorf("%s: some of %d points of arrows lie on %q", what, got.Points, got.Words)
	}
}

// At each width, font and size, folded or not, no arrow lies on a word and no text is cut off.
func TestNoArrowLiesOnText(t *testing.T) {
	all := maps.Clone(runs(t))
	all["stamps"], all["many hosts"] = stampsCross(t), stampsCross(t)
	withMoreHosts(all["many hosts"].doc, 4)
	for name, f := range all { //lint:ordered a test for each
		if len(f.doc.Requests) == 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			b := newTab(t, 1600, 1000)
			b.open(f.doc)
			for _, width := range []int64{800, 1600} {
				b.run(chromedp.EmulateViewport(width, 1000))
				for i, font := range fonts {
					b.do(fmt.Sprintf(`{ const s = new CSSStyleSheet(); s.replaceSync(%q); document.adoptedStyleSheets = [s]; dispatchEvent(new Event("resize")) }`, font))
					what := fmt.Sprintf("%d pixels, font %d", width, i)
					b.redrawn()
					b.checkArrows(what)
					for _, x := range eval[[]string](b, tooWide) {
						t.Errorf("%s: wider than its place: %s", what, x)
					}
				}
				b.press("f")
				b.press("+")
				b.redrawn()
				b.checkArrows(fmt.Sprintf("%d pixels, unfolded or folded, larger", width))
			}
		})
	}
}

// withMoreHosts adds n idle hosts to a document.
func withMoreHosts(d *view.Document, n int) {
	for i := range n {
		d.Hosts = append(d.Hosts, fmt.Sprint("idle", i+1))
		for r := range d.Rows {
			d.Rows[r].Cells = append(d.Rows[r].Cells, []string{})
		}
	}
}

// redrawn waits until the page has drawn its arrows for the current layout.
func (b *tab) redrawn() {
	b.t.Helper()
	b.do(`scrollTo(0, 0); window.drawn = false; requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(() => { window.drawn = true })))`)
	b.wait("window.drawn")
}

// A page opens at the row after the last chance to keep the promise. It marks unusual choices, and Play moves from row to
// row.
func TestOpensAndPlays(t *testing.T) {
	f := stampsCross(t)
	b := newTab(t, 1500, 1000)
	b.open(f.doc)
	row := func(class string) int {
		return eval[int](b, fmt.Sprintf(`[...document.querySelectorAll(".timeline tbody tr")].findIndex(r => r.classList.contains(%q))`, class))
	}
	if c := row("chance"); c < 0 || row("selected") != c+1 {
		t.Errorf("it opens at row %d, and the last chance is row %d", row("selected"), c)
	}
	b.press("f")
	steps := map[int]bool{}
	for _, d := range f.doc.Decisions {
		steps[d.Step] = true
	}
	if n := eval[int](b, `document.querySelectorAll(".timeline .choice").length`); n != len(steps) || n == 0 {
		t.Errorf("%d rows are marked as choices, and %d steps have a choice", n, len(steps))
	}
	b.do(`document.querySelector(".timeline tbody button").click()`)
	b.do(`document.getElementById("play").click()`)
	b.wait(`document.querySelectorAll(".timeline tbody tr")[2].classList.contains("selected")`)
	b.do(`document.getElementById("play").click()`)
	if now := eval[string](b, `document.getElementById("play").textContent`); now != "▶ Play" {
		t.Errorf("the second click does not stop it: the button is %q", now)
	}
	size := `parseFloat(getComputedStyle(document.querySelector(".chip")).fontSize)`
	small := eval[float64](b, size)
	b.do(`document.getElementById("larger").click()`)
	if large := eval[float64](b, size); large <= small {
		t.Errorf("the button + changes the font size from %f to %f", small, large)
	}
}

// In each row, the strips of memory show the same cells as the tables, and the same Writes under way.
func TestStripsAreMemory(t *testing.T) {
	f := stampsCross(t)
	b := newTab(t, 1500, 1000)
	b.open(f.doc)
	type strip struct{ Name, Cells, Flying string }
	got := eval[[][2][]strip](b, `[...document.querySelectorAll(".timeline tbody button")].map((x) => { x.click();
		const text = (e, s) => [...e.querySelectorAll(s)];
		return [text(document, ".memory > .strip").map((s) => ({ Name: s.previousElementSibling.textContent, Cells: text(s, ".cell").map((c) => parseInt(c.querySelector(".at").textContent)).join(),
				Flying: text(s, ".cell").map((c) => c.querySelectorAll(".flying").length > 0).join() })),
			text(document, ".memory > details:first-of-type .cells").map((t) => ({ Name: t.caption.textContent.replace(/: \d+ bytes$/, ""), Cells: [...t.tBodies[0].rows].filter((r) => r.cells.length === 4).map((r) => r.cells[0].textContent).join(),
				Flying: [...t.tBodies[0].rows].filter((r) => r.cells.length === 4).map((r) => r.cells[3].textContent.includes("→ undecided")).join() }))] })`)
	flying := false
	for i, x := range got {
		if diff := cmp.Diff(x[1], x[0]); diff != "" {
			t.Errorf("row %d: the strips differ from the tables: %s", i, diff)
		}
		for _, s := range x[0] {
			flying = flying || strings.Contains(s.Flying, "true")
		}
	}
	if len(got) < 5 || !flying {
		t.Errorf("%d rows, something is under way: %v", len(got), flying)
	}
}

// Long parts of the header are folded, and their full text is in the page.
func TestLongHeadersFold(t *testing.T) {
	f := stampsCross(t)
	f.doc.Violation.Message = strings.Repeat("It is wrong. ", 40) + "\nAnd more."
	for len(f.doc.Decisions) < 20 {
		f.doc.Decisions = append(f.doc.Decisions, f.doc.Decisions[0])
	}
	b := newTab(t, 800, 900)
	b.open(f.doc)
	if open := eval[bool](b, `document.querySelector("header .long").open || document.querySelector("header ol").parentElement.open`); open {
		t.Error("a long header is open at first")
	}
	if got := eval[string](b, `document.querySelector(".message").textContent`); got != f.doc.Violation.Message {
		t.Errorf("the message is %q", got)
	}
	if n := eval[float64](b, `document.querySelector("header").getBoundingClientRect().height`); n > 300 {
		t.Errorf("the header is %.0f pixels high", n)
	}
}
