package explore_test

import (
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// What a task knows goes with it when it ends. These scenarios lost outcomes because a state
// left out what such a task had said or learned, although others find it in a handle that they share.

// said builds a scenario whose outcome is what its code says.
func saying(name, faults string, build func(say func(f string, a ...any)) sim.Config) *explore.Scenario {
	return &explore.Scenario{Name: "test/" + name, Profile: "strong", Faults: faults, Build: func(c *explore.Case) (sim.Config, error) {
		said := &tiny{c: c}
		c.OnReset(func() { said.logs = make([][]string, 1); c.Outcome("nothing") })
		cfg := build(func(f string, a ...any) { said.say(0, f, a...) })
		cfg.Profile, cfg.Budget = c.Profile, c.Budget
		return cfg, nil
	}}
}

func TestAnotherTaskFindsTheAnswersOfAGather(t *testing.T) {
	agree(t, saying("shared-gather", "", func(say func(string, ...any)) sim.Config {
		a := sim.Node{Name: "a", Main: func(h host.Host, _ int) {
			r := must(h.Alloc(8))
			g := h.Gather([]host.Call{{To: "b", Service: "s"}}, -1)
			h.Go("other", func() { g.Wait(1); r.Store64(0, 1) })
			if r.Load64(0) == 1 {
				say("%v", g.Wait(1)[0].Body)
			}
		}}
		b := sim.Node{Name: "b", Daemon: true, Main: func(h host.Host, _ int) {
			must(must(h.Listen("s")).Accept(-1)).Reply([]byte{byte(h.Rand(2))})
		}}
		return sim.Config{Nodes: []sim.Node{a, b}}
	}), "nothing", "[]", "[0]", "[1]")
}

func TestAnotherTaskFindsThatAGatherTimedOut(t *testing.T) {
	agree(t, saying("shared-gather-timeout", "", func(say func(string, ...any)) sim.Config {
		a := sim.Node{Name: "a", Main: func(h host.Host, _ int) {
			r := must(h.Alloc(8))
			g := h.Gather([]host.Call{{To: "b", Service: "s"}}, 1)
			h.Go("other", func() { g.Wait(1); r.Store64(0, 1) })
			if r.Load64(0) == 1 {
				say("%v", g.Wait(1)[0].Body)
			}
		}}
		b := sim.Node{Name: "b", Daemon: true, Main: func(h host.Host, _ int) {
			if r := must(must(h.Listen("s")).Accept(-1)); h.Rand(2) == 1 {
				r.Reply([]byte{1})
			}
		}}
		return sim.Config{Nodes: []sim.Node{a, b}}
	}), "nothing", "[]", "[1]")
}

// A message may outlive who sends it, and what that one has found of another's answers.
func TestWhatAnotherTaskFoundIsTold(t *testing.T) {
	searchesAgree(t, saying("shared-gather-told", "", func(say func(string, ...any)) sim.Config {
		a := sim.Node{Name: "a", Main: func(h host.Host, _ int) {
			r := must(h.Alloc(8))
			g := h.Gather([]host.Call{{To: "b", Service: "s"}}, -1)
			h.Go("other", func() { g.Wait(1); r.Store64(0, 1) })
			if r.Load64(0) == 1 {
				h.Gather([]host.Call{{To: "c", Service: "t", Body: g.Wait(1)[0].Body}}, -1)
			}
		}}
		b := sim.Node{Name: "b", Daemon: true, Main: func(h host.Host, _ int) {
			must(must(h.Listen("s")).Accept(-1)).Reply([]byte{byte(h.Rand(2))})
		}}
		c := sim.Node{Name: "c", Symmetric: true, Main: func(h host.Host, _ int) {
			l := must(h.Listen("t"))
			_, _ = h.Call("a", "ends", nil, -1)
			say("%v", must(l.Accept(-1)).Body())
		}}
		d := c
		d.Name = "d"
		return sim.Config{Nodes: []sim.Node{a, b, c, d}, Hung: func([]string) { say("hangs") }}
	}), "[0] hangs", "[1] hangs", "[] hangs", "hangs")
}

// connected connects queue pairs of the first two hosts before a run.
func connected(q *verbs.QP, c *verbs.CQ) func([]*sim.Host) {
	return func(hosts []*sim.Host) {
		var p [2]verbs.PreparedQP
		for i, h := range hosts[:2] {
			cq := must(h.Device().CreateCQ(16, nil))
			p[i] = must(must(h.Device().AllocPD()).CreateQP(verbs.QPConfig{SendCQ: cq, RecvCQ: cq, Access: all}))
			if i == 0 {
				*c = cq
			}
		}
		*q = must(p[0].Connect(p[1].Endpoint()))
		must(p[1].Connect(p[0].Endpoint()))
	}
}

// Two tasks post to an interchangeable host, and a third polls what completes.
func TestTheIDsOfTwoTasksRequestsDiffer(t *testing.T) {
	searchesAgree(t, saying("ids", "", func(say func(string, ...any)) sim.Config {
		var q verbs.QP
		var cq verbs.CQ
		a := sim.Node{Name: "a", Main: func(h host.Host, _ int) {
			for _, id := range []uint64{10, 20} {
				h.Go("post", func() {
					if err := q.PostSend([]verbs.SendWR{{ID: id, Op: verbs.OpWrite, Flags: verbs.Signaled}}); err != nil {
						panic(err)
					}
				})
			}
			var wc [2]verbs.WC
			must(cq.Wait(wc[:1], -1))
			must(cq.Wait(wc[1:], -1))
			q.State()
			say("%d %d", wc[0].ID, wc[1].ID)
		}}
		idle := func(host.Host, int) {}
		return sim.Config{Nodes: []sim.Node{a, {Name: "b", Symmetric: true, Main: idle}, {Name: "c", Symmetric: true, Main: idle}}, Linger: true, Setup: connected(&q, &cq)}
	}), "10 20", "20 10")
}

// A card's patience is part of the state when the task has ended that asked for it.
func TestTheConfigurationOfAQueuePairOutlivesItsTask(t *testing.T) {
	for _, first := range []int{1, 7} {
		agree(t, saying("rnr-retry", "", func(say func(string, ...any)) sim.Config {
			half := func(h host.Host, retries int) (verbs.PreparedQP, verbs.CQ) {
				cq := must(h.Device().CreateCQ(16, nil))
				return must(must(h.Device().AllocPD()).CreateQP(verbs.QPConfig{SendCQ: cq, RecvCQ: cq, Access: all, RNRRetry: retries})), cq
			}
			meet := func(p verbs.PreparedQP, other []byte) verbs.QP {
				var e verbs.Endpoint
				if err := e.UnmarshalBinary(other); err != nil {
					panic(err)
				}
				return must(p.Connect(e))
			}
			a := sim.Node{Name: "a", Main: func(h host.Host, _ int) {
				h.Go("send", func() {
					retries := first
					if h.Rand(2) == 1 {
						retries = 8 - first
					}
					p, _ := half(h, retries)
					q := meet(p, must(h.Call("b", "meet", must(p.Endpoint().AppendBinary(nil)), -1)))
					if err := q.PostSend([]verbs.SendWR{{Op: verbs.OpSend}}); err != nil {
						panic(err)
					}
				})
				must(must(h.Listen("never")).Accept(-1))
			}}
			a.Daemon = true
			b := sim.Node{Name: "b", Main: func(h host.Host, _ int) {
				p, cq := half(h, 7)
				r := must(must(h.Listen("meet")).Accept(-1))
				q := meet(p, r.Body())
				r.Reply(must(p.Endpoint().AppendBinary(nil)))
				if err := q.PostRecv([]verbs.RecvWR{{}}); err != nil {
					panic(err)
				}
				var wc [1]verbs.WC
				must(cq.Wait(wc[:], -1))
				say("received")
			}}
			return sim.Config{Nodes: []sim.Node{a, b}, Hung: func([]string) { say("hangs") }}
		}), "received", "hangs")
	}
}

// What a queue pair takes is part of the state when the task has ended that chose it: another task finds the queue pair.
func TestTheLimitsOfAQueuePairOutliveTheirTask(t *testing.T) {
	two := make([]verbs.SGE, 2)
	posts := func(wrs ...verbs.SendWR) func(verbs.QP) error {
		return func(q verbs.QP) error { return q.PostSend(wrs) }
	}
	for name, x := range map[string]struct { //lint:ordered each is compared
		chosen func(more int) verbs.QPConfig
		use    func(verbs.QP) error
	}{
		"sends":    {func(more int) verbs.QPConfig { return verbs.QPConfig{MaxSendWR: 1 + more} }, posts(verbs.SendWR{Op: verbs.OpSend}, verbs.SendWR{Op: verbs.OpSend})},
		"receives": {func(more int) verbs.QPConfig { return verbs.QPConfig{MaxRecvWR: 1 + more} }, func(q verbs.QP) error { return q.PostRecv(make([]verbs.RecvWR, 2)) }},
		"pieces":   {func(more int) verbs.QPConfig { return verbs.QPConfig{MaxSGE: 1 + more} }, posts(verbs.SendWR{Op: verbs.OpSend, SGL: two})},
		"inline": {func(more int) verbs.QPConfig { return verbs.QPConfig{MaxInline: 8 + 8*more} },
			posts(verbs.SendWR{Op: verbs.OpSend, Flags: verbs.Inline, SGL: []verbs.SGE{{Length: 16}}})},
	} {
		searchesAgree(t, saying("limit of "+name, "", func(say func(string, ...any)) sim.Config {
			var there verbs.Endpoint
			prepared := func(h host.Host, cfg verbs.QPConfig) verbs.PreparedQP {
				cfg.SendCQ = must(h.Device().CreateCQ(16, nil))
				cfg.RecvCQ = cfg.SendCQ
				return must(must(h.Device().AllocPD()).CreateQP(cfg))
			}
			a := sim.Node{Name: "a", Main: func(h host.Host, _ int) {
				r := must(h.Alloc(8))
				var q verbs.QP
				h.Go("makes", func() { q = must(prepared(h, x.chosen(h.Rand(2))).Connect(there)); r.Store64(0, 1) })
				if r.Load64(0) == 1 {
					say("%t", x.use(q) == nil)
				}
			}}
			setup := func(hosts []*sim.Host) { there = prepared(hosts[1], verbs.QPConfig{}).Endpoint() }
			return sim.Config{Nodes: []sim.Node{a, {Name: "b", Main: func(host.Host, int) {}}}, Setup: setup, Linger: true}
		}), "false", "true", "nothing")
	}
}

// A daemon that opens persistent memory after it has taken a request may crash in between.
func TestADaemonMayCrashBeforeItOpensItsFirstRegion(t *testing.T) {
	agree(t, saying("first-region", "crash(b)<=1", func(say func(string, ...any)) sim.Config {
		take := func(h host.Host, name string) host.Request { return must(must(h.Listen(name)).Accept(-1)) }
		b := sim.Node{Name: "b", Daemon: true, Again: func(life int, _ bool) bool { return life == 0 }, Main: func(h host.Host, life int) {
			if life == 1 {
				take(h, "read").Reply([]byte{byte(must(h.OpenPMEM("log", 8)).Load64(0))})
				take(h, "never")
			}
			l := must(h.Listen("add"))
			take(h, "lives").Reply(nil)
			must(l.Accept(-1))
			must(h.OpenPMEM("log", 8)).Add64(0, 1)
			must(l.Accept(-1))
		}}
		a := sim.Node{Name: "a", Main: func(h host.Host, _ int) {
			h.Gather([]host.Call{{To: "b", Service: "add"}}, -1)
			if _, err := h.Call("b", "lives", nil, -1); err != nil {
				return
			}
			_, err := h.Call("b", "read", nil, -1)
			n, _ := h.Call("b", "read", nil, -1)
			say("%v %v", err != nil, n)
		}}
		return sim.Config{Nodes: []sim.Node{b, a}, Hung: func([]string) {}}
	}), "nothing", "true [0]", "true [1]", "true []")
}

// Nothing of how often an earlier life registered memory shows in the keys of the next.
func TestKeysTellNothingOfEarlierLives(t *testing.T) {
	agree(t, saying("keys", "crash(b)<=1", func(say func(string, ...any)) sim.Config {
		b := sim.Node{Name: "b", Again: func(life int, _ bool) bool { return life == 0 }, Main: func(h host.Host, life int) {
			if life == 0 {
				must(h.Call("a", "s", nil, -1))
			}
			mr := must(must(h.Device().AllocPD()).RegisterMR(must(h.Alloc(8)), verbs.LocalWrite))
			if life == 0 {
				must(must(h.Listen("s")).Accept(-1))
				return
			}
			say("%#x", mr.RKey())
		}}
		a := sim.Node{Name: "a", Main: func(h host.Host, _ int) { must(must(h.Listen("s")).Accept(-1)).Reply(nil) }}
		return sim.Config{Nodes: []sim.Node{b, a}, Linger: true}
	}), "nothing", "0x100001")
}
