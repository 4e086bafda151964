package timeline_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/verbatim-rdma/verbatim/explore/timeline"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// story is a made-up replay with one event of each sort.
func story() *timeline.Run {
	ev := func(step int, host, peer, kind, text, source string) sim.TraceEvent {
		return sim.TraceEvent{Step: step, Host: host, Peer: peer, Kind: kind, Text: text, Source: source}
	}
	again := ev(8, "app", "", "start", "starts again (life 1)", "")
	again.Life = 1
	violation := ev(10, "app", "", "violation", "write 1 is lost for good", "a/very/long/path/to/some/file.go:123")
	violation.Life = 1
	zombie := ev(9, "app", "", "load", "loads [0,8) of region 0: 0x1", "demo/app.go:20")
	return &timeline.Run{Hosts: []string{"app", "peer1", "peer2"}, Err: errors.New("write 1 is lost\nfor good"), Class: "violation",
		Events: []sim.TraceEvent{
			ev(0, "app", "", "start", "starts", ""),
			ev(0, "peer1", "", "start", "starts", ""),
			ev(0, "peer2", "", "start", "starts", ""),
			ev(1, "app", "", "alloc", "allocates region 0 of 8 bytes", "demo/app.go:9"),
			ev(1, "app", "peer1", "call", "calls lend of peer1", "demo/app.go:10"),
			ev(1, "app", "peer2", "call", "calls lend of peer2", "demo/app.go:10"),
			ev(2, "peer1", "app", "request", "receives lend from app", "demo/peer.go:5"),
			ev(2, "peer1", "app", "answer", "answers lend of app", "demo/peer.go:7"),
			ev(3, "app", "peer1", "answered", "has the answer of peer1", "demo/app.go:11"),
			ev(4, "app", "peer1", "post", "posts Write #0 of 16 bytes at 0x8 inline", "demo/app.go:12"),
			ev(4, "app", "peer1", "post", "posts Write #1 of 8 bytes at 0x0 signaled", "demo/app.go:13"),
			ev(4, "app", "peer2", "post", "posts Write #0 of 16 bytes at 0x8 inline", "demo/app.go:12"),
			ev(5, "peer1", "app", "land", "app→peer1 #0 lands at [8,16) of region 0: 0x6161616161616161", ""),
			ev(5, "app", "", "completion", "sees Write of app→peer1: SUCCESS", "demo/app.go:14"),
			ev(6, "peer1", "", "cut", "the link to peer2 is cut", ""),
			ev(7, "peer1", "", "heal", "the link to peer2 heals", ""),
			ev(7, "peer2", "", "crash", "crashes", ""),
			again, zombie,
			violation,
		}}
}

const storyAt100 = `step   app                            peer1                peer2         source
──────┬──────────────────────────────┬────────────────────┬─────────────────────────────────────────
    0 │starts                        │starts              │starts
  1-3 │calls lend → peer1, peer2;    │                    │              demo/app.go:10,
      │ has the answer ← peer1       │                    │              demo/app.go:11
    4 │posts Write #0 of 16 bytes at │                    │              demo/app.go:12
      │ 0x8 inline → peer1, peer2;   │                    │
      │ Write #1 of 8 bytes at 0x0   │                    │
      │ signaled → peer1             │                    │
    5 │sees Write → peer1: SUCCESS   │#0 lands at [8,16)  │              demo/app.go:14
      │                              │ of region 0:       │
      │                              │ 0x6161616161616161 │
      │                              │ ← app              │
!   6 │                              │✗ the link to peer2 │
      │                              │ is cut             │
!   7 │                              │✓ the link to peer2 │
      │                              │ heals              │
!     │                              │                     ✗ crashes
    8 │starts again (life 1)         │
    9 │[life 0] loads [0,8) of       │                                   demo/app.go:20
      │ region 0: 0x1                │
!  10 │✗ violates the promise below  │                                   …/path/to/some/file.go:123
left out: 3 of allocations, registrations, connections, stores and server events (--all shows them)
folded: 2 rows into others of the same step or into routine rows (--all shows them)

violated: violation
  write 1 is lost
  for good
`

