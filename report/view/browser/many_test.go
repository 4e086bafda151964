package browser_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/verbatim-rdma/verbatim/report/view"
)

// With many hosts the lanes stay wide enough for chips: the timeline scrolls, and the page does not.
func TestManyHosts(t *testing.T) {
	f := stampsCross(t)
	withMoreHosts(f.doc, 8)
	b := newTab(t, 800, 1000)
	b.open(f.doc)
	for _, width := range []int64{800, 1600} {
		b.run(chromedp.EmulateViewport(width, 1000))
		b.redrawn()
		for _, left := range []int{0, 150} {
			b.do(fmt.Sprintf(`document.querySelector(".lanes").scrollLeft = %d; dispatchEvent(new Event("resize"))`, left))
			b.press("+")
			b.press("-")
			b.checkArrows(fmt.Sprintf("%d pixels, scrolled by %d", width, left))
		}
		if n := eval[int](b, `[...document.querySelectorAll(".timeline .chip")].filter(c => c.scrollWidth > c.clientWidth + 1 || c.getBoundingClientRect().width < 30 && c.textContent.length > 4).length`); n > 0 {
			t.Errorf("%d pixels: %d chips are cut off or too narrow", width, n)
		}
		if w := eval[int64](b, `document.documentElement.scrollWidth`); w > width {
			t.Errorf("the page is %d pixels wide in a window of %d", w, width)
		}
	}
	off := eval[int](b, `(() => { const heads = [...document.querySelectorAll(".timeline thead th")].map(h => h.getBoundingClientRect().left + 9);
		return [...document.querySelectorAll(".lanes > .arrows circle.post")].filter(p => { const q = p.getBoundingClientRect(); return !heads.some(x => Math.abs(x - (q.left + q.right) / 2) < 2) }).length })()`)
	if off > 0 {
		t.Errorf("%d posts are drawn outside the lanes", off)
	}
}

// A page opens folded. The address of an unfolded row opens the folded row that contains its event.
func TestAddressOfAnUnfoldedRow(t *testing.T) {
	b := newTab(t, 1500, 1000)
	b.open(stampsCross(t).doc)
	b.press("f")
	const second = "posts Write #2 of 16 bytes"
	b.do(fmt.Sprintf(`[...document.querySelectorAll(".timeline tbody tr")].find(r => r.textContent.includes(%q)).click()`, second))
	address := eval[string](b, "location.href")
	b.run(chromedp.Navigate("about:blank"), chromedp.Navigate(address))
	if got := eval[string](b, `document.querySelector(".timeline tr.selected").textContent`); !strings.Contains(got, second) {
		t.Errorf("the address of the row in which app %s opens %q", second, got)
	}
	if eval[string](b, `document.getElementById("fold").ariaPressed`) != "false" {
		t.Error("the page opens unfolded")
	}
}

// The buttons on the page of an empty run cause no error.
func TestNothingHappened(t *testing.T) {
	d := stampsCross(t).doc
	d.Violation, d.Rows, d.Events, d.Requests, d.Pieces, d.Regions = nil, []view.Row{}, []view.Event{}, []view.Request{}, []view.Piece{}, []view.Region{}
	d.Changes, d.Looks, d.Operations, d.Story, d.Decisions = []view.Change{}, []view.Span{}, []view.Operation{}, []view.Sentence{}, []view.Decision{}
	b := newTab(t, 1500, 1000)
	b.open(d)
	b.do(`document.querySelectorAll(".tools button").forEach(x => x.click())`)
}
