package browser_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/verbatim-rdma/verbatim/examples/mirror"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/litmus"
	"github.com/verbatim-rdma/verbatim/protocol/ncl/nclcheck"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// runs are counterexamples of several kinds: a history, a recovery under a weak card,
// and a litmus test with persistent memory.
func runs(t *testing.T) map[string]*found {
	t.Helper()
	return map[string]*found{
		"mirror": find(t, mirror.Scenario("one", (*mirror.Register).WriteOne), explore.Options{}),
		"ncl":    find(t, explore.Named(nclcheck.Scenarios(), "ncl/three-writes"), explore.Options{Profile: "relaxed"}),
		"litmus": findLitmus(t, persists),
	}
}

// persists is a litmus test whose outcome is reached: what was not flushed is lost in
// part.
const persists = "pmem-torn-lines"

func findLitmus(t *testing.T, name string) *found {
	t.Helper()
	test, err := litmus.ParseFile("../../testdata/litmus/" + name + litmus.Ext)
	if err != nil {
		t.Fatal(err)
	}
	s, err := litmus.Compile(test, test.OutcomeName(0))
	if err != nil {
		t.Fatal(err)
	}
	return find(t, s, explore.Options{Profile: litmus.Profiles(test)[0]})
}

// long is a run of many events that fails at its end.
func long(t *testing.T, writes int) *found {
	t.Helper()
	s := &explore.Scenario{Name: "long", Build: func(c *explore.Case) (sim.Config, error) {
		return sim.Config{Profile: c.Profile, Nodes: []sim.Node{
			{Name: "writer", Main: func(h host.Host, _ int) {
				if err := manyWrites(h, writes); err != nil {
					c.Fail(err)
				}
			}},
			{Name: "server", Main: func(h host.Host, _ int) { lend(h) }, Daemon: true},
			{Name: "bystander", Main: func(host.Host, int) {}},
		}}, nil
	}}
	r, err := explore.Check(s, explore.Options{Workers: 1, NoShrink: true, Strategy: explore.Random, MaxRuns: 1})
	if err != nil || r.Counterexample == nil {
		t.Fatal(r, err)
	}
	return replayed(t, s, r.Counterexample)
}

// manyWrites writes and reads a word again and again.
func manyWrites(h host.Host, n int) error {
	buf, _ := h.Alloc(64)
	pd, _ := h.Device().AllocPD()
	mr, _ := pd.RegisterMR(buf, verbs.LocalWrite)
	cq, _ := h.Device().CreateCQ(16, nil)
	prep, _ := pd.CreateQP(verbs.QPConfig{SendCQ: cq, RecvCQ: cq})
	ep, _ := prep.Endpoint().AppendBinary(nil)
	a, err := h.Call("server", "connect", ep, verbs.Forever)
	if err != nil {
		return err
	}
	var e verbs.Endpoint
	if err := e.UnmarshalBinary(a); err != nil {
		return err
	}
	qp, err := prep.Connect(e)
	if err != nil {
		return err
	}
	sge := []verbs.SGE{{Addr: buf.Addr(), Length: 8, LKey: mr.LKey()}}
	for i := range n {
		buf.Store64(0, uint64(i+1))
		at := uint64(1<<32 + 8*(i%8))
		for _, op := range []verbs.Opcode{verbs.OpWrite, verbs.OpRead} {
			if err := qp.PostSend([]verbs.SendWR{{Op: op, Flags: verbs.Signaled, RKey: 1, RemoteAddr: at, SGL: sge}}); err != nil {
				return err
			}
			if _, err := cq.Wait(make([]verbs.WC, 1), verbs.Forever); err != nil {
				return err
			}
		}
		if buf.Load64(0) != uint64(i+1) {
			return fmt.Errorf("read %d", i)
		}
	}
	return errors.New("enough")
}

func lend(h host.Host) {
	r, _ := h.Alloc(64)
	pd, _ := h.Device().AllocPD()
	_, _ = pd.RegisterMR(r, verbs.LocalWrite|verbs.RemoteWrite|verbs.RemoteRead)
	cq, _ := h.Device().CreateCQ(16, nil)
	l, _ := h.Listen("connect")
	req, err := l.Accept(verbs.Forever)
	if err != nil {
		return
	}
	var e verbs.Endpoint
	_ = e.UnmarshalBinary(req.Body())
	prep, _ := pd.CreateQP(verbs.QPConfig{SendCQ: cq, RecvCQ: cq, Access: verbs.RemoteWrite | verbs.RemoteRead})
	_, _ = prep.Connect(e)
	ep, _ := prep.Endpoint().AppendBinary(nil)
	req.Reply(ep)
	_, _ = l.Accept(verbs.Forever)
}