func draw(t *testing.T, r *timeline.Run, opt timeline.Options) string {
	t.Helper()
	var b strings.Builder
	if err := timeline.Write(&b, r, opt); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTimelineGolden(t *testing.T) {
	got := draw(t, story(), timeline.Options{Width: 100})
	if d := cmp.Diff(storyAt100, got); d != "" {
		t.Errorf("-want +got:\n%s\n%s", d, got)
	}
	if again := draw(t, story(), timeline.Options{Width: 100}); again != got {
		t.Error("the same replay was drawn in two ways")
	}
}

func TestTimelineAll(t *testing.T) {
	got := draw(t, story(), timeline.Options{All: true})
	if !strings.Contains(got, "allocates region 0") || strings.Contains(got, "left out") || strings.Contains(got, "folded") {
		t.Errorf("--all leaves something out:\n%s", got)
	}
	if n := strings.Count(got, "calls lend"); n != 2 {
		t.Errorf("--all shows %d calls, want 2:\n%s", n, got)
	}
}

// told returns the texts and lines of code of some events, each in its own step.
func told(events ...sim.TraceEvent) *timeline.Run {
	for i := range events {
		if events[i].Step == 0 {
			events[i].Step = i + 1
		}
	}
	return &timeline.Run{Hosts: []string{"app", "peer1", "peer2"}, Events: events}
}

// Exactly the rows that may be folded are folded.
func TestTimelineFolds(t *testing.T) {
	seen := func(peer, status string) sim.TraceEvent {
		return sim.TraceEvent{Host: "app", Kind: "completion", Text: "sees Write of app→" + peer + ": " + status, Source: "d/a.go:1"}
	}
	gives := func(host, source string) sim.TraceEvent {
		return sim.TraceEvent{Host: host, Kind: "revoke", Text: "deregisters key 1 of region 0", Source: source}
	}
	call := func(text string) sim.TraceEvent {
		return sim.TraceEvent{Host: "app", Peer: "peer1", Kind: "call", Text: text, Source: "d/a.go:2"}
	}
	post := sim.TraceEvent{Host: "app", Peer: "peer1", Kind: "post", Text: "posts Write #0 of 8 bytes at 0"}
	read := sim.TraceEvent{Host: "app", Peer: "peer1", Kind: "post", Text: "posts Read #0 of 8 bytes at 0", Source: "d/a.go:1"}
	crash := sim.TraceEvent{Host: "app", Kind: "crash", Text: "crashes"}
	land := func(step int, host string) sim.TraceEvent {
		return sim.TraceEvent{Step: step, Host: host, Peer: "app", Kind: "land", Text: "app→" + host + " #0 lands at 0..7: 0x1"}
	}
	load := sim.TraceEvent{Step: 9, Host: "app", Kind: "load", Text: "loads [0,8) of region 0: 0x1", Source: "d/a.go:3"}
	ends := sim.TraceEvent{Host: "app", Kind: "end", Text: "ends"}
	again := sim.TraceEvent{Host: "app", Kind: "start", Life: 1, Text: "starts again (life 1)"}
	for _, x := range []struct {
		name   string
		events []sim.TraceEvent
		rows   int
		has    string
	}{
		{"successes", []sim.TraceEvent{seen("peer1", "SUCCESS"), seen("peer2", "SUCCESS")}, 1, "  1-2  sees Write → peer1, peer2: SUCCESS"},
		{"an error", []sim.TraceEvent{seen("peer1", "SUCCESS"), seen("peer2", "RETRY_EXC_ERR")}, 2, "RETRY_EXC_ERR"},
		{"another host between", []sim.TraceEvent{seen("peer1", "SUCCESS"), gives("peer1", "d/p.go:1"), seen("peer2", "SUCCESS")}, 3, ""},
		{"what follows", []sim.TraceEvent{call("calls lend of peer1"), seen("peer1", "SUCCESS"), ends, again}, 1, "starts again (life 1)"},
		{"a post", []sim.TraceEvent{call("calls lend of peer1"), post, post, post}, 4, ""},
		{"after a post", []sim.TraceEvent{post, seen("peer1", "SUCCESS")}, 2, ""},
		{"a peer that is down", []sim.TraceEvent{seen("peer1", "SUCCESS"), call("calls lend of peer1, which is down")}, 2, "which is down"},
		{"a crash", []sim.TraceEvent{seen("peer1", "SUCCESS"), crash, again}, 3, "✗ crashes"},
		{"symmetric", []sim.TraceEvent{gives("peer1", "d/p.go:1"), gives("peer2", "d/p.go:1"), gives("app", "d/p.go:1")}, 1, "  1-3"},
		{"other lines", []sim.TraceEvent{gives("peer1", "d/p.go:1"), gives("peer2", "d/p.go:2")}, 2, "d/p.go:2"},
		{"the same host twice", []sim.TraceEvent{gives("peer1", "d/p.go:1"), gives("peer2", "d/p.go:1"), gives("peer1", "d/p.go:1")}, 2, ""},
		{"a Read", []sim.TraceEvent{call("calls lend of peer1"), read, seen("peer1", "SUCCESS"), post}, 2, "  1-3"},
		{"landings side by side", []sim.TraceEvent{land(3, "peer1"), land(4, "peer2")}, 1, "  3-4"},
		{"landings at one host", []sim.TraceEvent{land(3, "peer1"), land(4, "peer1")}, 2, ""},
		{"landings with a post between", []sim.TraceEvent{land(1, "peer1"), post, land(3, "peer2")}, 3, ""},
		{"landing before a look", []sim.TraceEvent{land(9, "peer1"), land(9, "peer2"), load}, 1, "#0 lands"},
		{"landing after a look", []sim.TraceEvent{load, land(9, "peer1"), land(9, "peer2")}, 2, ""},
		{"landing in another step", []sim.TraceEvent{land(8, "peer1"), load}, 2, ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			got := draw(t, told(x.events...), timeline.Options{Width: 2000})
			body, _, _ := strings.Cut(strings.SplitN(got, "\n", 3)[2], "\nno promise")
			rows := 0
			for line := range strings.Lines(body) {
				if !strings.HasPrefix(line, "folded: ") {
					rows++
				}
			}
			if rows != x.rows || !strings.Contains(got, x.has) {
				t.Errorf("%d rows, want %d and %q:\n%s", rows, x.rows, x.has, got)
			}
			if want := fmt.Sprintf("folded: %d row", len(x.events)-x.rows); strings.Contains(got, "folded: ") && !strings.Contains(got, want) {
				t.Errorf("want %q:\n%s", want, got)
			}
			for _, e := range x.events {
				if !strings.Contains(got, e.Source) {
					t.Errorf("%s is lost:\n%s", e.Source, got)
				}
			}
		})
	}
}

