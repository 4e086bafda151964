package sim_test

import (
	"testing"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// An element that a power failure cut off may be in memory in part. One that the end of a process cut off is
// in memory as it arrived. So it matters to a request of the second life which of two lives lost its power.
func TestWhatAPowerFailureStruckDiffers(t *testing.T) {
	budget, err := faults.ParseBudget("power(b)<=1")
	if err != nil {
		t.Fatal(err)
	}
	profile, err := faults.ProfileByName("strong+Domain=eADR")
	if err != nil {
		t.Fatal(err)
	}
	program := func(observe bool) *sim.World {
		prepare := func(h host.Host) (verbs.PD, verbs.PreparedQP) {
			pd, _ := h.Device().AllocPD()
			cq, _ := h.Device().CreateCQ(4, nil)
			q, err := pd.CreateQP(verbs.QPConfig{SendCQ: cq, RecvCQ: cq, MaxInline: 16, Access: verbs.LocalWrite | verbs.RemoteWrite})
			if err != nil {
				t.Error(err)
			}
			return pd, q
		}
		var ends [2]verbs.Endpoint
		var to verbs.SendWR
		a := sim.Node{Name: "a", Main: func(h host.Host, _ int) {
			pd, q := prepare(h)
			ends[0] = q.Endpoint()
			l := listening(t, h, "a")
			_, _ = l.Accept(verbs.Forever)
			buf, _ := h.Alloc(16)
			mr, _ := pd.RegisterMR(buf, verbs.LocalWrite)
			conn, err := q.Connect(ends[1])
			if err != nil {
				t.Error(err)
				return
			}
			to.Op, to.Flags, to.SGL = verbs.OpWrite, verbs.Inline, []verbs.SGE{{Addr: buf.Addr(), Length: 16, LKey: mr.LKey()}}
			if err := conn.PostSend([]verbs.SendWR{to}); err != nil && observe {
				t.Error(err)
			}
			_, _ = l.Accept(verbs.Forever)
		}}
		b := sim.Node{Name: "b", Again: func(life int, _ bool) bool { return life < 3 }, Main: func(h host.Host, life int) {
			if life != 1 {
				h.Sleep(0)
				return
			}
			mem, _ := h.OpenPMEM("log", 64)
			pd, q := prepare(h)
			mr, _ := pd.RegisterMR(mem, verbs.LocalWrite|verbs.RemoteWrite)
			ends[1] = q.Endpoint()
			if _, err := q.Connect(ends[0]); err != nil {
				t.Error(err)
			}
			if to = (verbs.SendWR{RemoteAddr: mem.Addr(), RKey: mr.RKey()}); !observe {
				to.RKey++ // no registration has this key
			}
			tell(h, "a", "a")
		}}
		w, err := sim.New(sim.Config{Nodes: []sim.Node{a, b}, Profile: profile, Budget: budget, Hung: func([]string) {}})
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	first := []string{"a.0/main", "b.0/main", "power(b)", "restart(b)", "b.1/main", "b.1/main", "b.1/main", "a.0/main", "b.1/main", "restart(b)", "b.2/main", "timer(b.2/main)", "b.2/main", "restart(b)"}
	second := []string{"a.0/main", "b.0/main", "timer(b.0/main)", "b.0/main", "restart(b)", "b.1/main", "b.1/main", "b.1/main", "a.0/main", "power(b)", "restart(b)", "b.2/main", "timer(b.2/main)", "b.2/main", "restart(b)"}
	toldApart(t, "power failures", program, path{nil, first}, path{nil, second})
}
