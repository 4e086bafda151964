package story_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/verbatim-rdma/verbatim/report/view"
	"github.com/verbatim-rdma/verbatim/report/view/story"
)

// marked returns the sentences of a document, with a star before each key sentence.
func marked(d *view.Document) (out []string) {
	for _, s := range story.Tell(d) {
		mark := ""
		if s.Key {
			mark = "*"
		}
		out = append(out, mark+s.Text)
	}
	return out
}

// put is an operation of client a that succeeds in step 2.
var put = view.Operation{Client: "a, life 0", Call: "put", Result: "ok", Begin: 0, End: 2}

// power returns a run in which b loses power at event 4, and looks at its persistent memory at event 5.
func power(changes ...view.Change) view.Document {
	return view.Document{Events: events(7, map[int]view.Event{4: {Host: 1, Kind: "power", Text: "loses power", Marked: true, Request: -1}}),
		Looks: []view.Span{{Event: 5, Length: 16}}, Changes: changes,
		Doubts: []view.Doubt{{Span: at(1, 0), Open: true}, {Span: at(1, 8), Open: true}, {Span: at(5, 0)}, {Span: at(5, 8)}}}
}

func TestKeySentences(t *testing.T) {
	quiet, done, late := write(0, 0), write(0, 0), write(1, 8)
	quiet.Signaled, late.Signaled = false, true
	done.Done, done.Status = 1, "SUCCESS"
	swap := func(peer int) view.Request { return view.Request{Op: "CompareSwap", Peer: peer, Length: 8, Done: -1} }
	for name, x := range map[string]struct {
		d    view.Document
		want []string
	}{
		"a result while a Write is open": {view.Document{Events: events(3, nil), Requests: []view.Request{done, late}, Operations: []view.Operation{put}},
			[]string{"*a asked for “put” and gets “ok”. Completed by then: Write #0 to b. Not completed: Write #1 to b."}},
		"a result when all is done": {view.Document{Events: events(3, nil), Requests: []view.Request{done}, Operations: []view.Operation{put}},
			[]string{"*a asked for “put” and gets “ok”. Completed by then: Write #0 to b."}},
		"a result when a Write without a completion is in memory": {view.Document{Events: events(3, nil), Requests: []view.Request{quiet}, Operations: []view.Operation{put},
			Pieces: []view.Piece{{Span: at(1, 0), Fate: "landed"}}},
			[]string{"*a asked for “put” and gets “ok”. In memory by then: Write #0 to b."}},
		"a result when a part of such a Write is in memory": {view.Document{Events: events(5, nil), Requests: []view.Request{{Op: "Write", Peer: 1, Length: 16, Done: -1}}, Operations: []view.Operation{put},
			Pieces: []view.Piece{{Span: at(1, 0), Fate: "landed"}, {Span: at(3, 8), Fate: "landed"}}},
			[]string{"*a asked for “put” and gets “ok”. Not completed: Write #0 to b."}},
		"a result that a power failure can take": {view.Document{Events: events(3, nil), Operations: []view.Operation{put},
			Doubts: []view.Doubt{{Span: at(1, 0), Open: true}, {Span: at(1, 8), Open: true}}},
			[]string{"*a asked for “put” and gets “ok”. Not certain to persist by then: bytes 0 to 15 of log of b."}},
		"a result, and doubts that are resolved before it or begin after it": {view.Document{Events: events(7, nil), Operations: []view.Operation{{Client: "a", Call: "put", Result: "ok", Begin: 2, End: 5}},
			Doubts: []view.Doubt{{Span: at(3, 8), Open: true}, {Span: at(4, 8)}, {Span: at(6, 0), Open: true}}},
			[]string{"*a asked for “put” and gets “ok”."}},
		"no result": {view.Document{Events: events(3, nil), Operations: []view.Operation{{Client: "a", Call: "put", End: -1}}},
			[]string{"a asks for “put”, and gets no result in this run."}},
		"a message that begins with a host": {view.Document{Events: events(4, nil), Violation: &view.Violation{Message: "b and a lead"}}, []string{"*b and a lead."}},
		"a power failure takes bytes": {power(view.Change{Event: 1, Data: "0100000000000000", Request: 0}, view.Change{Event: 1, Offset: 8, Data: "0200000000000000", Request: 0},
			view.Change{Event: 5, Data: "0000000000000000", Request: -1}, view.Change{Event: 5, Offset: 8, Data: "0200000000000000", Request: -1}),
			[]string{"*b loses power. Not certain to persist: bytes 0 to 15 of log.",
				"*b finds that the power failure took what was at bytes 0 to 7 of log: 0x0 is there, not 0x1."}},
		"a store after a power failure that is persisted in the step of a look": {func() view.Document {
			d := power(view.Change{Event: 1, Data: "0100000000000000", Request: 0}, view.Change{Event: 6, Data: "0300000000000000", Request: -1})
			d.Looks = append(d.Looks, view.Span{Event: 6, Length: 8})
			d.Doubts = append(d.Doubts, view.Doubt{Span: at(6, 0), Open: true}, view.Doubt{Span: at(6, 0)})
			return d
		}(),
			[]string{"*b loses power. Not certain to persist: bytes 0 to 15 of log."}},
		"bytes that were persistent change in the step of a look": {func() view.Document {
			d := power(view.Change{Event: 1, Data: "0100000000000000", Request: 0}, view.Change{Event: 5, Data: "0300000000000000", Request: -1})
			d.Doubts = d.Doubts[1:2]
			return d
		}(),
			[]string{"*b loses power. Not certain to persist: bytes 8 to 15 of log."}},
		"a store that lands after a power failure, and is persisted at once": {func() view.Document {
			d := power(view.Change{Event: 1, Data: "0100000000000000", Request: 0}, view.Change{Event: 5, Data: "0300000000000000", Request: -1})
			d.Looks = nil
			return d
		}(),
			[]string{"*b loses power. Not certain to persist: bytes 0 to 15 of log."}},
		"doubts from before a power failure are not part of a later result": {func() view.Document {
			d := power()
			d.Doubts = d.Doubts[:2]
			d.Operations = []view.Operation{{Client: "b", Call: "open", Result: "ok", Begin: 5, End: 6}}
			return d
		}(),
			[]string{"*b loses power. Not certain to persist: bytes 0 to 15 of log.", "*b asked for “open” and gets “ok”."}},
		"a host stores after a power failure": {power(view.Change{Event: 1, Data: "0100000000000000", Request: 0}, view.Change{Event: 6, Data: "0300000000000000", Request: -1}),
			[]string{"*b loses power. Not certain to persist: bytes 0 to 15 of log."}},
		"an acknowledged Write that is lost with its memory": {view.Document{Events: events(5, map[int]view.Event{4: {Host: 1, Kind: "crash", Text: "crashes", Marked: true, Request: -1}}),
			Requests: []view.Request{done, {Op: "Read", Peer: 1, Length: 8, Posted: 3, Done: -1}}, Operations: []view.Operation{put}, Regions: []view.Region{{Host: 1, Gone: 4}},
			Pieces: []view.Piece{{Span: at(1, 0), Fate: "landed"}, {Span: at(4, 0), Request: 1, Fate: "gone"}}},
			[]string{"*a asked for “put” and gets “ok”. Completed by then: Write #0 to b.", "*b crashes. Its memory is lost, and in it Write #0 of a to b."}},
		"Atomics with different effects": {view.Document{Requests: []view.Request{swap(1), swap(2)},
			Events: events(3, map[int]view.Event{1: {Host: 1, Kind: "land", Text: "a→b #0 swaps 0x0→0x1 at 0..7"}, 2: {Host: 2, Kind: "land", Text: "a→c #0 finds 0x2, not 0x0, at 0..7", Request: 1}}),
			Pieces: []view.Piece{{Span: at(1, 0), Fate: "landed"}, {Span: at(2, 0), Request: 1, Fate: "landed"}}},
			[]string{"*CompareSwap #0 of a swaps 0x0→0x1 at 0..7 in the memory of b.", "*CompareSwap #0 of a finds 0x2, not 0x0, at 0..7 in the memory of c."}},
		"two Writes lost in one step": {view.Document{Events: slices.Repeat([]view.Event{{Peer: -1, Request: -1}}, 3), Requests: []view.Request{write(0, 0), {Op: "Write", Peer: 2, Length: 8, Done: -1}},
			Pieces: []view.Piece{{Span: at(1, 0), Fate: "dropped"}, {Span: at(2, 0), Request: 1, Fate: "dropped"}}},
			[]string{"*By now it is certain that nothing of Write #0 of a to b and c arrives any more."}},
		"calls of a service, in a run without requests": {view.Document{Sources: []view.Source{{Name: "x.go:1"}, {Name: "x.go:2"}},
			Events: events(3, map[int]view.Event{0: {Kind: "service", Text: "calls coord", Source: 0, Peer: -1, Request: -1}, 1: {Kind: "service", Text: "calls coord", Source: 1, Peer: -1, Request: -1},
				2: {Host: 1, Kind: "service", Text: "calls coord", Source: 1, Peer: -1, Request: -1}})},
			[]string{"a calls coord, at x.go:1 and x.go:2.", "b calls coord, at x.go:2."}},
		"repeated characters and escapes": {view.Document{Events: events(3, nil), Operations: []view.Operation{{Client: "a", Call: "put aaaaaaaaa", Result: `"\x00\x00\x00\x00\x00\x00\x00\x00\x00"ßßß`, End: 2}}},
			[]string{`*a asked for “put a×9” and gets “"\x00×9"ßßß”.`}},
	} {
		t.Run(name, func(t *testing.T) {
			x.d.Hosts = []string{"a", "b", "c"}
			if x.d.Regions == nil {
				x.d.Regions = []view.Region{{Host: 1, Name: "log", Gone: -1}}
			}
			if d := cmp.Diff(x.want, marked(&x.d)); d != "" {
				t.Error(d)
			}
		})
	}
}

// A story on a terminal has its steps in a column, stars before the key sentences, and lines that fit.
func TestText(t *testing.T) {
	long := strings.Repeat("word ", 30)
	got := story.Text([]view.Sentence{{Step: 7, Text: "a calls b."}, {Step: 12, Text: "It is:\n  " + long, Key: true}})
	want := "     7  a calls b.\n*   12  It is:\n          " + strings.TrimRight(strings.Repeat("word ", 19), " ") + "\n          " +
		strings.TrimRight(strings.Repeat("word ", 11), " ") + "\n"
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