// A width out of bounds counts as the nearest: a timeline of any number of columns would take any time and memory.
func TestTimelineWidthIsBounded(t *testing.T) {
	for width, as := range map[int]int{-1: timeline.Narrowest, timeline.Widest + 50: timeline.Widest} {
		if draw(t, story(), timeline.Options{Width: width}) != draw(t, story(), timeline.Options{Width: as}) {
			t.Errorf("width %d is not drawn as %d", width, as)
		}
	}
}

// A timeline stays within its width, for any number of hosts and length of texts.
func TestTimelineWidth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := &timeline.Run{Err: errors.New(rapid.StringN(0, 300, -1).Draw(t, "err"))}
		for i := range rapid.IntRange(1, 6).Draw(t, "hosts") {
			r.Hosts = append(r.Hosts, fmt.Sprint("peer", i))
		}
		word := rapid.StringMatching(`[a-z" ]{0,40}`)
		for i := range rapid.IntRange(0, 20).Draw(t, "events") {
			r.Events = append(r.Events, sim.TraceEvent{Step: i / 3, Host: rapid.SampledFrom(r.Hosts).Draw(t, "host"),
				Peer: rapid.SampledFrom(append(r.Hosts, "")).Draw(t, "peer"), Text: word.Draw(t, "text"), Source: word.Draw(t, "source"),
				Kind: rapid.SampledFrom([]string{"start", "post", "land", "crash", "load"}).Draw(t, "kind")})
		}
		var b strings.Builder
		if err := timeline.Write(&b, r, timeline.Options{}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.SplitSeq(b.String(), "\n") {
			if n := len([]rune(line)); n > 120 {
				t.Fatalf("a line has %d columns: %q", n, line)
			}
		}
	})
}

func TestTimelineOfNothing(t *testing.T) {
	if got := draw(t, &timeline.Run{}, timeline.Options{Width: 1}); !strings.Contains(got, "no promise is violated") {
		t.Errorf("got %q", got)
	}
}

// The rows of a timeline account for every event that is not left out, once each.
func TestTimelineRowsAccountForEvents(t *testing.T) {
	for _, all := range []bool{false, true} {
		rows, left := timeline.Rows(story(), all)
		seen := map[int]bool{}
		for _, x := range rows {
			for _, e := range x.Events {
				if seen[e] {
					t.Errorf("event %d is in two rows", e)
				}
				seen[e] = true
			}
		}
		if n := len(story().Events); len(seen)+left != n {
			t.Errorf("all %v: %d events in rows, %d left out, of %d", all, len(seen), left, n)
		}
	}
}
