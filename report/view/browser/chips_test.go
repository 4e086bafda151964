package browser_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/verbatim-rdma/verbatim/explore/timeline"
)

// shortOps maps operations to their chips.
var shortOps = map[string]string{"Write": "W", "WriteImm": "WI", "Read": "R", "Send": "S", "CompareSwap": "CAS", "FetchAdd": "FAA"}

// wantChip returns the chip that the page should show for an event. It knows some kinds of events, and returns an empty
// text for others.
func wantChip(f *found, i int) string {
	e := &f.doc.Events[i]
	if e.Request < 0 {
		return map[string]string{"crash": "crash", "power": "power", "cut": "cut", "load": "load", "violation": "✗"}[e.Kind]
	}
	r := &f.doc.Requests[e.Request]
	switch {
	case e.Kind == "post":
		return fmt.Sprintf("%s#%d %d B", shortOps[r.Op], r.Number, r.Length)
	case e.Kind == "completion" && r.Status == "SUCCESS":
		return fmt.Sprint("✓#", r.Number)
	case e.Kind == "completion":
		return fmt.Sprint("✗#", r.Number)
	case e.Kind == "land":
		return fmt.Sprint("+#", r.Number)
	}
	return ""
}

// With every event in a row of its own, a row has one chip: in the lane of the host, with the word for the event.
func TestLanesShowTheEvents(t *testing.T) {
	all := maps.Clone(runs(t))
	all["stamps"] = stampsCross(t)
	for name, f := range all { //lint:ordered a test for each
		t.Run(name, func(t *testing.T) {
			b := newTab(t, 1500, 1000)
			b.open(f.doc)
			b.press("f")
			got := eval[[][]string](b, `[...document.querySelectorAll(".timeline tbody tr")].map(r => [...r.querySelectorAll("td.up, td.down")].map(td => td.textContent))`)
			rows, _ := timeline.Rows(f.re.Timeline(), true)
			n := 0
			for i, r := range rows {
				event := r.Events[0]
				want := wantChip(f, event)
				if want == "" {
					continue
				}
				n++
				for h, text := range got[i] {
					if h == f.doc.Events[event].Host && text != want || h != f.doc.Events[event].Host && text != "" {
						t.Errorf("row %d, lane of %s: %q; the event is %+v", i, f.doc.Hosts[h], text, f.doc.Events[event])
					}
				}
			}
			if n < 2 {
				t.Errorf("only %d events have chips that this test knows", n)
			}
		})
	}
}

// drawnRequest lists the marks that the page draws for a request: its post, the tips of its arrows, and the square of its
// completion. A mark is a lane and a row.
type drawnRequest struct{ Post, Tips, Ends [][2]int }

// drawnRequests reads the marks of all requests from the page.
const drawnRequests = `(() => {
	const box = document.querySelector(".lanes").getBoundingClientRect(), near = (a, b) => Math.abs(a - b) < 2;
	const x = [...document.querySelectorAll(".timeline thead th")].slice(1, -2).map(t => t.getBoundingClientRect().left - box.left + 9);
	const y = [...document.querySelectorAll(".timeline tbody tr")].map(r => r.offsetTop + 13);
	const at = (px, py) => [x.findIndex(v => near(v, px)), y.findIndex(v => near(v, py))];
	return [...document.querySelectorAll(".lanes > .arrows .request")].map(g => ({
		Post: [...g.querySelectorAll("circle.post")].map(c => at(c.cx.baseVal.value, c.cy.baseVal.value)),
		Tips: [...g.querySelectorAll(".tip")].map(p => { const m = p.transform.baseVal.consolidate().matrix; return at(m.e, m.f) }),
		Ends: [...g.querySelectorAll("rect.done")].map(r => at(r.x.baseVal.value + 3, r.y.baseVal.value + 3)),
	}));
})()`

// With every event in a row of its own, each mark of an arrow is in the lane and the row of its event: the circle of the
// post, a tip for each landing, and the square of the completion.
func TestArrowsGoWhereRequestsWent(t *testing.T) {
	f := stampsCross(t)
	b := newTab(t, 1500, 1000)
	b.open(f.doc)
	b.press("f")
	b.redrawn()
	rows, _ := timeline.Rows(f.re.Timeline(), true)
	row := func(event int) int {
		last := math.MinInt
		for i, r := range rows {
			if slices.Contains(r.Events, event) {
				return i
			}
			if r.Events[0] <= event {
				last = i
			}
		}
		return last
	}
	var want []drawnRequest
	for i := range f.doc.Requests {
		r := &f.doc.Requests[i]
		x := drawnRequest{Post: [][2]int{{r.Host, row(r.Posted)}}, Tips: [][2]int{}, Ends: [][2]int{}}
		for _, p := range f.doc.Pieces {
			at := [2]int{r.Peer, row(p.Event)}
			if p.Request == i && (p.Fate == "landed" || p.Fate == "sampled") && !slices.Contains(x.Tips, at) {
				x.Tips = append(x.Tips, at)
			}
		}
		if r.Done >= 0 && r.Status == "SUCCESS" {
			x.Ends = append(x.Ends, [2]int{r.Host, row(r.Done)})
		}
		want = append(want, x)
	}
	if diff := cmp.Diff(want, eval[[]drawnRequest](b, drawnRequests)); diff != "" || len(want) < 5 {
		t.Errorf("%d requests: %s", len(want), diff)
	}
}
