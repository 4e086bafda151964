package story_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/protocol/ncl/nclcheck"
	"github.com/verbatim-rdma/verbatim/report/view"
	"github.com/verbatim-rdma/verbatim/report/view/story"
)

// The story of a recorded run explains the error: which requests had completed when a write was acknowledged, which host
// failed, which Write was overwritten, and which bytes are missing in the end.
func TestStoryOfARecordedRun(t *testing.T) {
	ce, err := explore.Load("../../../testdata/counterexamples/ncl-stamps-cross.json")
	if err != nil {
		t.Fatal(err)
	}
	s := explore.Named(nclcheck.Scenarios(), ce.Scenario)
	r, err := ce.ReplayFull(s)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(texts(view.New(view.Run{Scenario: s, Counterexample: ce, Replay: r})), "\n")
	for _, want := range []string{"gets “acknowledged”. Completed by then: Writes #2 and #3 to", "app crashes.", "lands only now, and replaces what Write #3 of app brought",
		"Its memory is lost, and in it", "app reads 0x10000000001 in the memory of peer1 and peer2.", "nothing of Write #3 of app to", "is missing from what recovery returned"} {
		if !strings.Contains(text, want) {
			t.Errorf("the story lacks %q:\n%s", want, text)
		}
	}
}

// texts returns the sentences of a document without their steps.
func texts(d *view.Document) (out []string) {
	for _, s := range story.Tell(d) {
		out = append(out, s.Text)
	}
	return out
}

// events returns n events of host a, one in each step. The events in others replace the events at their indices.
func events(n int, others map[int]view.Event) []view.Event {
	out := make([]view.Event, n)
	for i := range out {
		out[i] = view.Event{Step: i, Peer: -1, Request: -1, Kind: "load"}
		if e, ok := others[i]; ok {
			e.Step = i
			out[i] = e
		}
	}
	return out
}

// write returns a Write of a to region 0 of b, posted at event 0.
func write(number, offset int) view.Request {
	return view.Request{Op: "Write", Number: number, Host: 0, Peer: 1, Offset: offset, Length: 8, Done: -1}
}

func at(event, offset int) view.Span { return view.Span{Event: event, Offset: offset, Length: 8} }

