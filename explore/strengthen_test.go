package explore_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// strengthened are scenarios in which a strengthening can matter, besides most of
// smallScenarios: the others take longest, and random programs are like them.
func strengthened() []*explore.Scenario {
	few := slices.DeleteFunc(smallScenarios(), func(s *explore.Scenario) bool {
		return slices.Contains([]string{"small/torn-read-of-cpu-stores", "small/crash-of-the-requester", "small/same-cell-twice"}, s.Name)
	})
	return append(few, scenario("acked-then-read", "", func(x *tiny) []sim.Node {
		// A Write that is not inline, and a later Read on another connection.
		return []sim.Node{client("a", func(h host.Host, w *wire) {
			w2 := connect(h, "b")
			if w2 == nil {
				return
			}
			w.buf.Store64(0, 1)
			w.post(verbs.OpWrite, 0, 0, 8, 0)
			w.post(verbs.OpWrite, sig, 0, 8, 8)
			if w.poll() != verbs.StatusSuccess {
				return
			}
			w2.post(verbs.OpRead, sig, 8, 8, 0)
			if w2.poll() == verbs.StatusSuccess {
				x.say(0, "read %d", w2.buf.Load64(8))
			}
		}), {Name: "b", Daemon: true, Main: func(h host.Host, _ int) { server(h, 16, 3, nil) }}}
	}), scenario("two-writes-revoked", "", func(x *tiny) []sim.Node {
		return []sim.Node{client("a", func(h host.Host, w *wire) {
			w.buf.Store64(0, 1)
			w.post(verbs.OpWrite, inl|sig, 0, 8, 0)
			w.post(verbs.OpWrite, inl|sig, 0, 8, 8)
			first, second := w.poll(), w.poll()
			x.say(0, "%v %v", first, second)
		}), serve(16, 1, func(h host.Host, r host.Region, mr verbs.MR, _ []verbs.QP, _ verbs.CQ) {
			_ = mr.Dereg()
			x.say(1, "%d %d", r.Load64(0), r.Load64(8))
		})}
	}))
}

// Both modes treat a strengthening alike: it removes outcomes and adds none, except for
// the failure of a Write that was executed.
func TestStrengthenedModesAgree(t *testing.T) {
	sequential(t)
	lost := map[string]int{}
	for _, s := range strengthened() {
		for _, profile := range []string{"strong", "relaxed"} {
			plain := outcomesOf(t, s, explore.Options{Profile: profile, Workers: 1})
			names := []string{"inline", "fence", "flush-read"}
			if profile == "strong" {
				names = names[2:] // with strong the others have little left to order
			}
			for _, name := range names {
				t.Run(s.Name+"/"+profile+"/"+name, func(t *testing.T) {
					with, err := sim.ParseStrengthen(name)
					if err != nil {
						t.Fatal(err)
					}
					opt := explore.Options{Profile: profile, Workers: 1, Strengthen: with}
					want, _, done, err := explore.Naive(s, opt, true, 500_000)
					if err != nil || !done {
						t.Fatal(done, err)
					}
					got := outcomesOf(t, s, opt)
					if d := cmp.Diff(want, got); d != "" {
						t.Errorf("outcomes differ (-naive +reduced):\n%s", d)
					}
					opt.EveryOrder = true
					if d := cmp.Diff(want, outcomesOf(t, s, opt)); d != "" {
						t.Errorf("outcomes of late resolution alone differ (-naive +late):\n%s", d)
					}
					if strings.Contains(s.Name, "revoked") {
						return // it adds failures
					}
					lost[name] += len(plain) - len(got)
					for _, o := range got {
						if !slices.Contains(plain, o) {
							t.Errorf("the strengthening adds %q", o)
						}
					}
				})
			}
		}
	}
	for _, name := range sim.StrengthenNames() {
		if lost[name] <= 0 {
			t.Errorf("%s takes no outcome away in any scenario: %v", name, lost)
		}
	}
}

func outcomesOf(t *testing.T, s *explore.Scenario, opt explore.Options) []string {
	t.Helper()
	r, err := explore.Check(s, opt)
	if err != nil || r.Verdict != explore.Verified {
		t.Fatal(r, err)
	}
	return r.Outcomes
}

// Neither a fence nor a flushing Read alone orders Writes; together they do, for every
// order of placement.
func TestFencedWritesBehindFlushingReadsAreInOrder(t *testing.T) {
	s := explore.Named(smallScenarios(), "small/flag-and-data")
	for with, want := range map[sim.Strengthen]bool{
		0: true, sim.Fenced: true, sim.FlushRead: true, sim.Fenced | sim.FlushRead: false,
	} {
		got := outcomesOf(t, s, explore.Options{Profile: "ooo", Workers: 1, Strengthen: with})
		if slices.Contains(got, " | f=1 d=0") != want {
			t.Errorf("%q: the flag without the data is possible: %v, want %v", with, !want, want)
		}
	}
}

