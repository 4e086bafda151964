package drawing

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/verbatim-rdma/verbatim/report/view"
)

// sees is a completion of a request with a status, at the host that posted it.
func (s *story) sees(step, q int, status string) {
	s.d.Requests[q].Status = status
	s.event(step, s.d.Requests[q].Host, "completion", "sees a completion", q)
}

// said are the words of the moments of a drawing, without their non-breaking spaces.
func said(d *view.Document, until int) []string {
	p, out := newPlan(d, until), []string(nil)
	for i := range p.moments {
		out = append(out, strings.ReplaceAll(strings.Join(p.moments[i].words(d), "; "), "\u00a0", " "))
	}
	return out
}

// The words of a moment name every request and its peers once, and a completion that is no success by its status.
func TestWordsOfMoments(t *testing.T) {
	s := newStory("a", "b", "c")
	s.event(0, 0, "start", "starts", -1)
	s.d.Events[0].Life = 0
	b, c := s.post(1, 0, 1, 0, "Write"), s.post(1, 0, 2, 0, "Write")
	s.d.Requests[c].Number = s.d.Requests[b].Number // each queue pair counts its own
	more := s.post(1, 0, 2, 8, "Read")
	s.sees(2, b, "SUCCESS")
	s.sees(3, c, "RETRY_EXC_ERR")
	s.event(3, 1, "land", "lands", b)
	s.event(3, 2, "land", "lands", c)
	s.event(3, 2, "land", "lands", c)
	s.event(3, 2, "land", "lands", more)
	s.event(4, 0, "crash", "✗ crashes", -1)
	s.event(5, 0, "start", "starts again", -1)
	s.d.Operations = []view.Operation{{Call: "write", Result: "ok", End: 4}, {Call: "read", End: 4}}
	want := []string{
		"a posts Write #0 (8 B) to b; Write #0 (8 B), Read #2 (8 B) to c",
		"a sees Write #0 complete at b; Write #0 with RETRY_EXC_ERR complete at c",
		"in the memory of b, in this order: Write #0",
		"in the memory of c, in this order: Write #0, Read #2",
		"a crashes; write: ok",
		"a starts again",
	}
	if diff := cmp.Diff(want, said(s.d, 0)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want[:2], said(s.d, 2)[:2]); !strings.Contains(diff, "RETRY") {
		t.Errorf("a drawing up to step 2 has a completion of step 3:\n%s", diff)
	}
}

// Peers with the same requests are named together, and completions of several steps are one moment with both steps.
func TestWhatIsAlikeIsSaidOnce(t *testing.T) {
	s := newStory("a", "b", "c")
	b, c := s.post(1, 0, 1, 0, "Write"), s.post(1, 0, 2, 0, "Write")
	s.d.Requests[c].Number = s.d.Requests[b].Number
	s.sees(2, b, "SUCCESS")
	s.sees(3, c, "SUCCESS")
	want := []string{"a posts Write #0 (8 B) to b, c", "a sees Write #0 complete at b, c"}
	if diff := cmp.Diff(want, said(s.d, 0)); diff != "" {
		t.Error(diff)
	}
	if !slices.ContainsFunc(newPlan(s.d, 0).texts, func(x text) bool { return x.s == "2–3" }) {
		t.Error("the steps 2–3 are not in the margin")
	}
}

// An arrow is of one peer and one direction, and a Read has the colour of no list and no chip.
func TestArrowsAreOfOnePeerAndDirection(t *testing.T) {
	s := newStory("a", "b", "c")
	q := []int{s.post(1, 0, 1, 0, "Write"), s.post(1, 0, 2, 0, "Write"), s.post(1, 0, 1, 8, "Read")}
	e := s.event(2, 1, "land", "lands", q[0])
	for _, q := range q {
		s.fate(e, q, "sampled")
	}
	p := newPlan(s.d, 0)
	var got [][3]int
	for _, a := range p.arrows {
		got = append(got, [3]int{a.from, a.to, a.list})
	}
	if diff := cmp.Diff([][3]int{{0, 1, 0}, {0, 2, 0}, {1, 0, -1}}, got); diff != "" {
		t.Error(diff)
	}
	s = newStory("a", "b")
	s.post(1, 0, 1, 0, "Read")
	if chips := newPlan(s.d, 0).chips; len(p.chips) != 1 || len(chips) != 0 {
		t.Errorf("chips: %v of Writes, %v of Reads", p.chips, chips)
	}
}