func TestSentences(t *testing.T) {
	done := write(0, 0)
	done.Done, done.Status = 1, "SUCCESS"
	failed := write(0, 0)
	failed.Done, failed.Status = 1, "REM_ACCESS_ERR"
	read := view.Request{Op: "Read", Host: 2, Peer: 1, Length: 8, Posted: 2, Done: -1}
	later := write(1, 0)
	later.Posted = 1
	for name, x := range map[string]storyCase{
		"an empty run": {view.Document{}, nil},
		"a result, with completed and open requests": {view.Document{Events: events(3, nil), Requests: []view.Request{done, write(1, 8)},
			Operations: []view.Operation{{Client: "a, life 0", Call: "put", Result: "ok", Begin: 0, End: 2}}},
			[]string{"a asked for “put” and gets “ok”. Completed by then: Write #0 to b. Not completed: Write #1 to b."}},
		"a request for a result has no second sentence": {view.Document{Events: events(3, map[int]view.Event{0: {Kind: "post", Peer: 1, Request: 0}}), Requests: []view.Request{done},
			Operations: []view.Operation{{Client: "a, life 0", Call: "put", Result: "ok", Begin: 0, End: 2}}},
			[]string{"a asked for “put” and gets “ok”. Completed by then: Write #0 to b."}},
		"no result": {view.Document{Events: events(3, nil), Operations: []view.Operation{{Client: "a, life 1", Call: "get", Begin: 1, End: -1}}},
			[]string{"a, life 1 asks for “get”, and gets no result in this run."}},
		"a crash, and the requests lost with the memory": {view.Document{Events: events(3, map[int]view.Event{1: {Host: 1, Kind: "crash", Text: "crashes", Marked: true, Request: -1}}),
			Requests: []view.Request{write(0, 0), write(1, 8), write(2, 16)},
			Pieces:   []view.Piece{{Span: at(1, 0), Request: 0, Fate: "gone"}, {Span: at(1, 8), Request: 1, Fate: "gone"}, {Span: at(1, 16), Request: 2, Fate: "gone"}}},
			[]string{"b crashes. Its memory is lost, and in it Writes #0–#2 of a to b."}},
		"a power failure, and the bytes in doubt": {view.Document{Events: events(5, map[int]view.Event{4: {Host: 1, Kind: "power", Text: "loses power", Marked: true, Request: -1}}),
			Doubts: []view.Doubt{{Span: at(0, 0), Open: true}, {Span: at(1, 8), Open: true}, {Span: at(1, 32), Open: true}, {Span: at(2, 32)}}},
			[]string{"b loses power. Not certain to persist: bytes 0 to 15 of log."}},
		"a fault with a subject of its own": {view.Document{Events: events(2, map[int]view.Event{1: {Kind: "cut", Text: "the link to b is cut", Marked: true, Request: -1}})},
			[]string{"a: the link to b is cut."}},
		"a Write that arrives in part": {view.Document{Events: events(3, nil), Requests: []view.Request{{Op: "Write", Peer: 1, Length: 16, Done: -1}},
			Pieces: []view.Piece{{Span: at(1, 0), Fate: "landed"}, {Span: at(2, 8), Fate: "dropped"}}},
			[]string{"By now it is certain that only a part of Write #0 of a to b is in memory."}},
		"a Write that never arrives": {view.Document{Events: events(3, nil), Requests: []view.Request{write(0, 0)}, Pieces: []view.Piece{{Span: at(2, 0), Fate: "dropped"}}},
			[]string{"By now it is certain that nothing of Write #0 of a to b arrives any more."}},
		"a Write that replaces a later one": {view.Document{Events: events(3, nil), Requests: []view.Request{write(0, 0), later},
			Pieces:  []view.Piece{{Span: at(1, 0), Request: 1, Fate: "landed"}, {Span: at(2, 0), Fate: "landed"}},
			Changes: []view.Change{{Event: 1, Data: "0000000000000000", Request: 1}, {Event: 2, Data: "0000000000000000"}}},
			[]string{"In the memory of b, Write #0 of a lands only now, and replaces what Write #1 of a brought, which was posted later."}},
		"a Write that replaces a store of a CPU over a later Write": {view.Document{Events: events(3, nil), Requests: []view.Request{write(0, 0), later},
			Pieces:  []view.Piece{{Span: at(1, 0), Request: 1, Fate: "landed"}, {Span: at(2, 0), Fate: "landed"}},
			Changes: []view.Change{{Event: 1, Data: "0000000000000000", Request: 1}, {Event: 1, Data: "0000000000000000", Request: -1}, {Event: 2, Data: "0000000000000000"}}},
			nil},
		"a CompareSwap that changes nothing replaces nothing": {view.Document{Events: events(3, nil), Requests: []view.Request{write(0, 0), later},
			Pieces:  []view.Piece{{Span: at(1, 0), Request: 1, Fate: "landed"}, {Span: at(2, 0), Fate: "landed"}},
			Changes: []view.Change{{Event: 1, Data: "0000000000000000", Request: 1}}},
			nil},
		"a copy of a lost Write that comes late": {view.Document{Events: events(4, map[int]view.Event{3: {Host: 1, Kind: "ghost", Text: "a delayed packet lands", Marked: true, Request: -1}}),
			Requests: []view.Request{write(0, 0)}, Pieces: []view.Piece{{Span: at(2, 0), Fate: "dropped"}}},
			[]string{"b: a delayed packet lands."}},
		"a load of the part that has landed": {view.Document{Events: events(5, nil), Requests: []view.Request{{Op: "Write", Peer: 1, Length: 16, Done: -1}}, Looks: []view.Span{at(2, 0)},
			Pieces: []view.Piece{{Span: at(1, 0), Fate: "landed"}, {Span: at(4, 8), Fate: "landed"}}},
			nil},
		"a load of more than the part that has landed": {view.Document{Events: events(5, nil), Requests: []view.Request{{Op: "Write", Peer: 1, Length: 16, Done: -1}},
			Looks: []view.Span{{Event: 2, Length: 16}}, Pieces: []view.Piece{{Span: at(1, 0), Fate: "landed"}, {Span: at(4, 8), Fate: "landed"}}},
			[]string{"b finds only a part of Write #0 of a to b."}},
		"a Write that has failed is not under way": {view.Document{Events: events(5, nil), Requests: []view.Request{failed, read},
			Pieces: []view.Piece{{Span: at(3, 0), Request: 1, Fate: "sampled"}}},
			[]string{"c reads 0x0 in the memory of b."}},
		"a result, and a failed request": {view.Document{Events: events(3, nil), Requests: []view.Request{failed},
			Operations: []view.Operation{{Client: "a, life 0", Call: "put", Result: "error", Begin: 0, End: 2}}},
			[]string{"a asked for “put” and gets “error”. Failed: Write #0 to b."}},
		"two queue pairs to one host": {view.Document{Events: events(3, nil), Requests: []view.Request{done, done},
			Operations: []view.Operation{{Client: "a, life 0", Call: "put", Result: "ok", Begin: 0, End: 2}}},
			[]string{"a asked for “put” and gets “ok”. Completed by then: Write #0 to b."}},
		"the same call much later": {view.Document{Events: events(9, map[int]view.Event{0: {Kind: "call", Peer: 1, Request: -1}, 8: {Kind: "call", Peer: 2, Request: -1}})},
			[]string{"a calls b.", "a calls c."}},
		"several requests under way, and letters of other languages": {view.Document{Events: events(5, nil), Requests: []view.Request{write(0, 0), write(1, 8), read},
			Pieces: []view.Piece{{Span: view.Span{Event: 3, Length: 16}, Request: 2, Fate: "sampled"}}, Violation: &view.Violation{Message: "änderung verloren. "}},
			[]string{"c reads the memory of b.", "c does not find Writes #0 and #1 of a to b, which are still under way.", "Änderung verloren."}},
		"a Read that does not find a completed Write": {view.Document{Events: events(5, nil), Requests: []view.Request{done, read},
			Pieces: []view.Piece{{Span: at(3, 0), Request: 1, Fate: "sampled"}, {Span: at(4, 0), Fate: "landed"}}},
			[]string{"c reads 0x0 in the memory of b.", "c does not find Write #0 of a to b, although it has completed."}},
		"a Read that does not find a Write under way": {view.Document{Events: events(5, nil), Requests: []view.Request{write(0, 0), read},
			Pieces: []view.Piece{{Span: at(3, 0), Request: 1, Fate: "sampled"}}},
			[]string{"c reads 0x0 in the memory of b.", "c does not find Write #0 of a to b, which is still under way."}},
		"a load that does not find a completed Write": {view.Document{Events: events(5, nil), Requests: []view.Request{done}, Looks: []view.Span{at(2, 0)}},
			[]string{"b loads and does not find Write #0 of a to b, although it has completed."}},
		"Reads of words, of the same and of another value": {view.Document{Events: events(6, nil),
			Requests: []view.Request{read, {Op: "Read", Host: 2, Length: 8, Posted: 2, Done: -1}, {Op: "Read", Host: 2, Peer: 1, Offset: 8, Length: 8, Posted: 2, Done: -1}},
			Changes:  []view.Change{{Event: 1, Data: "0102000000000000", Request: -1}, {Event: 5, Data: "0000000000000000", Request: -1}},
			Pieces:   []view.Piece{{Span: at(3, 0), Request: 0, Fate: "sampled"}, {Span: at(3, 0), Request: 1, Fate: "sampled"}, {Span: at(4, 8), Request: 2, Fate: "sampled"}}},
			[]string{"c reads 0x201 in the memory of b and a.", "c reads 0x0 in the memory of b."}},
		"a Read that finds the Write": {view.Document{Events: events(5, nil), Requests: []view.Request{done, read},
			Pieces: []view.Piece{{Span: at(2, 0), Fate: "landed"}, {Span: at(3, 0), Request: 1, Fate: "sampled"}}},
			[]string{"c reads 0x0 in the memory of b."}},
		"a failed request, at its completion": {view.Document{Events: events(2, map[int]view.Event{1: {Kind: "completion", Request: 0, Peer: -1}}), Requests: []view.Request{failed}},
			[]string{"a learns that its Write #0 to b failed: REM_ACCESS_ERR."}},
		"an Atomic with the same effect at two hosts has one sentence": {view.Document{
			Events:   events(3, map[int]view.Event{1: {Host: 1, Kind: "land", Text: "a→b #4 swaps 0x0→0x1 at 0..7", Request: 0}, 2: {Host: 2, Kind: "land", Text: "a→c #4 swaps 0x0→0x1 at 0..7", Request: 1}}),
			Requests: []view.Request{{Op: "CompareSwap", Number: 4, Peer: 1, Length: 8, Done: -1}, {Op: "CompareSwap", Number: 4, Peer: 2, Length: 8, Done: -1}},
			Pieces:   []view.Piece{{Span: at(1, 0), Request: 0, Fate: "landed"}, {Span: at(2, 0), Request: 1, Fate: "landed"}}},
			[]string{"CompareSwap #4 of a swaps 0x0→0x1 at 0..7 in the memory of b and c."}},
		"a post for no client, and calls": {view.Document{
			Events:   events(4, map[int]view.Event{0: {Kind: "call", Peer: 1, Request: -1}, 1: {Kind: "post", Peer: 1, Request: 0}, 2: {Kind: "unreachable", Text: "gets no answer from b", Peer: -1, Request: -1}, 3: {Kind: "log", Text: "b has failed", Peer: -1, Request: -1}}),
			Requests: []view.Request{write(0, 0)}},
			[]string{"a calls b.", "a posts Write #0 to b.", "a gets no answer from b.", "a notes: b has failed."}},
		"requests of two lives with one number": {view.Document{Events: events(6, map[int]view.Event{1: {Life: 1, Kind: "load", Peer: -1, Request: -1}}),
			Requests: []view.Request{write(0, 0), {Op: "Write", Peer: 1, Offset: 8, Length: 8, Posted: 1, Done: -1}},
			Pieces:   []view.Piece{{Span: at(5, 0), Fate: "dropped"}, {Span: at(5, 8), Request: 1, Fate: "dropped"}}},
			[]string{"By now it is certain that nothing of Write #0 of a and Write #0 of a (life 1) to b arrives any more."}},
		"a request of an earlier life is named with that life": {view.Document{Events: events(6, map[int]view.Event{1: {Life: 1, Kind: "start", Text: "starts again (life 1)", Peer: -1, Request: -1}, 4: {Life: 1, Kind: "load", Peer: -1, Request: -1}}),
			Requests: []view.Request{write(1, 0), {Op: "Read", Peer: 1, Length: 8, Posted: 4, Done: -1}}, Pieces: []view.Piece{{Span: at(5, 0), Request: 1, Fate: "sampled"}}},
			[]string{"a starts again (life 1).", "a reads 0x0 in the memory of b.", "a does not find Write #1 of its life 0 to b, which is still under way."}},
		"a life that still runs during the next one": {view.Document{Events: events(6, map[int]view.Event{2: {Life: 1, Kind: "load", Peer: -1, Request: -1}}),
			Requests:   []view.Request{{Op: "Write", Number: 7, Peer: 1, Length: 8, Posted: 3, Done: -1}, {Op: "Write", Peer: 1, Offset: 8, Length: 8, Posted: 2, Done: -1}},
			Operations: []view.Operation{{Client: "a, life 1", Call: "put", Result: "ok", Begin: 1, End: 5}}},
			[]string{"a, life 1 asked for “put” and gets “ok”. Not completed: Write #0 to b."}},
		"a life that ends without a fault": {view.Document{Events: events(3, map[int]view.Event{0: {Kind: "end", Peer: -1, Request: -1}, 1: {Host: 1, Kind: "load", Peer: -1, Request: -1},
			2: {Life: 1, Kind: "start", Text: "starts again (life 1)", Peer: -1, Request: -1}})},
			[]string{"a has ended, and starts again (life 1)."}},
		"numbers with gaps": {view.Document{Events: events(3, nil), Requests: []view.Request{write(1, 0), write(3, 0), write(5, 0), write(6, 0), write(7, 0), write(9, 0)},
			Operations: []view.Operation{{Client: "a", Call: "put", Result: "ok", Begin: 0, End: 2}}},
			[]string{"a asked for “put” and gets “ok”. Not completed: Writes #1, #3, #5–#7 and #9 to b."}},
		"the violation, at the end": {view.Document{Events: events(2, map[int]view.Event{1: {Kind: "violation", Marked: true, Request: -1}}), Violation: &view.Violation{Message: "this write is lost"}},
			[]string{"This write is lost."}},
	} {
		t.Run(name, func(t *testing.T) { x.check(t) })
	}
}

