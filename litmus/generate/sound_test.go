package generate

import (
	"flag"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/litmus"
	"github.com/verbatim-rdma/verbatim/litmus/lang"
)

// Both tests take larger programs on demand: go test ./litmus/generate -size 4.
var size = flag.Int("size", 3, "all programs up to this size")

// programs are the programs of the soundness tests.
func programs() []*Program {
	if testing.Short() {
		return All(2) // under the race detector
	}
	return All(*size)
}

// replay is how to reproduce a test's finding.
func replay(p *Program, profile string) string {
	return "verbatim litmus generate --program " + p.String() + " --profile " + profile
}

// What a profile allows, a weaker one allows too.
func TestMonotonicity(t *testing.T) {
	profiles := AllProfiles()
	if n := len(order(profiles)); n < 40 {
		t.Fatalf("only %d pairs of profiles are ordered: nothing much is tested", n)
	}
	some := programs()
	if !testing.Short() && *size == 3 { // CI has `litmus generate`, which judges all, and larger ones
		for i := range some[:len(some)/3] {
			some[i] = some[3*i]
		}
		some = some[:len(some)/3]
	}
	seq, err := Judge(some, Options{Profiles: profiles, Search: litmus.Options{MaxRuns: 50_000}})
	if err != nil {
		t.Fatal(err)
	}
	separate := 0
	for v := range seq {
		if err := v.Err(); err != nil {
			t.Error(err)
		}
		for _, b := range v.Broken() {
			t.Errorf("%v\n%s", b, lang.Format(b.Program.Test()))
		}
		if v.Separates() {
			separate++
		}
	}
	if separate < 50 && !testing.Short() {
		t.Errorf("only %d programs separate profiles: the test could not fail", separate)
	}
}

// A breach of the order is detected, with instructions to reproduce it.
func TestBroken(t *testing.T) {
	p, err := Parse("A-wx-wx")
	if err != nil {
		t.Fatal(err)
	}
	v := &Verdicts{Program: p, Profiles: []string{"strong", "iba", "rxe"}, Reasons: make([]error, 3),
		States: []State{{"B:x=1", []bool{false, true, false}}, {"B:x=2", []bool{true, false, true}}}}
	got := v.Broken()
	if len(got) == 0 || got[0].Stronger != "strong" || got[0].Weaker != "iba" || got[0].State != "B:x=2" {
		t.Fatalf("found %v", got)
	}
}

// The search reaches everything that a machine reaches that makes each arrival and
// placement a separate step and tries all orders.
func TestEager(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine: nothing for the race detector; go test ./... runs it")
	}
	compared := 0
	for i, p := range programs() {
		if i%4 != 0 && *size == 3 {
			continue // -size 4 compares the others
		}
		s, err := litmus.Compile(p.Test())
		if err != nil {
			t.Fatal(err)
		}
		for _, profile := range []string{"strong", "relaxed"} {
			opt := explore.Options{Profile: profile, Workers: 1, MaxRuns: 20_000}
			late, err := explore.Check(s, opt)
			if err != nil || late.Verdict != explore.Verified {
				t.Fatalf("%v %v; see it again with %s", err, late.Verdict, replay(p, profile))
			}
			opt.Eager = true
			eager, err := explore.Check(s, opt)
			if err != nil {
				t.Fatal(err)
			}
			if eager.Verdict != explore.Verified {
				continue // too large to compare
			}
			compared++
			if d := cmp.Diff(eager.Outcomes, late.Outcomes); d != "" {
				t.Errorf("%s: final states differ (-eager +late):\n%s\nsee it again with %s\n%s", p, d, replay(p, profile), lang.Format(p.Test()))
			}
		}
	}
	if compared < 100 && !testing.Short() {
		t.Errorf("only %d searches compared", compared)
	}
}

// Found by the comparison with size 4: the load and the store of a CPU's locked
// instruction are one atomic step.
func TestLockedIsOneStep(t *testing.T) {
	const name, never = "A-axw-wx_B-ix", "A.r1=0 B.r1=0 B:x=200"
	p, err := Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := litmus.Compile(p.Test())
	if err != nil {
		t.Fatal(err)
	}
	for _, profile := range []string{"strong", "strong+AtomicGlob=false"} {
		late, err := explore.Check(s, explore.Options{Profile: profile, Workers: 1})
		if err != nil || late.Verdict != explore.Verified {
			t.Fatalf("%v %v", err, late.Verdict)
		}
		eager, err := explore.Check(s, explore.Options{Profile: profile, Workers: 1, Eager: true})
		if err != nil || eager.Verdict != explore.Verified {
			t.Fatalf("%v %v", err, eager.Verdict)
		}
		if d := cmp.Diff(eager.Outcomes, late.Outcomes); d != "" || slices.Contains(late.Outcomes, never) || len(late.Outcomes) != 4 {
			t.Errorf("%v, without %s, was to be reached; (-eager +late):\n%s\nsee it again with %s", late.Outcomes, never, d, replay(p, profile))
		}
	}
}

// Found by the comparison: of two Atomics of one card, one came between the halves of
// the other if a Write or a store had.
func TestAtomicsKeepTogether(t *testing.T) {
	for _, x := range []struct{ name, profile, never string }{
		{"A-wx-ax_C-ax", "strong", "A.r1=1 C.r1=0 B:x=200"},
		{"A-ax_C-ax_B-sx", "strong", "A.r1=1 C.r1=0 B:x=200"},
		{"A-ax-wx_C-ax", "relaxed", "A.r1=0 C.r1=1 B:x=100"},
		{"A-wx-ax_C-ax_B-sx", "strong", "A.r1=1 C.r1=0 B:x=200"},
		{"A-wxw-ax_C-ax", "strong+AtomicFlushes=false", "A.r1=1 C.r1=0 B:x=200"},
	} {
		p, err := Parse(x.name)
		if err != nil {
			t.Fatal(err)
		}
		seq, err := Judge([]*Program{p}, Options{Profiles: []string{x.profile}})
		if err != nil {
			t.Fatal(err)
		}
		for v := range seq {
			if err := v.Err(); err != nil || len(v.States) < 4 {
				t.Errorf("%s: %d final states, %v", x.name, len(v.States), err)
			}
			for _, s := range v.States {
				if s.Text == x.never {
					t.Errorf("%s under %s reaches %s", x.name, x.profile, s.Text)
				}
			}
		}
	}
}

// A Read may sample before a locked instruction changes the word. Without ATOMIC_GLOB
// it could not, which the order of profiles revealed.
func TestReadBeforeLockedAdd(t *testing.T) {
	p, err := Parse("A-rx-rx2_B-ix")
	if err != nil {
		t.Fatal(err)
	}
	seq, err := Judge([]*Program{p}, Options{Profiles: []string{"strong", "strong+AtomicGlob=true"}})
	if err != nil {
		t.Fatal(err)
	}
	for v := range seq {
		if err := v.Err(); err != nil || len(v.States) != 4 || v.Separates() {
			t.Errorf("both orders of two Reads on two queue pairs are possible under both profiles; got %v, %v", v.States, err)
		}
	}
}

// A Read that samples part of its bytes before a change must not be asked again during
// it: the search of these did not finish.
func TestReadSamplesOnce(t *testing.T) {
	for _, name := range []string{"A-ax_C-rx_B-ix", "A-cx_C-rx_B-ix"} {
		p, err := Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		seq, err := Judge([]*Program{p}, Options{Search: litmus.Options{MaxRuns: 2000}})
		if err != nil {
			t.Fatal(err)
		}
		for v := range seq {
			if err := v.Err(); err != nil {
				t.Error(err)
			}
		}
	}
}
