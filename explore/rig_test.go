package explore_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// A rig runs programs written as text, for which it compares late resolution with the
// eager machine. All hosts are connected before the program starts, so a run has only
// the steps of the program. A line is a host's: its name, a colon, and its acts,
// separated by semicolons; a host with several lines has as many tasks.
type rig struct {
	c     *explore.Case
	stays bool // hosts stay up when their code has returned
	rnr   int  // how often a Send without a receive is retried; 7 is forever
	names []string
	code  [][]string // lines of each host
	hosts []*rigHost
}

type rigHost struct {
	x    *rig
	i    int
	h    host.Host
	mem  host.Region // 16 bytes that all can reach
	buf  host.Region // sources, results and receives
	mrs  [2]verbs.MR // of mem
	lmr  verbs.MR
	qps  map[string]verbs.QP
	cqs  map[string]verbs.CQ
	lis  map[string]host.Listener
	logs []string
}

// rigScenario is the scenario of a program.
func rigScenario(text, faults string, stays bool, rnr int) *explore.Scenario {
	return &explore.Scenario{Name: "test/rig", Faults: faults, Build: func(c *explore.Case) (sim.Config, error) {
		x := &rig{c: c, stays: stays, rnr: rnr}
		for _, line := range strings.Split(text, "|") {
			name, code, _ := strings.Cut(strings.TrimSpace(line), ":")
			i := slices.Index(x.names, name)
			if i < 0 {
				i = len(x.names)
				x.names, x.code = append(x.names, name), append(x.code, nil)
			}
			x.code[i] = append(x.code[i], code)
		}
		cfg := sim.Config{Profile: c.Profile, Budget: c.Budget, Linger: stays, Setup: x.setup}
		for i, name := range x.names {
			cfg.Nodes = append(cfg.Nodes, sim.Node{Name: name, Again: func(int, bool) bool { return false },
				Main: func(h host.Host, _ int) { x.run(i, h) }})
		}
		if stays {
			cfg.AtEnd = x.end
		}
		c.OnReset(func() { x.hosts = nil; c.Outcome("nothing") })
		return cfg, nil
	}}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// setup connects every two hosts.
func (x *rig) setup(hosts []*sim.Host) {
	x.hosts = nil
	prepared := map[[2]int]verbs.PreparedQP{}
	for i, h := range hosts {
		b := &rigHost{x: x, i: i, h: h, qps: map[string]verbs.QP{}, cqs: map[string]verbs.CQ{}, lis: map[string]host.Listener{},
			logs: make([]string, len(x.code[i]))}
		b.mem, b.buf = must(h.Alloc(16)), must(h.Alloc(256))
		for k := range 8 {
			b.buf.Store64(8*k, uint64(10*(i+1)+k))
		}
		pd := must(h.Device().AllocPD())
		b.mrs[0], b.mrs[1] = must(pd.RegisterMR(b.mem, all)), must(pd.RegisterMR(b.mem, all))
		b.lmr = must(pd.RegisterMR(b.buf, verbs.LocalWrite))
		for j, name := range x.names {
			if j != i {
				b.cqs[name] = must(h.Device().CreateCQ(16, nil))
				b.lis[name] = must(h.Listen("from " + name))
				prepared[[2]int{i, j}] = must(pd.CreateQP(verbs.QPConfig{SendCQ: b.cqs[name], RecvCQ: b.cqs[name], Access: all, MaxInline: h.Device().Attr().MaxInline, RNRRetry: x.rnr}))
			}
		}
		x.hosts = append(x.hosts, b)
	}
	for i, a := range x.hosts {
		for j, name := range x.names {
			if j != i {
				a.qps[name] = must(prepared[[2]int{i, j}].Connect(prepared[[2]int{j, i}].Endpoint()))
			}
		}
	}
}

func (x *rig) run(i int, h host.Host) {
	b := x.hosts[i]
	for k, code := range x.code[i][1:] {
		h.Go("t", func() { b.line(k+1, code) })
	}
	b.line(0, x.code[i][0])
}

func (b *rigHost) line(k int, code string) {
	for act := range strings.SplitSeq(code, ";") {
		if act = strings.TrimSpace(act); act != "" {
			b.act(k, act)
		}
	}
}

// end reads all memory when all is quiet.
func (x *rig) end(hosts []*sim.Host) {
	text := x.text()
	for i, b := range x.hosts {
		if hosts[i].Alive() {
			text += fmt.Sprintf(" | %s %v", x.names[i], hosts[i].Settle(b.mem, 0, 16))
		}
	}
	x.c.Outcome(text)
}

func (b *rigHost) say(k int, format string, args ...any) {
	b.logs[k] += " " + fmt.Sprintf(format, args...)
	text := b.x.text()
	b.x.c.Outcome(text)
	b.x.c.History(fingerprint.Print{}.String(text))
}

func (x *rig) text() string {
	out := ""
	for i, b := range x.hosts {
		out += x.names[i] + ":" + strings.Join(b.logs, ",") + " "
	}
	return strings.TrimSpace(out)
}

// act performs one act: a verb, its host and numbers, and flags.
func (b *rigHost) act(k int, text string) {
	f := strings.Fields(text)
	num := func(i int) int {
		if i < len(f) {
			v, _ := strconv.Atoi(f[i])
			return v
		}
		return 0
	}
	to := ""
	if len(f) > 1 {
		to = f[1]
	}
	switch f[0] {
	case "write", "wide", "imm", "read", "wread", "add", "cas", "send":
		b.post(k, f, to, num)
	case "recv":
		slot := 160 + 8*num(2)
		err := b.qps[to].PostRecv([]verbs.RecvWR{{ID: uint64(slot), SGL: []verbs.SGE{{Addr: b.buf.Addr() + uint64(slot), Length: 8, LKey: b.lmr.LKey()}}}})
		b.oops(k, err)
	case "waits":
		b.say(k, "%d", must(b.cqs[to].Wait(make([]verbs.WC, 4), verbs.Forever)))
	case "wait", "poll":
		var wc [1]verbs.WC
		n := 1
		if f[0] == "wait" {
			_ = must(b.cqs[to].Wait(wc[:], verbs.Forever))
		} else if n = must(b.cqs[to].Poll(wc[:])); n == 0 {
			b.say(k, "none")
			return
		}
		c := wc[0]
		if c.Status == verbs.StatusSuccess && c.ID >= 80 { // something has come into a slot
			b.say(k, "%v=%d", c.Op, b.buf.Load64(int(c.ID)))
			return
		}
		b.say(k, "%v", c.Status)
	case "load":
		b.say(k, "%d", b.mem.Load64(num(1)))
	case "wload":
		var p [16]byte
		b.mem.Load(0, p[:])
		b.say(k, "%d,%d", p[0], p[8])
	case "store":
		b.mem.Store64(num(1), uint64(num(2)))
	case "bump":
		b.say(k, "%d", b.mem.Add64(num(1), uint64(num(2))))
	case "source":
		b.buf.Store64(8*num(1), uint64(num(2)))
	case "state":
		b.say(k, "%v", b.qps[to].State())
	case "err":
		b.oops(k, b.qps[to].Modify(verbs.QPAttr{SetState: true, State: verbs.StateErr}))
	case "sqd":
		b.oops(k, b.qps[to].Modify(verbs.QPAttr{SetState: true, State: verbs.StateSQD}))
	case "rts":
		b.oops(k, b.qps[to].Modify(verbs.QPAttr{SetState: true, State: verbs.StateRTS}))
	case "reset":
		b.oops(k, b.qps[to].Modify(verbs.QPAttr{SetState: true, State: verbs.StateReset}))
	case "noaccess":
		b.oops(k, b.qps[to].Modify(verbs.QPAttr{Mask: verbs.AttrAccess, Access: verbs.RemoteRead}))
	case "destroy":
		b.oops(k, b.qps[to].Destroy())
	case "dereg":
		b.oops(k, b.mrs[num(1)].Dereg())
	case "tell":
		b.h.Gather([]host.Call{{To: to, Service: "from " + b.x.names[b.i]}}, verbs.Forever)
	case "call":
		if _, err := b.h.Call(to, "from "+b.x.names[b.i], nil, verbs.Forever); err != nil {
			b.say(k, "unreachable")
		}
	case "hear":
		_ = must(b.lis[to].Accept(verbs.Forever))
	case "now":
		b.say(k, "%v", b.h.Now())
	default:
		panic("unknown act " + text)
	}
}

func (b *rigHost) oops(k int, err error) {
	if err != nil {
		b.say(k, "oops")
	}
}

// post posts a request: the peer, the offset there, a number, and flags.
func (b *rigHost) post(k int, f []string, to string, num func(int) int) {
	peer := b.x.hosts[slices.Index(b.x.names, to)]
	off, v := num(2), num(3)
	wr := verbs.SendWR{RKey: peer.mrs[0].RKey(), RemoteAddr: peer.mem.Addr() + uint64(off), Flags: inl}
	n, src := 8, 8*v
	switch f[0] {
	case "write":
		wr.Op = verbs.OpWrite
	case "wide":
		wr.Op, n = verbs.OpWrite, 16
	case "imm":
		wr.Op = verbs.OpWriteImm
	case "send":
		wr.Op = verbs.OpSend
	case "read":
		wr.Op, wr.Flags, src = verbs.OpRead, sig, 80+8*v
	case "wread":
		wr.Op, wr.Flags, src, n = verbs.OpRead, sig, 80+8*v, 16
	case "add":
		wr.Op, wr.Flags, wr.Add, src = verbs.OpFetchAdd, sig, 100, 80+8*v
	case "cas":
		wr.Op, wr.Flags, wr.Compare, wr.Swap, src = verbs.OpCompareSwap, sig, 0, 200, 80+8*v
	}
	for _, flag := range f[2:] {
		switch flag {
		case "sig":
			wr.Flags |= sig
		case "quiet":
			wr.Flags &^= sig
		case "fence":
			wr.Flags |= verbs.Fence
		case "late":
			wr.Flags &^= inl
		case "bad":
			wr.RKey = 99
		case "key1":
			wr.RKey = peer.mrs[1].RKey()
		}
	}
	wr.SGL = []verbs.SGE{{Addr: b.buf.Addr() + uint64(src), Length: uint32(n), LKey: b.lmr.LKey()}}
	wr.ID = uint64(src)
	b.oops(k, b.qps[to].PostSend([]verbs.SendWR{wr}))
}

// reports reports an outcome.
func reports(c *explore.Case, outcome string) {
	c.Report(fingerprint.Print{}.String(outcome))
	c.Outcome(outcome)
}
