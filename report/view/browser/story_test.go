package browser_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/verbatim-rdma/verbatim/report/view"
)

const storyOfPage = `[...document.querySelectorAll(".story li")].map(li => ({
	step: Number(li.querySelector("button").textContent.replace("step ", "")), text: li.lastChild.textContent.trim(),
	key: li.querySelector(".star") !== null}))`

// The page shows the story that replay --story prints, and a click on a step selects its row.
func TestTellsTheRun(t *testing.T) {
	for name, f := range runs(t) { //lint:ordered a test for each
		t.Run(name, func(t *testing.T) {
			b := newTab(t, 1500, 1000)
			b.open(f.doc)
			got := eval[[]view.Sentence](b, storyOfPage)
			if diff := cmp.Diff(f.doc.Story, got); diff != "" || len(got) == 0 {
				t.Fatalf("%d sentences: %s", len(got), diff)
			}
			b.press("f") // each step has a row of its own
			titles := eval[[]string](b, `[...document.querySelectorAll(".story button")].map(x => { x.click(); return document.querySelector("#details-title").textContent })`)
			for i, title := range titles {
				if want := fmt.Sprint("Step ", got[i].Step); title != want {
					t.Errorf("sentence %d, %q, selects %s, and is of %s", i, got[i].Text, title, want)
				}
			}
		})
	}
}