// The premise of the order in package faults: a weaker profile shows all outcomes of
// the stronger one.
func TestWeakerProfilesShowAllOfStrongerOnes(t *testing.T) {
	sequential(t)
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom(strengthened()).Draw(t, "scenario")
		with := sim.Strengthen(rapid.IntRange(0, 7).Draw(t, "strengthen"))
		base := rapid.SampledFrom([]string{"strong", "relaxed", "srd", "rxe"}).Draw(t, "profile")
		strong, err := faults.ProfileByName(base)
		if err != nil {
			t.Fatal(err)
		}
		weak := strong
		for _, w := range rapid.SliceOfN(rapid.SampledFrom(faults.Weakenings()), 1, 3).Draw(t, "knobs") {
			if w.Finer {
				continue // byte by byte the search takes too long for a test
			}
			weak, err = weak.WithKnob(w.Knob, w.Value)
			if err != nil {
				t.Fatal(err)
			}
		}
		if !faults.WeakerOrEqual(weak, strong) {
			t.Skip("the knobs that were drawn make " + weak.Name + ", which is no weaker than " + strong.Name)
		}
		many, done := search(t, s, explore.Options{Profile: weak.Name, Workers: 1, Strengthen: with, MaxRuns: 2000})
		few, _ := search(t, s, explore.Options{Profile: strong.Name, Workers: 1, Strengthen: with, MaxRuns: 2000})
		if !done {
			return // an unfound outcome may exist
		}
		for _, o := range few {
			if !slices.Contains(many, o) {
				t.Fatalf("%s: %q with %s and not with %s, strengthened by %q", s.Name, o, strong.Name, weak.Name, with)
			}
		}
	})
}

func search(t *rapid.T, s *explore.Scenario, opt explore.Options) (outcomes []string, done bool) {
	r, err := explore.Check(s, opt)
	if err != nil || r.Verdict != explore.Verified && r.Verdict != explore.RanOut {
		t.Fatal(r, err)
	}
	return r.Outcomes, r.Exhausted
}

// A Read that is sampled byte by byte keeps all of what it sampled.
func TestReadInManyPiecesKeepsThemAll(t *testing.T) {
	sequential(t)
	const n = 64
	s := scenario("many-pieces", "", func(x *tiny) []sim.Node {
		return []sim.Node{client("a", func(h host.Host, w *wire) {
			w.post(verbs.OpRead, sig, 0, n, 0)
			_, _ = h.Call("b", "bye", nil, verbs.Forever) // and no completion before that
			w.poll()
			var got [n]byte
			w.buf.Load(0, got[:])
			for i, b := range got {
				if b != 0 && int(b) != i+1 && int(b) != i+100 {
					x.c.Fail(fmt.Errorf("byte %d is %d", i, b))
				}
			}
		}), serve(n, 1, func(h host.Host, r host.Region, _ verbs.MR, _ []verbs.QP, _ verbs.CQ) {
			l, _ := h.Listen("bye")
			for i := range 2 * n { // each byte twice, so that old values differ
				r.Store(i%n, []byte{byte(i%n + 1 + i/n*99)})
			}
			if req, err := l.Accept(time.Second); err == nil {
				req.Reply(nil)
			}
		})}
	})
	r, err := explore.Check(s, explore.Options{Profile: "strong+CellBytes=1+StoreBuffers=false", Strategy: explore.Random, MaxRuns: 2000, Workers: 1})
	if err != nil || r.Verdict != explore.Clean {
		t.Fatal(err, r.Verdict, r.Counterexample)
	}
}

// A counterexample found with a strengthening, or with a write split into bytes,
// replays unchanged.
func TestStrengthenedCounterexampleReplays(t *testing.T) {
	s := scenario("torn", "crash(a)<=1", func(x *tiny) []sim.Node {
		return []sim.Node{client("a", func(h host.Host, w *wire) {
			w.buf.Store(0, []byte("\x01\x02\x03\x04"))
			w.post(verbs.OpWrite, sig, 0, 4, 0)
			w.poll()
		}), serve(8, 1, func(h host.Host, r host.Region, _ verbs.MR, _ []verbs.QP, _ verbs.CQ) {
			if v := r.Load64(0); v == 0x030001 {
				x.c.Fail(fmt.Errorf("torn: %x", v))
			}
		})}
	})
	s.Build = stayDown(s.Build)
	r, err := explore.Check(s, explore.Options{Profile: "iba", Workers: 1, Strengthen: sim.Inlined | sim.Fenced})
	if err != nil || r.Verdict != explore.Violated {
		t.Fatal(r, err)
	}
	if got := r.Counterexample.Strengthen; got != "inline+fence" {
		t.Errorf("the file says %q", got)
	}
	file := t.TempDir() + "/ce.json"
	if err := r.Counterexample.Save(file); err != nil {
		t.Fatal(err)
	}
	ce, err := explore.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	if re, err := ce.Replay(s); err != nil || !re.Same {
		t.Errorf("the replay is another run: %v", err)
	}
	if text := explore.RegressionTest(ce); !strings.Contains(text, `Strengthen: "inline+fence"`) {
		t.Errorf("the regression test does not say it:\n%s", text)
	}
	ce.Strengthen = "flush"
	if _, err := ce.Replay(s); err == nil || !strings.Contains(err.Error(), "inline, fence, flush-read") {
		t.Errorf("an unknown strengthening: %v", err)
	}
}
