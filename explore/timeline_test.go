package explore_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// story is a made-up replay with one event of each sort.
func story() *explore.Replay {
	ev := func(step int, host, peer, kind, text, source string) sim.TraceEvent {
		return sim.TraceEvent{Step: step, Host: host, Peer: peer, Kind: kind, Text: text, Source: source}
	}
	again := ev(8, "app", "", "start", "starts again (life 1)", "")
	again.Life = 1
	violation := ev(10, "app", "", "violation", "write 1 is lost for good", "a/very/long/path/to/some/file.go:123")
	violation.Life = 1
	zombie := ev(9, "app", "", "load", "loads [0,8) of region 0: 0x1", "demo/app.go:20")
	return &explore.Replay{Hosts: []string{"app", "peer1", "peer2"}, Err: errors.New("write 1 is lost\nfor good"),
		Events: []sim.TraceEvent{
			ev(0, "app", "", "start", "starts", ""),
			ev(0, "peer1", "", "start", "starts", ""),
			ev(0, "peer2", "", "start", "starts", ""),
			ev(1, "app", "", "alloc", "allocates region 0 of 8 bytes", "demo/app.go:9"),
			ev(1, "app", "peer1", "call", "calls lend of peer1", "demo/app.go:10"),
			ev(1, "app", "peer2", "call", "calls lend of peer2", "demo/app.go:10"),
			ev(2, "peer1", "app", "request", "receives lend from app", "demo/peer.go:5"),
			ev(2, "peer1", "app", "answer", "answers lend of app: too late", "demo/peer.go:7"),
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

const storyAt100 = `step   app                             peer1                peer2         source
──────┬───────────────────────────────┬────────────────────┬────────────────────────────────────────
    0 │starts                         │starts              │starts
    1 │calls lend → peer1, peer2      │                    │              demo/app.go:10
    3 │has the answer ← peer1         │                    │              demo/app.go:11
    4 │posts Write #0 of 16 bytes at  │                    │              demo/app.go:12
      │ 0x8 inline → peer1, peer2;    │                    │
      │ Write #1 of 8 bytes at 0x0    │                    │
      │ signaled → peer1              │                    │
    5 │                               │#0 lands at [8,16)  │
      │                               │ of region 0:       │
      │                               │ 0x6161616161616161 │
      │                               │ ← app              │
      │sees Write → peer1: SUCCESS    │                    │              demo/app.go:14
!   6 │                               │✗ the link to peer2 │
      │                               │ is cut             │
!   7 │                               │✓ the link to peer2 │
      │                               │ heals              │
!     │                               │                     ✗ crashes
    8 │starts again (life 1)          │
    9 │[life 0] loads [0,8) of region │                                   demo/app.go:20
      │ 0: 0x1                        │
!  10 │✗ violates the promise below   │                                   …/path/to/some/file.go:123
left out: 3 of allocations, registrations, connections, stores and what servers do (--all shows them)

violated: violation
  write 1 is lost
  for good
`

func draw(t *testing.T, r *explore.Replay, opt explore.TimelineOptions) string {
	t.Helper()
	var b strings.Builder
	if err := explore.WriteTimeline(&b, r, opt); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTimelineGolden(t *testing.T) {
	got := draw(t, story(), explore.TimelineOptions{Width: 100})
	if d := cmp.Diff(storyAt100, got); d != "" {
		t.Errorf("-want +got:\n%s\n%s", d, got)
	}
	if again := draw(t, story(), explore.TimelineOptions{Width: 100}); again != got {
		t.Error("the same replay was drawn in two ways")
	}
}

func TestTimelineAll(t *testing.T) {
	got := draw(t, story(), explore.TimelineOptions{All: true})
	if !strings.Contains(got, "allocates region 0") || strings.Contains(got, "left out") {
		t.Errorf("--all leaves something out:\n%s", got)
	}
	if n := strings.Count(got, "calls lend"); n != 2 {
		t.Errorf("--all shows %d calls, want 2:\n%s", n, got)
	}
}

// A timeline stays within its width, whatever the number of hosts and the texts.
func TestTimelineWidth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := &explore.Replay{Err: errors.New(rapid.StringN(0, 300, -1).Draw(t, "err"))}
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
		if err := explore.WriteTimeline(&b, r, explore.TimelineOptions{}); err != nil {
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
	if got := draw(t, &explore.Replay{}, explore.TimelineOptions{Width: 1}); !strings.Contains(got, "no promise is violated") {
		t.Errorf("got %q", got)
	}
}
