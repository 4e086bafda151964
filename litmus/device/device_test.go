package device

import (
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/litmus"
	"github.com/verbatim-rdma/verbatim/litmus/generate"
	"github.com/verbatim-rdma/verbatim/litmus/lang"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// The cards of these tests are goroutines (fake_test.go): truly concurrent, and in
// order unless they are told to reorder Writes.

func parse(t *testing.T, name string) *lang.Test {
	t.Helper()
	x, err := litmus.ParseFile(filepath.Join("../../testdata/litmus", name+lang.Ext))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// compare runs tests on fake cards and checks that all resources are released.
func compare(t *testing.T, net *fakeNet, cfg Config, tests ...*lang.Test) []*Report {
	t.Helper()
	cfg.Devices = net.cards(2)
	if cfg.Patience == 0 {
		cfg.Patience = 2 * time.Second
	}
	r, err := NewRig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var out []*Report
	for _, x := range tests {
		rep, err := r.Compare(x)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, rep)
	}
	if net.open != 0 {
		t.Errorf("%d objects are left on the cards", net.open)
	}
	return out
}

// Tests of most of the language, on cards that keep the order, show nothing that the
// strongest profile forbids.
func TestOrderedCardsStayWithinTheProfile(t *testing.T) {
	var tests []*lang.Test
	for _, name := range []string{"atomic-again", "cas-cas", "completion-order", "faa-flag", "lock-protects", "message-passing", "mr-access", "mr-deregistered",
		"read-then-message", "recv-content", "send-flag", "source-inline", "two-queue-pairs", "unsignaled-atomic",
		"write-imm-flag", "write-read"} {
		tests = append(tests, parse(t, name))
	}
	all := generate.All(3)
	for range 30 {
		tests = append(tests, all[rand.IntN(len(all))].Test())
	}
	states := 0
	net := newFakeNet(false)
	for _, rep := range compare(t, net, Config{Profile: "rxe", Runs: 60, Seed: rand.Uint64(), Links: net}, tests...) {
		if !rep.OK() || rep.Skipped != "" || rep.Runs != 60 {
			t.Errorf("%s: skipped %q, refused %v, %d runs; seen %+v, allowed %q", rep.Test.Name, rep.Skipped, rep.Refused, rep.Runs, rep.Seen, rep.Allowed)
		}
		states += len(rep.Seen)
	}
	if states <= len(tests) {
		t.Errorf("%d final states of %d tests: the delays do nothing", states, len(tests))
	}
}

// Cards that place Writes in any order are caught under a profile that forbids it,
// and not under one that allows it.
func TestReorderingCardsAreCaught(t *testing.T) {
	x := parse(t, "message-passing")
	cfg := Config{Profile: "rxe", Runs: 3000, Seed: 1}
	rep := compare(t, newFakeNet(true), cfg, x)[0]
	if rep.OK() || !rep.Differs() {
		t.Fatalf("nothing noticed: %+v", rep.Seen)
	}
	for _, s := range rep.Seen {
		if s.Allowed != (s.State != "B.r1=1 B.r2=0") {
			t.Errorf("%+v", s)
		}
	}
	cfg.Profile = "iba"
	if rep := compare(t, newFakeNet(true), cfg, x)[0]; !rep.OK() || rep.Differs() || len(rep.Allowed) != 4 {
		t.Errorf("%+v", rep)
	}
	cfg.Profile, cfg.Known = "rxe", []Known{{x.Name, "B.r1=1 *", "this is why"}}
	if rep := compare(t, newFakeNet(true), cfg, x)[0]; !rep.OK() || !rep.Differs() {
		t.Errorf("%+v", rep)
	}
	cfg.Known[0].Test = "another"
	if rep := compare(t, newFakeNet(true), cfg, x)[0]; rep.OK() {
		t.Errorf("%+v", rep)
	}
}

// A thread that waits in vain is blocked, and a loop that does so excludes the run.
func TestWaitingEnds(t *testing.T) {
	const text = `litmus waiting
doc d
source s
rule r
hosts A B
dram B: x y
thread A
  send B <- 1 as w
  s = wait w
thread B
  hear never
thread B2 on B
  maybe tell A other
thread A2 on A
  hear other
thread A3 on A
  maybe tell B never
exists blocked(A) && blocked(B) && blocked(A2)
  * Y
`
	x, err := litmus.Parse("waiting", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	rep := compare(t, newFakeNet(false), Config{Runs: 8, Patience: 200 * time.Millisecond}, x)[0]
	if !rep.OK() || len(rep.Allowed) != 4 || len(rep.Seen) < 2 {
		t.Errorf("%+v", rep)
	}
	loop := strings.Replace(text, "  hear never\n", "  until x == 1\n", 1)
	loop = loop[:strings.Index(loop, "thread B2")] + "exists B:y == 1\n  * N\n"
	if x, err = litmus.Parse("loop", []byte(loop)); err != nil {
		t.Fatal(err)
	}
	x.Threads[0].Body = nil
	if rep = compare(t, newFakeNet(false), Config{Runs: 3, Patience: 100 * time.Millisecond}, x)[0]; !strings.Contains(rep.Skipped, "no run finishes") {
		t.Errorf("%+v", rep)
	}
	x.Threads[0].Body = []lang.Stmt{lang.Maybe{Then: &lang.Post{Op: verbs.OpWrite, Remote: lang.Ref{Name: "x"}, Payload: []lang.Operand{{Expr: &lang.Expr{Const: 1}}}}}}
	rep = compare(t, newFakeNet(false), Config{Runs: 12, Patience: 100 * time.Millisecond}, x)[0]
	if !rep.OK() || rep.Runs != 12 || rep.LeftOut == 0 || rep.LeftOut == 12 {
		t.Errorf("%+v", rep)
	}
}

func TestSkips(t *testing.T) {
	for name, want := range map[string]string{
		"pmem-power-recover":    "it needs the fault power",
		"atomic-write-whole":    "the cards do not have AtomicWrite",
		"flush-persists":        "the cards do not have Flush",
		"retry-exhausted":       "it cuts a link, and there is nothing here that can",
		"completion-order":      "",
		"lock-two-takers":       "",
		"reads-outstanding-two": "",
	} {
		rep := compare(t, newFakeNet(false), Config{Runs: 1}, parse(t, name))[0]
		if rep.Skipped != want {
			t.Errorf("%s: skipped %q, want %q", name, rep.Skipped, want)
		}
	}
}

// compareFaulty runs tests on cards that lose completions, or leave a request until the next
// one: how many are wrong, and how often something came late.
func compareFaulty(t *testing.T, net *fakeNet, known ...Known) (wrong, late int) {
	t.Helper()
	r, err := NewRig(Config{Devices: net.cards(2), Seed: 1, Patience: 100 * time.Millisecond, Runs: 400, Least: 20, Known: known})
	if err != nil {
		t.Fatal(err)
	}
	var tests []*lang.Test
	for _, name := range []string{"cas-cas", "completion-order", "message-passing", "recv-content", "send-flag", "write-imm-flag", "write-read"} {
		tests = append(tests, parse(t, name))
	}
	reps, err := r.CompareAll(tests, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for _, rep := range reps {
		if !rep.OK() {
			wrong++
		}
		for _, s := range rep.Seen {
			late += s.Late
		}
	}
	return wrong, late
}

// A completion that is lost is noticed, also where one that comes late is excused.
func TestLostCompletionsAreNotExcused(t *testing.T) {
	known := Known{"*", late, "this card forgets requests"}
	net := newFakeNet(false)
	net.loses = 307 // a prime, so that it is not always the same of a run
	if wrong, late := compareFaulty(t, net, known); wrong == 0 {
		t.Errorf("lost: no test is wrong, %d states late", late)
	}
	for _, k := range [][]Known{nil, {known}} {
		net := newFakeNet(false)
		net.forgets = 300
		if wrong, late := compareFaulty(t, net, k...); (wrong == 0) != (k != nil) || late == 0 {
			t.Errorf("forgotten: %d tests are wrong with %v, %d states late", wrong, k, late)
		}
	}
}

// Tests that share a time get it where something is left to be shown.
func TestTimeGoesWhereStatesAreLeft(t *testing.T) {
	net := newFakeNet(false)
	r, err := NewRig(Config{Devices: net.cards(2), Profile: "iba", Seed: 1, Runs: 1e6, Least: 5})
	if err != nil {
		t.Fatal(err)
	}
	none, some := parse(t, "completion-order"), parse(t, "message-passing") // cards that keep the order do not show all of the latter
	reps, err := r.CompareAll([]*lang.Test{none, some}, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := reps[0], reps[1]; a.Runs <= 5 || len(a.Unseen()) > 0 || len(b.Unseen()) == 0 || b.Elapsed <= a.Elapsed {
		t.Errorf("%s: %d runs, %v, %d left; %s: %d runs, %v, %d left", a.Test.Name, a.Runs, a.Elapsed, len(a.Unseen()), b.Test.Name, b.Runs, b.Elapsed, len(b.Unseen()))
	}
	r.cfg.Runs = 3
	if reps, err = r.CompareAll([]*lang.Test{none}, time.Minute); err != nil || reps[0].Runs != 3 {
		t.Errorf("%+v %v; want the 3 runs that there are at most", reps, err)
	}
	if reps, err := r.CompareAll(nil, time.Second); len(reps) > 0 || err != nil {
		t.Error(reps, err)
	}
}

// A link that is cut at a random moment shows what the simulator shows with a cut at any
// moment, and in write-read more than without.
func TestCutsAtRandomStayWithinTheProfile(t *testing.T) {
	net := newFakeNet(false)
	for _, name := range []string{"write-read", "message-passing", "completion-order"} {
		plain := parse(t, name)
		x := CutAtRandom(plain)
		if x == nil {
			t.Fatalf("%s has no variant", name)
		}
		reps := compare(t, net, Config{Profile: "rxe", Runs: 40, Seed: 1, Patience: 20 * time.Millisecond, Links: net}, plain, x)
		if reps[0].Cut > 0 || reps[1].Cut == 0 || reps[1].Cut == reps[1].Runs {
			t.Errorf("%s: %d and %d cuts in %d runs", name, reps[0].Cut, reps[1].Cut, reps[1].Runs)
		}
		more := len(reps[1].Allowed) > len(reps[0].Allowed) && len(reps[1].Seen) > len(reps[0].Seen)
		if !reps[1].OK() || name == "write-read" && !more {
			t.Errorf("%s: allowed %q, seen %+v; without cuts %q, %+v", name, reps[1].Allowed, reps[1].Seen, reps[0].Allowed, reps[0].Seen)
		}
	}
	if x := CutAtRandom(parse(t, "retry-exhausted")); x != nil {
		t.Errorf("%s has faults of its own", x.Name)
	}
}
