package explore_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// The reduced search must reach exactly the outcomes of a search without any reduction,
// in which each arrival and placement is a separate step.
func TestReductionsLoseNothing(t *testing.T) {
	sequential(t)
	for _, s := range smallScenarios() {
		for _, profile := range []string{"strong", "srd"} { // explore/programs has the others
			if profile == "srd" && (strings.HasPrefix(s.Name, "small/crash") || strings.HasPrefix(s.Name, "small/torn")) {
				continue // what takes longest, and differs least
			}
			t.Run(s.Name+"/"+profile, func(t *testing.T) {
				opt := explore.Options{Profile: profile, Workers: 1}
				want, runs, done, err := explore.Naive(s, opt, true, 700_000)
				if err != nil {
					t.Fatal(err)
				}
				if !done {
					t.Errorf("the naive search did not end within %d runs: make the scenario smaller", runs)
				}
				r, err := explore.Check(s, opt)
				if err != nil {
					t.Fatal(err)
				}
				if r.Verdict != explore.Verified {
					t.Fatalf("verdict %s: %v %v", r.Verdict, r.Reason, r.Counterexample)
				}
				t.Logf("naive and eager %d runs, reduced %d runs of %d states, %d outcomes", runs, r.Runs, r.States, len(want))
				opt.EveryOrder = true
				full, _ := explore.Check(s, opt)
				if d := cmp.Diff(want, full.Outcomes); d != "" {
					t.Errorf("outcomes of late resolution alone differ (-naive +late):\n%s", d)
				}
				if d := cmp.Diff(want, r.Outcomes); d != "" {
					t.Errorf("outcomes differ (-naive +reduced):\n%s", d)
				}
			})
		}
	}
}

// client and serve make nodes that connect before the interesting part: the client's
// code does not run if the server has already terminated.
func client(name string, f func(h host.Host, w *wire)) sim.Node {
	return sim.Node{Name: name, Main: func(h host.Host, life int) {
		if w := connect(h, "b"); w != nil {
			f(h, w)
		}
	}}
}

func serve(n, clients int, f func(h host.Host, r host.Region, mr verbs.MR, qps []verbs.QP, cq verbs.CQ)) sim.Node {
	return sim.Node{Name: "b", Main: func(h host.Host, _ int) {
		server(h, n, clients, func(r host.Region, mr verbs.MR, qps []verbs.QP, cq verbs.CQ) { f(h, r, mr, qps, cq) })
	}}
}

const (
	inl = verbs.Inline
	sig = verbs.Signaled
)

func smallScenarios() []*explore.Scenario { return append(orderScenarios(), endScenarios()...) }

