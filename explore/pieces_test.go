package explore_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// Into how many pieces messages tear is a bound, and a verdict reports it where it mattered. A message in no more cells than
// that is not bounded, wherever it begins; but a load of several cells is.
func TestPiecesAreBoundedAloud(t *testing.T) {
	for _, x := range []struct {
		pieces, off, n int
		outcomes       int
		warns          bool
	}{
		{0, 0, 24, 8, false}, {1, 0, 24, 2, true}, {0, 4, 8, 4, false}, {1000, 4, 8, 4, true}, {1, 4, 8, 2, true}, {1, 0, 8, 2, false},
	} {
		s := scenario("pieces", "", func(y *tiny) []sim.Node { return torn(y, x.off, x.n) })
		build := s.Build
		s.Build = func(c *explore.Case) (sim.Config, error) {
			cfg, err := build(c)
			cfg.MaxPieces = x.pieces
			return cfg, err
		}
		r, err := explore.Check(s, explore.Options{})
		if err != nil || r.Verdict != explore.Verified {
			t.Fatalf("%+v: %+v %v %+v", x, r.Verdict, err, r.Counterexample)
		}
		if warns := strings.Contains(r.Warning(), "pieces"); len(r.Outcomes) != x.outcomes || warns != x.warns {
			t.Errorf("%+v: outcomes %q, and the verdict warns %q", x, r.Outcomes, r.Warning())
		}
	}
}

// torn is a host that loads the n bytes at off while another writes them.
func torn(x *tiny, off, n int) []sim.Node {
	return []sim.Node{
		{Name: "a", Main: func(h host.Host, _ int) {
			w := connect(h, "b")
			if w == nil {
				return // b has ended
			}
			w.buf.Store(0, bytes.Repeat([]byte{1}, n))
			w.post(verbs.OpWrite, 0, 0, n, off)
		}},
		{Name: "b", Main: func(h host.Host, _ int) {
			server(h, 64, 1, func(r host.Region, _ verbs.MR, _ []verbs.QP, _ verbs.CQ) {
				p := make([]byte, n)
				r.Load(off, p)
				x.say(1, "%v", p)
			})
		}},
	}
}
