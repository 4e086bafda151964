package explore_test

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// The searches of the tests keep their allocations, as those of the command do.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}

// sequential ends a long test of single-worker searches under -short, which CI uses
// with the race detector: it would find nothing here.
func sequential(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: searches with one worker, for minutes under the race detector")
	}
}

// tiny builds small scenarios of hosts that write to each other. Each host logs its
// observations; the outcome is all of them.
type tiny struct {
	name string
	logs [][]string
	c    *explore.Case
}

func (x *tiny) say(h int, format string, args ...any) {
	x.logs[h] = append(x.logs[h], fmt.Sprintf(format, args...))
	x.c.Outcome(x.text())
	x.c.History(fingerprint.Print{}.String(x.text()))
}

func (x *tiny) text() string {
	parts := make([]string, len(x.logs))
	for i, l := range x.logs {
		parts[i] = strings.Join(l, " ")
	}
	return strings.Join(parts, " | ")
}

func scenario(name, faults string, build func(x *tiny) []sim.Node) *explore.Scenario {
	return &explore.Scenario{Name: "small/" + name, Faults: faults, Build: func(c *explore.Case) (sim.Config, error) {
		x := &tiny{name: name, c: c}
		nodes := build(x)
		c.OnReset(func() {
			x.logs = make([][]string, len(nodes))
			c.Outcome("nothing")
		})
		return sim.Config{Nodes: nodes, Profile: c.Profile, Budget: c.Budget}, nil
	}}
}

// wire is a connection of a client to a server's region of n bytes.
type wire struct {
	h      host.Host
	qp     verbs.QP
	cq     verbs.CQ
	buf    host.Region
	mr     verbs.MR
	remote uint64
	rkey   uint32
}

const all = verbs.LocalWrite | verbs.RemoteWrite | verbs.RemoteRead | verbs.RemoteAtomic

// server offers n bytes to any number of clients; f runs once ready connections exist.
// The server does not answer afterwards.
func server(h host.Host, n, clients int, f func(r host.Region, mr verbs.MR, qps []verbs.QP, cq verbs.CQ)) {
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	r, err := h.Alloc(n)
	must(err)
	pd, err := h.Device().AllocPD()
	must(err)
	mr, err := pd.RegisterMR(r, all)
	must(err)
	cq, err := h.Device().CreateCQ(16, nil)
	must(err)
	l, err := h.Listen("connect")
	must(err)
	var qps []verbs.QP
	for range clients {
		req, err := l.Accept(time.Second) // the timer fires when nothing else can happen
		if err != nil {
			return
		}
		var e verbs.Endpoint
		must(e.UnmarshalBinary(req.Body()))
		p, err := pd.CreateQP(verbs.QPConfig{SendCQ: cq, RecvCQ: cq, Access: all, MaxInline: 8})
		must(err)
		rr, err := h.Alloc(8)
		must(err)
		rmr, err := pd.RegisterMR(rr, verbs.LocalWrite)
		must(err)
		must(p.PostRecv([]verbs.RecvWR{{ID: 77, SGL: []verbs.SGE{{Addr: rr.Addr(), Length: 8, LKey: rmr.LKey()}}}}))
		qp, err := p.Connect(e)
		must(err)
		qps = append(qps, qp)
		b, _ := p.Endpoint().AppendBinary(nil)
		req.Reply(append(b, byte(mr.RKey())))
	}
	if f != nil {
		f(r, mr, qps, cq)
	}
}

func connect(h host.Host, to string) *wire { return connectWith(h, to, 64) }

// connectWith is connect with a buffer of so many bytes.
func connectWith(h host.Host, to string, size int) *wire {
	buf, _ := h.Alloc(size)
	pd, _ := h.Device().AllocPD()
	mr, _ := pd.RegisterMR(buf, verbs.LocalWrite)
	cq, _ := h.Device().CreateCQ(16, nil)
	p, err := pd.CreateQP(verbs.QPConfig{SendCQ: cq, RecvCQ: cq, MaxInline: 8})
	if err != nil {
		panic(err)
	}
	b, _ := p.Endpoint().AppendBinary(nil)
	a, err := h.Call(to, "connect", b, verbs.Forever)
	if err != nil {
		return nil
	}
	var e verbs.Endpoint
	if err := e.UnmarshalBinary(a[:verbs.EndpointSize]); err != nil {
		panic(err)
	}
	qp, err := p.Connect(e)
	if err != nil {
		panic(err)
	}
	return &wire{h: h, qp: qp, cq: cq, buf: buf, mr: mr, remote: 1 << 32, rkey: uint32(a[verbs.EndpointSize])}
}

func (w *wire) post(op verbs.Opcode, flags verbs.SendFlags, loff, n, roff int, more ...uint64) {
	wr := verbs.SendWR{ID: uint64(roff), Op: op, Flags: flags, RKey: w.rkey, RemoteAddr: w.remote + uint64(roff),
		SGL: []verbs.SGE{{Addr: w.buf.Addr() + uint64(loff), Length: uint32(n), LKey: w.mr.LKey()}}}
	if len(more) > 0 {
		wr.Add, wr.Compare = more[0], more[0]
	}
	if len(more) > 1 {
		wr.Swap = more[1]
	}
	if err := w.qp.PostSend([]verbs.SendWR{wr}); err != nil {
		panic(err)
	}
}

// poll waits for one completion and returns its status.
func (w *wire) poll() verbs.Status {
	var wc [1]verbs.WC
	if _, err := w.cq.Wait(wc[:], verbs.Forever); err != nil {
		panic(err)
	}
	return wc[0].Status
}
