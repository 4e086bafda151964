package story_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/verbatim-rdma/verbatim/report/view"
)

// A sentence of a story is true at the step beside it, and is about the right host.
func TestSentencesAreTrueAtTheirSteps(t *testing.T) {
	put := []view.Operation{{Client: "a", Call: "put", Result: "ok", Begin: 0, End: 2}}
	done := func(event int, status string) view.Request {
		r := write(0, 0)
		r.Done, r.Status = event, status
		return r
	}
	signaled, late := write(0, 0), write(0, 0)
	signaled.Signaled, late.Posted = true, 3
	whole := view.Request{Op: "Read", Host: 2, Peer: 1, Length: 16, Posted: 1, Done: -1}
	crash := view.Event{Host: 1, Kind: "crash", Text: "crashes", Marked: true, Request: -1}
	power := view.Event{Host: 1, Kind: "power", Text: "loses power", Marked: true, Request: -1}
	two := []view.Region{{Host: 1, Gone: 1}, {Host: 1, Gone: 3}}
	for name, x := range map[string]struct {
		d       view.Document
		regions []view.Region
		want    []string
	}{
		"a completion after the result": {view.Document{Events: events(5, nil), Requests: []view.Request{done(4, "SUCCESS")}, Operations: put}, nil,
			[]string{"a asked for “put” and gets “ok”. Not completed: Write #0 to b."}},
		"in memory, before its completion": {view.Document{Events: events(3, nil), Requests: []view.Request{signaled}, Operations: put,
			Pieces: []view.Piece{{Span: at(1, 0), Fate: "landed"}}}, nil,
			[]string{"a asked for “put” and gets “ok”. Not completed: Write #0 to b."}},
		"in memory, and without a completion": {view.Document{Events: events(3, nil), Requests: []view.Request{write(0, 0)}, Operations: put,
			Pieces: []view.Piece{{Span: at(1, 0), Fate: "landed"}}}, nil,
			[]string{"a asked for “put” and gets “ok”. In memory by then: Write #0 to b."}},
		"a post in the step in which another client begins": {view.Document{Events: events(4, nil), Requests: []view.Request{{Op: "Write", Peer: 1, Length: 8, Posted: 2, Done: -1}},
			Operations: append(put[:1:1], view.Operation{Client: "c", Call: "get", Begin: 2, End: 3, Result: "1"})}, nil,
			[]string{"a asked for “put” and gets “ok”. Not completed: Write #0 to b.", "c asked for “get” and gets “1”."}},
		"a completion after the look": {view.Document{Events: events(5, nil), Requests: []view.Request{done(4, "SUCCESS")}, Looks: []view.Span{at(2, 0)}}, nil,
			[]string{"b loads and does not find Write #0 of a to b, which is still under way."}},
		"a post after the look": {view.Document{Events: events(5, nil), Requests: []view.Request{late}, Looks: []view.Span{at(2, 0)}}, nil, nil},
		"a look decides that a Write never arrives": {view.Document{Events: events(5, nil), Requests: []view.Request{write(0, 0)}, Looks: []view.Span{at(2, 0)},
			Pieces: []view.Piece{{Span: at(2, 0), Fate: "dropped"}}}, nil,
			[]string{"By now it is certain that nothing of Write #0 of a to b arrives any more."}},
		"a word of a longer Read": {view.Document{Events: events(5, nil), Requests: []view.Request{whole}, Pieces: []view.Piece{{Span: at(3, 8), Fate: "sampled"}}}, nil,
			[]string{"c reads the memory of b."}},
		"a request lost with an earlier life": {view.Document{Events: events(5, map[int]view.Event{1: crash, 3: crash}), Requests: []view.Request{write(0, 0), {Op: "Write", Number: 1, Peer: 1, Region: 1, Length: 8, Posted: 2, Done: -1}},
			Pieces:     []view.Piece{{Span: at(0, 0), Fate: "landed"}, {Span: view.Span{Event: 2, Region: 1, Length: 8}, Request: 1, Fate: "landed"}},
			Operations: []view.Operation{{Client: "a", Call: "put", Result: "ok", Begin: 0, End: 4}}}, two,
			[]string{"b crashes. Its memory is lost, and in it Write #0 of a to b.", "b crashes. Its memory is lost, and in it Write #1 of a to b.",
				"a asked for “put” and gets “ok”. In memory by then: Writes #0 and #1 to b."}},
		"a look at a store from after a power failure": {view.Document{Events: events(5, map[int]view.Event{1: power}), Looks: []view.Span{at(3, 0)},
			Doubts:  []view.Doubt{{Span: at(0, 0), Open: true}, {Span: at(2, 0), Open: true}},
			Changes: []view.Change{{Event: 0, Data: "0100000000000000", Request: -1}, {Event: 3, Data: "0000000000000000", Request: -1}}}, nil,
			[]string{"b loses power. Not certain to persist: bytes 0 to 7 of log."}},
		"a request that is flushed": {view.Document{Events: events(2, map[int]view.Event{1: {Kind: "completion", Request: 0, Peer: -1}}), Requests: []view.Request{done(1, "WR_FLUSH_ERR")}}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			x.d.Hosts, x.d.Regions = []string{"a", "b", "c"}, x.regions
			if x.regions == nil {
				x.d.Regions = []view.Region{{Host: 1, Name: "log", Gone: -1}}
			}
			if d := cmp.Diff(x.want, texts(&x.d)); d != "" {
				t.Error(d)
			}
		})
	}
}
