package explore_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/timeline"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// The timeline shows a request that a server rejects or ignores, even if its caller
// goes on without it; a rejection that the caller sees shows once.
func TestTimelineShowsRefusals(t *testing.T) {
	sequential(t)
	serve := func(answer func(n int, r host.Request)) func(host.Host, int) {
		return func(h host.Host, _ int) {
			lis, err := h.Listen("lend")
			for n := 0; err == nil; n++ {
				var r host.Request
				if r, err = lis.Accept(-1); err == nil {
					answer(n, r)
				}
			}
		}
	}
	s := &explore.Scenario{Name: "refusals", Build: func(c *explore.Case) (sim.Config, error) {
		return sim.Config{Profile: c.Profile, Nodes: []sim.Node{
			{Name: "app", Main: func(h host.Host, _ int) {
				calls := []host.Call{{To: "willing", Service: "lend"}, {To: "full", Service: "lend"}, {To: "mute", Service: "lend"}}
				h.Gather(calls, -1).Wait(1)
				_, err := h.Call("full", "lend", nil, -1)
				_, again := h.Call("mute", "lend", nil, -1)
				c.Fail(errors.Join(errors.New("enough"), err, again))
			}},
			{Name: "willing", Daemon: true, Main: serve(func(_ int, r host.Request) { r.Reply(nil) })},
			{Name: "full", Daemon: true, Main: serve(func(n int, r host.Request) { r.Reject([]string{"no room", "still no room"}[min(n, 1)]) })},
			{Name: "mute", Daemon: true, Main: serve(func(n int, r host.Request) {
				if n > 0 {
					r.Reply(nil)
				}
			})},
		}}, nil
	}}
	text := ""
	for seed := range uint64(200) { // one in which the app does not wait for either
		r, err := explore.Check(s, explore.Options{Workers: 1, NoShrink: true, Strategy: explore.Random, Seed: seed, MaxRuns: 1})
		if err != nil || r.Counterexample == nil {
			t.Fatal(r, err)
		}
		re, err := r.Counterexample.ReplayFull(s)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := timeline.Write(&b, re.Timeline(), timeline.Options{Width: 300}); err != nil {
			t.Fatal(err)
		}
		text = b.String()
		text, _, _ = strings.Cut(text, "violated: ")
		if strings.Contains(text, "rejects lend: ") {
			break
		}
	}
	for said, times := range map[string]int{": no room": 1, "still no room": 1, "never answers lend ← app": 1} {
		if n := strings.Count(text, said); n != times {
			t.Errorf("%q is there %d times, and not %d:\n%s", said, n, times, text)
		}
	}
}
