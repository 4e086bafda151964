package explore_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// losing is a scenario that a random search violates: it trusts a completion.
func losing() *explore.Scenario {
	return scenario("losing", "crash(a)<=1", func(x *tiny) []sim.Node {
		return []sim.Node{client("a", func(h host.Host, w *wire) {
			w.buf.Store64(0, 1)
			w.post(verbs.OpWrite, inl, 0, 8, 0)
			w.post(verbs.OpWrite, inl|sig, 0, 8, 8)
		}), serve(16, 1, func(h host.Host, r host.Region, _ verbs.MR, _ []verbs.QP, _ verbs.CQ) {
			if d := r.Load64(0); d == 1 && r.Load64(8) == 0 {
				x.c.Fail(errTorn)
			}
		})}
	})
}

type tornError struct{}

func (tornError) Error() string { return "half of it is there" }
func (tornError) Class() string { return "torn" }

var errTorn = tornError{}

const childEnv = "VERBATIM_TEST_CHILD"

func losingRun(t *testing.T) string {
	t.Helper()
	r, err := explore.Check(losing(), explore.Options{Strategy: explore.Random, Seed: 7, Workers: 1})
	if err != nil || r.Counterexample == nil {
		t.Fatal(r, err)
	}
	b, err := json.Marshal(r.Counterexample)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The same seed makes the same runs in another process, down to each state.
func TestSameSeedSameRunAcrossProcesses(t *testing.T) {
	if os.Getenv(childEnv) != "" {
		os.Stdout.WriteString("CHILD" + losingRun(t) + "\n")
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestSameSeedSameRunAcrossProcesses$")
	cmd.Env = append(os.Environ(), childEnv+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	_, got, _ := strings.Cut(string(out), "CHILD")
	got, _, _ = strings.Cut(got, "\n")
	if want := losingRun(t); got != want {
		t.Errorf("another process ran\n%s\nthis one\n%s", got, want)
	}
}

// A counterexample's file replays the run state by state, and a damaged or foreign
// file is an error.
func TestReplayRepeatsTheRun(t *testing.T) {
	// One worker: which of several workers finds a violation first is not repeatable.
	r, err := explore.Check(losing(), explore.Options{Workers: 1})
	if err != nil || r.Counterexample == nil {
		t.Fatal(r, err)
	}
	rep, err := r.Counterexample.Replay(losing())
	if err != nil || !rep.Same {
		t.Fatalf("replay: same %v, %v", rep != nil && rep.Same, err)
	}
	if n := len(r.Counterexample.Decisions); n > 3 {
		t.Errorf("%d decisions; three are enough", n)
	}
	other := smallScenarios()[0]
	if _, err := r.Counterexample.Replay(other); err == nil {
		t.Error("it replays for another scenario")
	}
}

// A search stopped by a limit resumes from its file and reaches the same verdict.
func TestResume(t *testing.T) {
	file := t.TempDir() + "/search"
	s := smallScenarios()[1]
	whole, err := explore.Check(s, explore.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	part, err := explore.Check(s, explore.Options{Workers: 1, MaxRuns: 3, Save: file})
	if err != nil || part.Verdict != explore.RanOut {
		t.Fatal(part, err)
	}
	rest, err := explore.Check(s, explore.Options{Workers: 1, Resume: file})
	if err != nil || rest.Verdict != explore.Verified {
		t.Fatal(rest, err)
	}
	if rest.States != whole.States {
		t.Errorf("%d states in two parts, %d in one", rest.States, whole.States)
	}
	if rest.Choices != whole.Choices {
		t.Errorf("%d choices in two parts, %d in one", rest.Choices, whole.Choices)
	}
	checkSpace(t, rest)
	if _, err := explore.Check(smallScenarios()[0], explore.Options{Resume: file}); err == nil {
		t.Error("a search of another scenario goes on from the file")
	}
}

func FuzzParseCounterexample(f *testing.F) {
	f.Add([]byte(`{"version":1,"scenario":"a/b"}`))
	f.Add([]byte(`{"version":2,"scenario":"a/b"}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if ce, err := explore.ParseCounterexample(b); err == nil && (ce.Scenario == "" || ce.Version != explore.FileVersion) {
			t.Errorf("accepted %+v", ce)
		}
	})
}
