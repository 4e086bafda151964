package drawing

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/verbatim-rdma/verbatim/report/view"
)

// story makes documents for tests: a host posts, and something becomes of each request.
type story struct{ d *view.Document }

func newStory(hosts ...string) *story {
	d := &view.Document{Scenario: "a/b", Profile: "strong", Hosts: hosts}
	for h := range hosts {
		d.Regions = append(d.Regions, view.Region{Host: h, Size: 64, Gone: -1})
	}
	return &story{d}
}

func (s *story) event(step, host int, kind, cell string, request int) int {
	marked := kind == "crash" || kind == "violation"
	s.d.Events = append(s.d.Events, view.Event{Step: step, Host: host, Kind: kind, Cell: cell, Text: cell, Request: request, Marked: marked, Life: 1})
	return len(s.d.Events) - 1
}

// post posts a request of 8 bytes.
func (s *story) post(step, host, peer, offset int, op string) int {
	q := len(s.d.Requests)
	e := s.event(step, host, "post", "posts", q)
	s.d.Requests = append(s.d.Requests, view.Request{Number: q, Op: op, Host: host, Peer: peer, Region: peer, Offset: offset, Length: 8, Posted: e, Done: -1, Status: "SUCCESS"})
	return q
}

// fate decides what becomes of the bytes of a request, at an event.
func (s *story) fate(event, request int, fate string) {
	r := &s.d.Requests[request]
	s.d.Pieces = append(s.d.Pieces, view.Piece{Span: view.Span{Event: event, Region: r.Region, Offset: r.Offset, Length: 8}, Request: request, Fate: fate})
	if fate == "landed" {
		s.d.Changes = append(s.d.Changes, view.Change{Event: event, Region: r.Region, Offset: r.Offset, Data: strings.Repeat("61", 8), Request: request})
	}
}

// Two requests for one peer are one arrow if they have one fate, and two if they have not.
func TestArrowsStandForFates(t *testing.T) {
	for _, x := range []struct {
		name  string
		fates [2]string
		want  []fate
	}{
		{"both arrive", [2]string{"landed", "landed"}, []fate{whole}},
		{"one arrives", [2]string{"landed", "dropped"}, []fate{whole, lost}},
		{"neither arrives", [2]string{"dropped", "dropped"}, []fate{lost}},
		{"their memory goes", [2]string{"gone", "gone"}, []fate{gone}},
		{"nothing is known of them", [2]string{"", ""}, []fate{flying}},
	} {
		s := newStory("a", "b")
		q := [2]int{s.post(1, 0, 1, 0, "Write"), s.post(1, 0, 1, 8, "Write")}
		e := s.event(2, 1, "land", "lands", q[0])
		for i, f := range x.fates {
			if f != "" {
				s.fate(e, q[i], f)
			}
		}
		var got []fate
		for _, a := range newPlan(s.d, 0).arrows {
			got = append(got, a.fate)
		}
		if diff := cmp.Diff(x.want, got); diff != "" {
			t.Errorf("%s:\n%s", x.name, diff)
		}
	}
}

// A request of which one piece arrives and another does not has a hollow arrow.
func TestATornWriteIsHollow(t *testing.T) {
	s := newStory("a", "b")
	q := s.post(1, 0, 1, 0, "Write")
	e := s.event(2, 1, "land", "lands", q)
	s.fate(e, q, "landed")
	s.fate(e, q, "dropped")
	if p := newPlan(s.d, 0); len(p.arrows) != 1 || p.arrows[0].fate != part {
		t.Errorf("arrows: %+v", p.arrows)
	}
}

// The last requests of two lists arrive in the other order, so their arrows cross.
func TestArrowsCrossWhereTheLaterOneArrivesFirst(t *testing.T) {
	s := newStory("a", "b")
	one, two := s.post(1, 0, 1, 0, "Write"), s.post(3, 0, 1, 0, "Write")
	s.fate(s.event(5, 1, "land", "lands", two), two, "landed")
	s.fate(s.event(5, 1, "land", "lands", one), one, "landed")
	a := newPlan(s.d, 0).arrows
	if len(a) != 2 || a[0].y1 >= a[1].y1 || a[0].y2 <= a[1].y2 {
		t.Errorf("arrows: %+v", a)
	}
}

// A Read's bytes go to the reader, and so does its arrow.
func TestReadsPointAtTheReader(t *testing.T) {
	s := newStory("a", "b")
	q := s.post(1, 0, 1, 0, "Read")
	s.fate(s.event(2, 0, "completion", "sees", q), q, "sampled")
	if a := newPlan(s.d, 0).arrows; len(a) != 1 || a[0].from != 1 || a[0].to != 0 || a[0].fate != whole {
		t.Errorf("arrows: %+v", a)
	}
}

// A drawing that ends early shows memory as it is by then, and says what it leaves out.
func TestUntil(t *testing.T) {
	s := newStory("a", "b")
	q := s.post(1, 0, 1, 8, "Write")
	s.event(2, 0, "crash", "✗ crashes", -1)
	s.fate(s.event(5, 1, "land", "lands", q), q, "landed")
	s.event(9, 0, "violation", "wrong", -1)
	s.d.Violation = &view.Violation{Class: "wrong", Message: "it is", Step: 9}
	early, late := newPlan(s.d, 3), newPlan(s.d, 0)
	if c := early.strips[0].cells; len(c) != 1 || c[0].glyph != "" || c[0].offset != 8 || early.arrows[0].fate != flying {
		t.Errorf("after step 3: %+v, %+v", c, early.arrows)
	}
	if c := late.strips[0].cells; c[0].glyph != "a" || c[0].list != 0 || late.arrows[0].fate != whole {
		t.Errorf("at the end: %+v, %+v", c, late.arrows)
	}
	has := func(p *plan, s string) bool {
		return slices.ContainsFunc(p.texts, func(x text) bool { return strings.Contains(x.s, s) })
	}
	if !has(early, "Steps 4 to 8 are not drawn.") || has(late, "not drawn") || !has(early, "wrong: it is") {
		t.Errorf("texts: %+v", early.texts)
	}
}