// storyCase is a run and the story that it should have.
type storyCase struct {
	d    view.Document
	want []string
}

func (x *storyCase) check(t *testing.T) {
	t.Helper()
	x.d.Hosts, x.d.Regions = []string{"a", "b", "c"}, []view.Region{{Host: 1, Name: "log"}}
	if d := cmp.Diff(x.want, texts(&x.d)); d != "" {
		t.Error(d)
	}
}

// A request belongs to one operation only, and a message that begins with a file name stays as it is.
func TestOneOperationForEachRequest(t *testing.T) {
	later := write(1, 0)
	later.Posted = 1
	for name, x := range map[string]storyCase{
		"an operation that begins when the one before ends": {view.Document{Events: events(4, nil), Requests: []view.Request{write(0, 0), later},
			Operations: []view.Operation{{Client: "a", Call: "put 1", Result: "ok", Begin: 0, End: 1}, {Client: "a", Call: "put 2", Result: "ok", Begin: 1, End: 3}}},
			[]string{"a asked for “put 1” and gets “ok”. Not completed: Write #0 to b.", "a asked for “put 2” and gets “ok”. Not completed: Write #1 to b."}},
		"a message that begins with the name of a file": {view.Document{Events: events(2, nil), Violation: &view.Violation{Message: "a.log is empty"}},
			[]string{"a.log is empty."}},
	} {
		t.Run(name, func(t *testing.T) { x.check(t) })
	}
}