// orderScenarios are about the order of placements, and who observes it.
func orderScenarios() []*explore.Scenario {
	return []*explore.Scenario{
		scenario("flag-and-data", "", func(x *tiny) []sim.Node {
			return []sim.Node{client("a", func(h host.Host, w *wire) {
				w.buf.Store64(0, 1)
				w.post(verbs.OpWrite, inl, 0, 8, 0)
				w.post(verbs.OpWrite, inl|sig, 0, 8, 8)
			}), serve(16, 1, func(h host.Host, r host.Region, _ verbs.MR, _ []verbs.QP, _ verbs.CQ) {
				x.say(1, "f=%d", r.Load64(8))
				x.say(1, "d=%d", r.Load64(0))
			})}
		}),
		scenario("same-cell-twice", "", func(x *tiny) []sim.Node {
			return []sim.Node{client("a", func(h host.Host, w *wire) {
				w.buf.Store64(0, 1)
				w.post(verbs.OpWrite, inl, 0, 8, 0)
				w.buf.Store64(0, 2)
				w.post(verbs.OpWrite, inl|sig, 0, 8, 0)
			}), serve(8, 1, func(h host.Host, r host.Region, _ verbs.MR, _ []verbs.QP, _ verbs.CQ) {
				x.say(1, "x=%d", r.Load64(0))
				x.say(1, "x=%d", r.Load64(0))
			})}
		}),
		scenario("source-changes", "", func(x *tiny) []sim.Node {
			return []sim.Node{client("a", func(h host.Host, w *wire) {
				w.buf.Store64(0, 1)
				w.post(verbs.OpWrite, sig, 0, 8, 0)
				w.buf.Store64(0, 2)
				x.say(0, "%v", w.poll())
				w.buf.Store64(0, 3)
			}), serve(8, 1, func(h host.Host, r host.Region, _ verbs.MR, _ []verbs.QP, _ verbs.CQ) {
				x.say(1, "x=%d", r.Load64(0))
				x.say(1, "x=%d", r.Load64(0))
			})}
		}),
		scenario("read-sees-later-write", "", func(x *tiny) []sim.Node {
			return []sim.Node{client("a", func(h host.Host, w *wire) {
				w.buf.Store64(0, 1)
				w.post(verbs.OpRead, sig, 8, 8, 0)
				w.post(verbs.OpWrite, inl|sig, 0, 8, 0)
				x.say(0, "%v", w.poll())
				x.say(0, "read %d", w.buf.Load64(8))
			}), serve(8, 1, func(h host.Host, r host.Region, _ verbs.MR, _ []verbs.QP, _ verbs.CQ) {
				x.say(1, "x=%d", r.Load64(0))
			})}
		}),
		scenario("torn-read-of-cpu-stores", "", func(x *tiny) []sim.Node {
			return []sim.Node{client("a", func(h host.Host, w *wire) {
				w.post(verbs.OpRead, sig, 0, 16, 0)
				w.poll()
				x.say(0, "%d", w.buf.Load64(0))
				x.say(0, "%d", w.buf.Load64(8))
			}), serve(16, 1, func(h host.Host, r host.Region, _ verbs.MR, _ []verbs.QP, _ verbs.CQ) {
				r.Store64(0, 1)
				r.Store64(8, 1)
				l, _ := h.Listen("bye")
				_, _ = l.Accept(0)
			})}
		}),
		scenario("write-then-read-flushes", "", func(x *tiny) []sim.Node {
			return []sim.Node{client("a", func(h host.Host, w *wire) {
				w.buf.Store64(0, 1)
				w.post(verbs.OpWrite, inl, 0, 8, 0)
				w.post(verbs.OpRead, sig, 8, 8, 0)
				w.poll()
				x.say(0, "read %d", w.buf.Load64(8))
			}), serve(8, 1, func(h host.Host, r host.Region, _ verbs.MR, _ []verbs.QP, _ verbs.CQ) {
				x.say(1, "x=%d", r.Load64(0))
			})}
		}),
		scenario("two-atomics", "", func(x *tiny) []sim.Node {
			c := func(name string, i int) sim.Node {
				return client(name, func(h host.Host, w *wire) {
					w.post(verbs.OpFetchAdd, sig, 0, 8, 0, 1)
					x.say(i, "%v", w.poll())
					x.say(i, "old %d", w.buf.Load64(0))
				})
			}
			return []sim.Node{c("a", 0), {Name: "b", Daemon: true, Main: func(h host.Host, _ int) { server(h, 8, 1, nil) }}}
		}),
	}
}

