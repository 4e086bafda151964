package explore_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// A failed write leaves any bytes in the weakest profile, where a cell of a successful
// one is never torn; in the others it leaves whole cells.
func TestFailedWriteTearsByByteOnlyInTheWeakestProfile(t *testing.T) {
	sequential(t)
	s := scenario("failed-write", "crash(a)<=1", func(x *tiny) []sim.Node {
		return []sim.Node{client("a", func(h host.Host, w *wire) {
			w.buf.Store(0, []byte("\x01\x02"))
			w.post(verbs.OpWrite, inl|sig, 0, 2, 0)
			w.poll()
		}), serve(8, 1, func(h host.Host, r host.Region, _ verbs.MR, _ []verbs.QP, _ verbs.CQ) {
			x.say(1, "%x", r.Load64(0))
		})}
	})
	s.Build = stayDown(s.Build)
	for profile, torn := range map[string]bool{"strong": false, "relaxed": false, "ooo": false, "iba": true} {
		opt := explore.Options{Profile: profile, Workers: 1}
		r, err := explore.Check(s, opt)
		if err != nil || r.Verdict != explore.Verified {
			t.Fatal(profile, r, err)
		}
		if got := slices.Contains(r.Outcomes, " | 1") || slices.Contains(r.Outcomes, " | 200"); got != torn {
			t.Errorf("%s: torn %v: %q", profile, got, r.Outcomes)
		}
		want, _, done, err := explore.Naive(s, opt, true, 200_000)
		if err != nil || !done {
			t.Fatal(profile, done, err)
		}
		if d := cmp.Diff(want, r.Outcomes); d != "" {
			t.Errorf("%s: outcomes differ (-naive +reduced):\n%s", profile, d)
		}
	}
}

// stayDown keeps crashed hosts down.
func stayDown(build func(*explore.Case) (sim.Config, error)) func(*explore.Case) (sim.Config, error) {
	return func(c *explore.Case) (sim.Config, error) {
		cfg, err := build(c)
		cfg.Nodes[0].Again = func(int, bool) bool { return false }
		return cfg, err
	}
}
