package drawing

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/verbatim-rdma/verbatim/report/view"
)

// A cell has the words that requests name, once each, in the colour of the latest list that wrote into it: a processor's
// store has none, but it is seen.
func TestCellsHaveTheColourOfWhoWrote(t *testing.T) {
	s := newStory("a", "b")
	s.post(1, 0, 1, 0, "Write")
	s.event(2, 0, "completion", "sees", 0)
	two := s.post(3, 0, 1, 0, "Write")
	s.post(3, 0, 1, 12, "Write") // half of two words
	s.d.Requests[two].Offset = 4
	e := s.event(4, 1, "land", "lands", 0)
	s.fate(e, 0, "landed")
	s.fate(e, two, "landed")
	s.d.Changes = append(s.d.Changes, view.Change{Event: e, Region: 1, Offset: 16, Data: strings.Repeat("07", 8), Request: -1})
	want := []cell{{0, 1, "a"}, {8, 1, "61"}, {16, processor, "07"}}
	got := newPlan(s.d, 0).strips[0].cells
	if diff := cmp.Diff(fmt.Sprint(want), fmt.Sprint(got)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"", "a", "07"}, []string{glyph(make([]byte, 8)), glyph([]byte("aaaaaaaa")), glyph([]byte("\x07\x07"))}); diff != "" {
		t.Error(diff)
	}
}

// Memory is gone in a drawing from the event on that loses it, and its box is dotted.
func TestMemoryIsGoneFromItsEventOn(t *testing.T) {
	s := newStory("a", "b")
	s.post(1, 0, 1, 0, "Write")
	s.d.Regions[1].Gone = s.event(3, 1, "crash", "✗ crashes", -1)
	early, late := newPlan(s.d, 1), newPlan(s.d, 0)
	if early.strips[0].gone || !late.strips[0].gone || !strings.Contains(late.svg(), `class="cell dots"`) {
		t.Errorf("after step 1: %+v; at the end: %+v", early.strips, late.strips)
	}
}

// No box of memory is over another one or outside, and a strip of more cells than are drawn says so.
func TestBoxesHaveTheirPlaces(t *testing.T) {
	for _, lost := range []bool{false, true} {
		s := newStory("a", "b", "c")
		s.d.Regions = append(s.d.Regions, view.Region{Host: 1, Size: 2048, Gone: -1})
		for i := range maxCells + 1 {
			q := s.post(1, 0, 1, 8*i, "Write")
			s.d.Requests[q].Region = 3
		}
		s.post(1, 0, 1, 0, "Write")
		s.post(1, 0, 2, 0, "Write")
		if lost {
			s.d.Regions[1].Gone = 0
		}
		p := newPlan(s.d, 0)
		for i, a := range p.boxes {
			if a.x < 0 || a.x+a.w > width || a.y+a.h > p.height {
				t.Fatalf("%+v is outside", a)
			}
			for _, b := range p.boxes[:i] {
				if a.x < b.x+b.w && b.x < a.x+a.w && a.y < b.y+b.h && b.y < a.y+a.h {
					t.Fatalf("%+v is over %+v", a, b)
				}
			}
		}
		if svg := p.svg(); len(p.boxes) != maxCells+2 || !strings.Contains(svg, fmt.Sprintf("first %d", maxCells)) {
			t.Errorf("%d boxes in\n%s", len(p.boxes), svg)
		}
	}
}