// That a piece never arrives is a fact from its post on, also where the search decides it behind the drawing's end.
func TestALostWriteIsLostWhereverTheDrawingEnds(t *testing.T) {
	s := newStory("a", "b")
	q := s.post(1, 0, 1, 0, "Write")
	s.event(2, 0, "crash", "✗ crashes", -1)
	s.fate(s.event(5, 1, "load", "loads", -1), q, "dropped")
	for _, until := range []int{0, 2} {
		a := newPlan(s.d, until).arrows[0]
		if a.fate != lost || a.x2 == newPlan(s.d, until).lane[1] {
			t.Errorf("up to step %d: %+v", until, a)
		}
	}
}

// A fault is a cross on the lane of its host, and an arrow that ends in its moment ends below it.
func TestFaultsAreMarkedAtTheirHost(t *testing.T) {
	s := newStory("a", "b")
	q := s.post(1, 0, 1, 0, "Write")
	s.fate(s.event(2, 1, "crash", "✗ crashes", -1), q, "landed")
	p := newPlan(s.d, 0)
	if len(p.marks) != 1 || p.marks[0].x != p.lane[1] || p.arrows[0].y2 <= p.marks[0].y {
		t.Errorf("marks %+v, arrows %+v", p.marks, p.arrows)
	}
}

// A lane is dotted while its host is down, from a crash or a loss of power to its next life.
func TestLanesAreDottedWhileDown(t *testing.T) {
	for _, kind := range []string{"crash", "power"} {
		s := newStory("a")
		s.event(1, 0, kind, "✗ "+kind, -1)
		s.d.Events[0].Marked = true
		s.event(2, 0, "suspect", "✗ suspects", -1)
		s.d.Events[1].Marked = true
		s.event(3, 0, "start", "starts again", -1)
		if got := strings.Count(newPlan(s.d, 0).svg(), `class="lane`); got != 3 {
			t.Errorf("%s: a lane of %d parts, want up, down and up", kind, got)
		}
	}
}

// What became of an arrow's bytes shows in its line and end, and the words below say so.
func TestFatesLookDifferent(t *testing.T) {
	for fates, want := range map[string][]string{
		"landed":         {`<path class="f0"`},
		"landed,dropped": {`<path class="hollow k0"`, "Hollow: part of them arrived."},
		"dropped":        {`arrow k0 dots"`, "Dotted: they never arrive."},
		"gone":           {`arrow k0 dash"`, "<circle ", "Circle: their memory was gone"},
		"":               {`arrow k0 dash"`, `<path class="hollow k0"`, "Dashed: they are under way."},
	} {
		s := newStory("a", "b")
		q := s.post(1, 0, 1, 0, "Write")
		e := s.event(2, 1, "land", "lands", q)
		for _, f := range strings.Split(fates, ",") {
			if f != "" {
				s.fate(e, q, f)
			}
		}
		for svg, w := newPlan(s.d, 0).svg(), 0; w < len(want); w++ {
			if !strings.Contains(svg, want[w]) {
				t.Errorf("%s: no %s in\n%s", fates, want[w], svg)
			}
		}
	}
}

// The drawing's title names the violation, for readers who see no picture.
func TestTitleNamesTheViolation(t *testing.T) {
	s := newStory("a")
	s.d.Violation = &view.Violation{Class: "lost", Message: "one is lost"}
	if svg := newPlan(s.d, 0).svg(); !strings.Contains(svg, "<title>a/b, profile strong: one is lost</title>") {
		t.Error(svg)
	}
}

// Steps are said to be left out only where some are.
func TestNoStepIsLeftOut(t *testing.T) {
	for until, want := range map[int]string{3: "", 2: "Step 3 is not drawn.", 1: "Steps 2 to 3 are not drawn."} {
		s := newStory("a")
		s.event(4, 0, "violation", "wrong", -1)
		s.d.Violation = &view.Violation{Class: "lost", Message: "one is lost", Step: 4}
		got := ""
		for _, x := range newPlan(s.d, until).texts {
			if strings.Contains(x.s, "not drawn") {
				got = x.s
			}
		}
		if got != want {
			t.Errorf("up to step %d: %q, want %q", until, got, want)
		}
	}
}
