package browser_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// paper is how wide A4 is between margins of 10 mm, in pixels of a page: landscape, and
// upright.
const paper, upright = 1046, 717

// toPaper makes a tab as a browser makes it for paper, on a machine with a dark screen.
func (b *tab) toPaper(width int) {
	b.t.Helper()
	b.run(chromedp.EmulateViewport(int64(width), 700))
	b.do(`dispatchEvent(new Event("beforeprint"))`) // while it is on the screen, as browsers do
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print", Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}})
}

// cutOff are the elements that are wider than their place or than the paper.
func (b *tab) cutOff() []string {
	b.t.Helper()
	return eval[[]string](b, `[...document.querySelectorAll("body *")].filter(e => {
		if (e.closest("svg, .hidden") || !e.checkVisibility()) return false;
		const r = e.getBoundingClientRect(), s = getComputedStyle(e);
		return r.right > innerWidth + 1 || r.left < -1 || s.overflowX !== "visible" && e.scrollWidth > e.clientWidth + 1 || s.overflowY !== "visible" && e.scrollHeight > e.clientHeight + 1;
	}).map(e => e.tagName + "." + e.className + ": " + e.textContent.slice(0, 60))`)
}

// cuts are the arrows on paper: for each row whether they lie over it, and where posts are.
const cuts = `(() => { const rows = [...document.querySelectorAll(".timeline tbody tr")], heads = [...document.querySelectorAll(".timeline thead th")];
	const near = (a, b) => Math.abs(a - b) < 2, out = { Off: [], Posts: 0, OffLane: 0, Old: getComputedStyle(document.querySelector(".lanes > .arrows")).display };
	rows.forEach((r, i) => { const cut = r.querySelector(".cut"), box = r.getBoundingClientRect(); if (!cut) return; const c = cut.getBoundingClientRect();
		if (!near(c.top, box.top) || !near(c.bottom, box.bottom) || !near(c.left, box.left) || !near(c.width, box.width)) out.Off.push(i);
		cut.querySelectorAll("circle.post").forEach(p => { const q = p.getBoundingClientRect(), y = (q.top + q.bottom) / 2, x = (q.left + q.right) / 2;
			if (y < box.top || y >= box.bottom) return; out.Posts++; if (!heads.some(h => near(h.getBoundingClientRect().left + 9, x))) out.OffLane++ }) });
	return out })()`

// fonts are styles with whose letters a page must print as well as with those that are
// installed: other machines have other fonts, which are wider, narrower, higher and lower.
var fonts = []string{
	"",
	"* { font-family: serif !important; line-height: 1.83 !important; letter-spacing: .7px }",
	"* { font-family: sans-serif !important; line-height: 1.13 !important; letter-spacing: -.4px } .timeline .note { line-height: 2.9 !important }",
}

// On paper nothing is cut off, arrows stay with their rows, and what colours say is said
// by shapes too; afterwards all is as before. None of it depends on the fonts.
func TestPrints(t *testing.T) {
	for name, f := range runs(t) { //lint:ordered a test for each
		t.Run(name, func(t *testing.T) {
			b := newTab(t, 1500, 1000)
			b.open(f.doc)
			closed := `document.querySelectorAll("details:not([open])").length`
			before := eval[int](b, closed)
			heights := map[float64]bool{}
			for i, font := range fonts {
				b.do(fmt.Sprintf(`{ const s = new CSSStyleSheet(); s.replaceSync(%q); document.adoptedStyleSheets = [s] }`, font))
				b.toPaper(paper)
				heights[eval[float64](b, `document.querySelector(".timeline").getBoundingClientRect().height`)] = true
				b.checkPaper(font, name != "litmus")
				if name != "litmus" {
					b.checkArrows("on paper")
				}
				if i == 0 {
					checkGrey(t, b)
					pdf := pdfOf(b)
					if n := bytes.Count(pdf, []byte("/Type /Page\n")); !bytes.HasPrefix(pdf, []byte("%PDF-")) || n < 2 {
						t.Errorf("%d pages in %d bytes", n, len(pdf))
					}
				}
				call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "screen"})
				b.do(`dispatchEvent(new Event("afterprint"))`)
				if n := eval[int](b, `document.querySelectorAll(".cut, .paper").length`); n > 0 || eval[int](b, closed) != before {
					t.Errorf("after printing %d things are left, and %d parts are closed that were %d", n, eval[int](b, closed), before)
				}
			}
			if len(heights) != len(fonts) {
				t.Errorf("%d fonts make timelines of heights %v", len(fonts), heights)
			}
		})
	}
}

// checkPaper: nothing is cut off on paper, and arrows are where they belong.
func (b *tab) checkPaper(font string, posts bool) {
	b.t.Helper()
	for _, x := range b.cutOff() {
		b.t.Errorf("%q: cut off: %s", font, x)
	}
	got := eval[struct {
		Off            []int
		Posts, OffLane int
		Old            string
	}](b, cuts)
	want := eval[int](b, `document.querySelectorAll(".lanes > .arrows circle.post").length`)
	if len(got.Off) > 0 || got.OffLane > 0 || got.Posts != want || want == 0 && posts || got.Old != "none" {
		b.t.Errorf("%q: the arrows on paper: %+v, and %d requests are posted", font, got, want)
	}
}

// pdfOf prints the page.
func pdfOf(b *tab) []byte {
	b.t.Helper()
	yes := true
	out, err := chromedp.Call(b.ctx, page.PrintToPDF, page.PrintToPDFParams{PreferCSSPageSize: &yes, PrintBackground: &yes})
	if err != nil {
		b.t.Fatal(err)
	}
	return out.Data
}

// checkGrey checks that without colours arrows differ by their dashes, that drawings stand out
// from the paper, and that the paper is white.
func checkGrey(t *testing.T, b *tab) {
	t.Helper()
	dashes := eval[map[string]string](b, `(() => { const out = {}; for (const c of ["go", "late go", "dropped", "unseen", "back"]) {
		const g = document.createElementNS("http://www.w3.org/2000/svg", "polyline"); g.setAttribute("class", "wire " + c); document.querySelector(".arrows").append(g);
		out[c] = getComputedStyle(g).strokeDasharray; g.remove() } return out })()`)
	seen := map[string]string{}
	for kind, dash := range dashes { //lint:ordered each is compared with all
		if other := seen[dash]; other != "" {
			t.Errorf("without colours %q looks like %q: %s", kind, other, dash)
		}
		seen[dash] = kind
	}
	// The luminance of each colour on paper, as WCAG has it: 3 to 1 is what lines need.
	low := eval[[]string](b, `(() => { const s = getComputedStyle(document.documentElement), lum = c => { const v = [1, 3, 5].map(i => parseInt(c.slice(i, i + 2), 16) / 255)
			.map(x => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4); return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2] };
		const back = lum(s.getPropertyValue("--back").trim());
		return ["--text", "--soft", "--bad", "--go", "--back-line", "--fresh", "--torn", "--coming", "--doubt"].filter(n => (back + 0.05) / (lum(s.getPropertyValue(n).trim()) + 0.05) < 3) })()`)
	if len(low) > 0 {
		t.Errorf("too pale on paper: %v", low)
	}
	if c := eval[string](b, `getComputedStyle(document.body).backgroundColor`); c != "rgb(255, 255, 255)" {
		t.Errorf("the paper is %s", c)
	}
	if n := eval[int](b, `[...document.querySelectorAll(".timeline tr.marked")].filter(r => !r.querySelector(".mark")).length`); n > 0 {
		t.Error(fmt.Sprint(n, " faults are told by colour alone"))
	}
}