// endScenarios are about crashes, revocation, receives and broken connections.
func endScenarios() []*explore.Scenario {
	return []*explore.Scenario{
		scenario("read-posted-before-the-acknowledgement", "", func(x *tiny) []sim.Node {
			return []sim.Node{client("a", func(h host.Host, w *wire) {
				// The Read of one connection may have sampled before the write of
				// another, although its completion is seen after the acknowledgement.
				w2 := connect(h, "b")
				if w2 == nil {
					return
				}
				w.buf.Store64(0, 1)
				w2.post(verbs.OpRead, sig, 8, 8, 0)
				w.post(verbs.OpWrite, inl|sig, 0, 8, 0)
				if w.poll() == 0 && w2.poll() == 0 {
					x.say(0, "read %d", w2.buf.Load64(8))
				}
			}), {Name: "b", Daemon: true, Main: func(h host.Host, _ int) { server(h, 8, 3, nil) }}}
		}),
		scenario("crash-of-the-requester", "crash(a)<=1", func(x *tiny) []sim.Node {
			return []sim.Node{{Name: "a", Again: func(int, bool) bool { return false }, Main: func(h host.Host, _ int) {
				if w := connect(h, "b"); w != nil {
					w.buf.Store64(0, 1)
					w.post(verbs.OpWrite, inl, 0, 8, 0)
					w.post(verbs.OpWrite, inl|sig, 0, 8, 8)
					x.say(0, "%v", w.poll())
				}
			}}, serve(16, 1, func(h host.Host, r host.Region, _ verbs.MR, _ []verbs.QP, _ verbs.CQ) {
				x.say(1, "d=%d", r.Load64(0))
				x.say(1, "f=%d", r.Load64(8))
			})}
		}),
		scenario("revoked-while-in-flight", "", func(x *tiny) []sim.Node {
			return []sim.Node{client("a", func(h host.Host, w *wire) {
				w.buf.Store64(0, 1)
				w.post(verbs.OpWrite, inl|sig, 0, 8, 0)
				x.say(0, "%v", w.poll())
			}), serve(8, 1, func(h host.Host, r host.Region, mr verbs.MR, _ []verbs.QP, _ verbs.CQ) {
				_ = mr.Dereg()
				x.say(1, "x=%d", r.Load64(0))
				x.say(1, "x=%d", r.Load64(0))
			})}
		}),
		scenario("write-with-immediate", "", func(x *tiny) []sim.Node {
			return []sim.Node{client("a", func(h host.Host, w *wire) {
				w.buf.Store64(0, 1)
				w.post(verbs.OpWrite, inl, 0, 8, 0)
				w.post(verbs.OpWriteImm, inl|sig, 0, 8, 8)
				w.poll() // the last messages of a machine that terminates may be lost
			}), serve(16, 1, func(h host.Host, r host.Region, _ verbs.MR, _ []verbs.QP, cq verbs.CQ) {
				x.say(1, "d=%d", r.Load64(0))
				var wc [1]verbs.WC
				_, _ = cq.Wait(wc[:], verbs.Forever)
				x.say(1, "%v d=%d", wc[0].Op, r.Load64(0))
			})}
		}),
		scenario("send-and-receive", "", func(x *tiny) []sim.Node {
			return []sim.Node{client("a", func(h host.Host, w *wire) {
				w.buf.Store64(0, 1)
				w.post(verbs.OpWrite, inl, 0, 8, 0)
				w.post(verbs.OpSend, inl|sig, 0, 8, 0)
				x.say(0, "%v", w.poll())
			}), serve(8, 1, func(h host.Host, r host.Region, _ verbs.MR, _ []verbs.QP, cq verbs.CQ) {
				var wc [1]verbs.WC
				_, _ = cq.Wait(wc[:], verbs.Forever)
				x.say(1, "%v %d", wc[0].Op, wc[0].ByteLen)
				x.say(1, "d=%d", r.Load64(0))
			})}
		}),
		scenario("broken-connection", "break(a,b)<=1", func(x *tiny) []sim.Node {
			return []sim.Node{client("a", func(h host.Host, w *wire) {
				w.buf.Store64(0, 1)
				w.post(verbs.OpWrite, inl|sig, 0, 8, 0)
				x.say(0, "%v", w.poll())
			}), serve(8, 1, func(h host.Host, r host.Region, _ verbs.MR, _ []verbs.QP, _ verbs.CQ) {
				x.say(1, "x=%d", r.Load64(0))
				x.say(1, "x=%d", r.Load64(0))
			})}
		}),
		scenario("interchangeable-responders", "crash(b*)<=1", func(x *tiny) []sim.Node {
			b := func(name string) sim.Node {
				return sim.Node{Name: name, Daemon: true, Symmetric: true, Again: func(int, bool) bool { return false },
					Main: func(h host.Host, _ int) { server(h, 8, 2, nil) }}
			}
			return []sim.Node{{Name: "a", Main: func(h host.Host, _ int) {
				failed := 0
				for _, to := range []string{"b1", "b2"} {
					if w := connect(h, to); w == nil {
						failed++
					} else if w.post(verbs.OpWrite, inl|sig, 0, 8, 0); w.poll() != verbs.StatusSuccess {
						failed += 10
					}
				}
				x.say(0, "failed %d", failed)
			}}, b("b1"), b("b2")}
		}),
		scenario("responder-crashes", "crash(b)<=1", func(x *tiny) []sim.Node {
			return []sim.Node{client("a", func(h host.Host, w *wire) {
				w.buf.Store64(0, 1)
				w.post(verbs.OpWrite, inl|sig, 0, 8, 0)
				x.say(0, "%v", w.poll())
			}), {Name: "b", Daemon: true, Again: func(int, bool) bool { return false }, Main: func(h host.Host, _ int) {
				server(h, 8, 1, func(r host.Region, _ verbs.MR, _ []verbs.QP, _ verbs.CQ) {
					l, _ := h.Listen("bye")
					_, _ = l.Accept(verbs.Forever)
				})
			}}}
		}),
	}
}
