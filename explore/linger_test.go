package explore_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// flagAndData is a program of two connected hosts: a writes data and flag, b waits for
// the flag and reads the data.
func flagAndData(spin bool) *explore.Scenario {
	return &explore.Scenario{Name: "test/linger", Build: func(c *explore.Case) (sim.Config, error) {
		var qp verbs.QP
		var src, dst host.Region
		var lkey, rkey uint32
		var r1, r2 uint64
		done := false
		c.OnReset(func() { r1, r2, done = 9, 9, false })
		write := func(off int) {
			_ = qp.PostSend([]verbs.SendWR{{Op: verbs.OpWrite, Flags: verbs.Inline, RKey: rkey, RemoteAddr: dst.Addr() + uint64(off),
				SGL: []verbs.SGE{{Addr: src.Addr(), Length: 8, LKey: lkey}}}})
		}
		return sim.Config{Profile: c.Profile, Budget: c.Budget, Linger: true, Nodes: []sim.Node{
			{Name: "a", Main: func(host.Host, int) { write(0); write(8) }},
			{Name: "b", Main: func(_ host.Host, _ int) {
				if r1 = dst.Load64(8); spin && r1 == 0 {
					c.Abandon()
					return
				}
				r2, done = dst.Load64(0), true
			}},
		}, Setup: func(hs []*sim.Host) {
			src, _ = hs[0].Alloc(8)
			dst, _ = hs[1].Alloc(16)
			src.Store64(0, 1)
			pa, pb := domain(hs[0]), domain(hs[1])
			lkey, rkey = register(pa, src, 0), register(pb, dst, verbs.LocalWrite|verbs.RemoteWrite)
			qp = pair(hs[0], pa, hs[1], pb)
		}, AtEnd: func(hs []*sim.Host) {
			d := hs[1].Settle(dst, 0, 8)[0]
			c.Outcome(fmt.Sprintf("f=%d d=%d final d=%d done %v", r1, r2, d, done))
		}}, nil
	}}
}

func domain(h host.Host) verbs.PD {
	pd, err := h.Device().AllocPD()
	if err != nil {
		panic(err)
	}
	return pd
}

func register(pd verbs.PD, r host.Region, a verbs.Access) uint32 {
	m, err := pd.RegisterMR(r, a)
	if err != nil {
		panic(err)
	}
	return m.RKey()
}

// pair connects two hosts and returns the end of the first.
func pair(a host.Host, pa verbs.PD, b host.Host, pb verbs.PD) verbs.QP {
	prepared := func(h host.Host, pd verbs.PD) verbs.PreparedQP {
		cq, _ := h.Device().CreateCQ(16, nil)
		q, err := pd.CreateQP(verbs.QPConfig{SendCQ: cq, RecvCQ: cq, Access: verbs.RemoteWrite | verbs.RemoteRead, MaxInline: 8})
		if err != nil {
			panic(err)
		}
		return q
	}
	p, q := prepared(a, pa), prepared(b, pb)
	out, _ := p.Connect(q.Endpoint())
	_, _ = q.Connect(p.Endpoint())
	return out
}

func TestLingeringHostsEndTogether(t *testing.T) {
	sequential(t)
	for _, test := range []struct {
		profile string
		spin    bool
		want    []string
	}{
		{"strong", false, []string{"f=0 d=0 final d=1 done true", "f=0 d=1 final d=1 done true", "f=1 d=1 final d=1 done true"}},
		{"strong", true, []string{"f=1 d=1 final d=1 done true"}},
		{"relaxed", true, []string{"f=1 d=0 final d=1 done true", "f=1 d=1 final d=1 done true"}},
	} {
		opt := explore.Options{Profile: test.profile, Workers: 1}
		r, err := explore.Check(flagAndData(test.spin), opt)
		if err != nil || r.Verdict != explore.Verified {
			t.Fatalf("%v %v %v", err, r.Verdict, r.Reason)
		}
		slices.Sort(r.Outcomes)
		if d := cmp.Diff(test.want, r.Outcomes); d != "" {
			t.Errorf("%s spin %v: (-want +got)\n%s", test.profile, test.spin, d)
		}
		naive, _, done, err := explore.Naive(flagAndData(test.spin), opt, true, 1_000_000)
		if err != nil || !done {
			t.Fatal(err, done)
		}
		if d := cmp.Diff(naive, r.Outcomes); d != "" {
			t.Errorf("%s spin %v: (-naive +reduced)\n%s", test.profile, test.spin, d)
		}
	}
}
