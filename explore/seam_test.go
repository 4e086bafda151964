package explore_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// unheard is a scenario in which a host sees the first of two Writes of another before
// the checks have heard of the second.
func unheard() *explore.Scenario {
	return &explore.Scenario{Name: "test/unheard", Build: func(c *explore.Case) (sim.Config, error) {
		x := &tiny{c: c}
		c.OnReset(func() { x.logs = make([][]string, 2) })
		nodes := []sim.Node{
			client("a", func(h host.Host, w *wire) {
				w.buf.Store(0, []byte{1})
				w.post(verbs.OpWrite, 0, 0, 1, 0)
				w.post(verbs.OpWrite, 0, 0, 1, 1)
				x.say(0, "posted")
			}),
			serve(8, 1, func(h host.Host, r host.Region, mr verbs.MR, qps []verbs.QP, cq verbs.CQ) {
				seen := r.Load64(0)
				c.Look()
				if seen != 0 && len(x.logs[0]) == 0 {
					c.Fail(errors.New("seen before it was reported"))
				}
				x.say(1, "looked")
			}),
		}
		return sim.Config{Nodes: nodes, Profile: c.Profile, Budget: c.Budget}, nil
	}}
}

// Two posts in a row are one step, but others can react to the first and report that before
// the second is reported.
func TestReportsBetweenTwoPosts(t *testing.T) {
	s := unheard()
	for name, opt := range map[string]explore.Options{"reduced": {}, "every order": {EveryOrder: true}, "eager": {Eager: true}} {
		r, err := explore.Check(s, opt)
		if err != nil || r.Verdict != explore.Violated {
			t.Errorf("%s: %v, %+v", name, err, r)
			continue
		}
		if !slices.ContainsFunc(r.Counterexample.Decisions, func(d explore.Decision) bool { return strings.HasSuffix(d.At, "/stop") }) {
			t.Errorf("%s: no decision says where the step stops: %v", name, r.Counterexample.Decisions)
		}
		if opt.Eager {
			continue // such a run repeats in eager mode only
		}
		if again, err := r.Counterexample.Replay(s); err != nil || again.Err == nil {
			t.Errorf("%s: the replay %v, %+v", name, err, again)
		}
	}
	all, _, done, err := explore.Naive(s, explore.Options{}, false, 100_000)
	if err != nil || !done || !slices.Contains(all, "violation: violation") {
		t.Errorf("the naive search finds %q, %t, %v", all, done, err)
	}
}

// The steps that are to stop early are saved with a search.
func TestResumeReportsBetweenTwoPosts(t *testing.T) {
	opt := explore.Options{Workers: 1, Save: filepath.Join(t.TempDir(), "search")}
	for opt.MaxRuns = 1; opt.MaxRuns < 1000; opt.MaxRuns++ {
		r, err := explore.Check(unheard(), opt)
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict != explore.RanOut {
			if r.Verdict != explore.Violated || opt.MaxRuns == 1 {
				t.Errorf("after %d parts: %+v", opt.MaxRuns, r)
			}
			return
		}
		opt.Resume = opt.Save
	}
	t.Error("the search never ends")
}

// A host gives two answers in a row, and the first is reported before the second is.
func TestReportsBetweenTwoAnswers(t *testing.T) {
	s := &explore.Scenario{Name: "test/answers", Build: func(c *explore.Case) (sim.Config, error) {
		x := &tiny{c: c}
		c.OnReset(func() { x.logs = make([][]string, 3) })
		ask := func(i int, name string) sim.Node {
			return sim.Node{Name: name, Main: func(h host.Host, _ int) {
				if _, err := h.Call("s", "x", nil, verbs.Forever); err == nil {
					x.say(i, "answered")
				}
			}}
		}
		return sim.Config{Profile: c.Profile, Budget: c.Budget, Nodes: []sim.Node{ask(0, "a"), ask(1, "b"), {Name: "s", Main: func(h host.Host, _ int) {
			l := got(h.Listen("x"))
			p, q := got(l.Accept(verbs.Forever)), got(l.Accept(verbs.Forever))
			p.Reply(nil)
			q.Reply(nil)
			c.Look()
			if len(x.logs[0])+len(x.logs[1]) > 0 {
				c.Fail(errors.New("an answer was reported before the second was given"))
			}
			x.say(2, "answered both")
		}}}}, nil
	}}
	r, err := explore.Check(s, explore.Options{})
	if err != nil || r.Verdict != explore.Violated {
		t.Fatalf("%v, %+v", err, r)
	}
	if again, err := r.Counterexample.Replay(s); err != nil || again.Err == nil {
		t.Errorf("the replay: %v, %+v", err, again)
	}
	if all, _, done, err := explore.Naive(s, explore.Options{}, false, 100_000); err != nil || !done || !slices.Contains(all, "violation: violation") {
		t.Errorf("the naive search finds %q, %t, %v", all, done, err)
	}
}

// Whether a report follows the posts is a choice: the last option must not hide the seams of the first.
func TestNaiveSeamsOfEachWay(t *testing.T) {
	for quiet := range 2 {
		s := scenario("quiet", "none", func(x *tiny) []sim.Node {
			return []sim.Node{
				client("a", func(h host.Host, w *wire) {
					w.buf.Store(0, []byte{1})
					w.post(verbs.OpWrite, 0, 0, 1, 0)
					w.post(verbs.OpWrite, 0, 0, 1, 1)
					if h.Rand(2) != quiet {
						x.say(0, "posted")
					}
				}),
				serve(8, 1, func(h host.Host, r host.Region, mr verbs.MR, qps []verbs.QP, cq verbs.CQ) {
					seen := r.Load64(0)
					x.c.Look()
					if seen != 0 && len(x.logs[0]) == 0 {
						x.say(1, "before")
					}
				}),
			}
		})
		r, err := explore.Check(s, explore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		all, _, done, err := explore.Naive(s, explore.Options{}, false, 100_000)
		if err != nil || !done || !slices.Equal(all, r.Outcomes) {
			t.Errorf("option %d is quiet: the naive search finds %q, %t, %v; the other %q", quiet, all, done, err, r.Outcomes)
		}
	}
}