// No arrow, mark or lane crosses a word, whatever happens in a run; nothing is outside.
func TestNoArrowCrossesAWord(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 300 {
		p := newPlan(randomStory(r), r.IntN(3)*r.IntN(40))
		for _, x := range p.texts {
			left, right := x.x, x.x+letter*utf8.RuneCountInString(x.s)
			if half := (right - left + 1) / 2; x.middle {
				left, right = left-half, left+half
			} else if strings.HasSuffix(x.class, "end") {
				left, right = left-(right-left), left
			}
			if strings.Contains(x.class, "glyph") || strings.Contains(x.class, "inked") || x.class == "tiny" {
				left, right = x.x-cellW/2, x.x+cellW/2
			}
			if left < 0 || right > width || x.y > p.height {
				t.Fatalf("story %d: %q from %d to %d at %d is outside", i, x.s, left, right, x.y)
			}
			for _, a := range p.arrows {
				if max(a.x1, a.x2)+6 > left && min(a.x1, a.x2)-6 < right && max(a.y1, a.y2)+6 > x.y-11 && min(a.y1, a.y2)-6 < x.y+3 {
					t.Fatalf("story %d: an arrow from %d,%d to %d,%d is over %q at %d,%d", i, a.x1, a.y1, a.x2, a.y2, x.s, x.x, x.y)
				}
			}
			if right > p.lane[0]-5 && x.y-11 < p.bottom && x.y > p.top {
				t.Fatalf("story %d: %q at %d,%d is over the lanes", i, x.s, x.x, x.y)
			}
		}
	}
}

// randomStory is a run in which anything may become of requests between one to seven hosts.
func randomStory(r *rand.Rand) *view.Document {
	var hosts []string
	for i := range 1 + r.IntN(7) {
		hosts = append(hosts, fmt.Sprintf("host%d%s", i, strings.Repeat("x", r.IntN(20))))
	}
	s := newStory(hosts...)
	for step := range 30 {
		h, peer := r.IntN(len(hosts)), r.IntN(len(hosts))
		switch r.IntN(5) {
		case 0:
			s.event(step, h, "crash", "✗ crashes", -1)
			s.event(step, h, "start", "starts again", -1)
		case 1:
			s.post(step, h, peer, 8*r.IntN(8), "Read")
		case 2, 3:
			for range 1 + r.IntN(3) {
				s.post(step, h, peer, 8*r.IntN(8), "Write")
			}
		default:
			if n := len(s.d.Requests); n > 0 {
				q := r.IntN(n)
				s.fate(s.event(step, s.d.Requests[q].Peer, "land", "lands", q), q, []string{"landed", "dropped", "gone", "sampled"}[r.IntN(4)])
			}
		}
	}
	s.d.Operations = []view.Operation{{Client: "c", Call: "write", Result: strings.Repeat("long ", 20), Begin: 1, End: 3}}
	s.d.Violation = &view.Violation{Class: "wrong", Message: strings.Repeat("words ", 40), Step: 30}
	return s.d
}

// No name gets into a drawing as markup, and it is XML whatever names there are.
func TestHostileNames(t *testing.T) {
	const hostile = `</text><script>bad()</script>&amp;]]>` + "\u0001\xff\ufffe"
	s := newStory("a"+hostile, "b"+hostile)
	q := s.post(1, 0, 1, 0, hostile)
	s.fate(s.event(2, 1, "land", hostile, q), q, "landed")
	s.event(3, 0, "crash", hostile, -1)
	s.d.Scenario, s.d.Violation = hostile, &view.Violation{Class: hostile, Message: hostile, Step: 3}
	var b strings.Builder
	if err := Write(&b, s.d, 0); err != nil {
		t.Fatal(err)
	}
	dec := xml.NewDecoder(strings.NewReader(b.String()))
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "script" {
			t.Error("a name became markup")
		}
	}
}

// An empty run is a drawing, too.
func TestNothingToDraw(t *testing.T) {
	var b strings.Builder
	if err := Write(&b, &view.Document{Hosts: []string{"a"}}, 0); err != nil || !strings.HasSuffix(b.String(), "</svg>\n") {
		t.Error(b.String(), err)
	}
}

// A line breaks at spaces, not between a name and its number, and a word that is too long breaks anywhere.
func TestWrap(t *testing.T) {
	for _, x := range []struct {
		s    string
		want []string
	}{
		{"one two three", []string{"one two", "three"}},
		{"see Write\u00a0#1 now", []string{"see", "Write\u00a0#1", "now"}},
		{"abcdefghijkl", []string{"abcdefgh", "ijkl"}},
	} {
		if diff := cmp.Diff(x.want, wrap(x.s, 8)); diff != "" {
			t.Errorf("%q:\n%s", x.s, diff)
		}
	}
}
