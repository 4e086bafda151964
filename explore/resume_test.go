package explore_test

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// firstPartMeets makes a scenario in which only the first search meets the condition.
func firstPartMeets(s *explore.Scenario) *explore.Scenario {
	searches, build := 0, s.Build
	s.Sometimes = []string{"not this", "the first part of the search"}
	s.Build = func(c *explore.Case) (sim.Config, error) {
		if searches++; searches == 1 {
			c.Sometimes(1)
		}
		return build(c)
	}
	return s
}

// The result of a search in many parts is that of the whole.
func TestResumedResultIsOfTheWhole(t *testing.T) {
	for _, name := range []string{"small/revoked-while-in-flight", "small/crash-of-the-requester"} {
		s := firstPartMeets(explore.Named(smallScenarios(), name))
		whole, err := explore.Check(s, explore.Options{Workers: 1})
		if err != nil || whole.Verdict != explore.Verified {
			t.Fatal(whole, err)
		}
		s = firstPartMeets(explore.Named(smallScenarios(), name))
		each := whole.Runs/4 + 1
		opt := explore.Options{Workers: 1, MaxRuns: each, Save: filepath.Join(t.TempDir(), "s")}
		part, err := explore.Check(s, opt)
		var last *explore.Result
		for opt.Resume = opt.Save; err == nil && part.Verdict == explore.RanOut; {
			last = part
			opt.MaxRuns += each
			part, err = explore.Check(s, opt)
		}
		if err != nil || last == nil {
			t.Fatal(last, err)
		}
		if !slices.Equal(part.Outcomes, whole.Outcomes) {
			t.Errorf("%s: outcomes\n%q in parts,\n%q in one", name, part.Outcomes, whole.Outcomes)
		}
		if !slices.Equal(part.Sometimes, whole.Sometimes) || !part.Sometimes[1].Met {
			t.Errorf("%s: conditions %v in parts, %v in one", name, part.Sometimes, whole.Sometimes)
		}
		if part.Exercised != whole.Exercised || part.MaxPayload != whole.MaxPayload {
			t.Errorf("%s: it uses %v and %d bytes in parts, %v and %d in one", name, part.Exercised, part.MaxPayload, whole.Exercised, whole.MaxPayload)
		}
		if part.Elapsed <= last.Elapsed || part.Steps < whole.Steps || part.Posts < whole.Posts || part.Runs != whole.Runs {
			t.Errorf("%s: %v after %v; %d runs, %d steps, %d posts in parts, %d, %d, %d in one", name, part.Elapsed, last.Elapsed,
				part.Runs, part.Steps, part.Posts, whole.Runs, whole.Steps, whole.Posts)
		}
		if part.Resumed != last.Runs || whole.Resumed != 0 {
			t.Errorf("%s: %d of %d runs were made before, and it says %d", name, last.Runs, part.Runs, part.Resumed)
		}
	}
}

// oneWaySeen is a scenario in which others can observe one way of a's first step and
// not the other: earlier steps of b must be tried, whichever way remains when a search
// stops.
func oneWaySeen() *explore.Scenario {
	return scenario("one-way-seen", "", func(x *tiny) []sim.Node {
		set := 0
		x.c.OnReset(func() { set = 0 })
		return []sim.Node{
			{Name: "a", Main: func(h host.Host, _ int) {
				if h.Rand(2) == 0 {
					set = 1
					x.say(0, "set")
				}
				h.Sleep(time.Second)
			}},
			{Name: "b", Main: func(host.Host, int) { x.say(1, "%d", set) }},
		}
	})
}

// interchangeable is a scenario whose states have several orders of the symmetric
// hosts.
func interchangeable() *explore.Scenario {
	return scenario("interchangeable", "crash(p*)<=1", func(x *tiny) []sim.Node {
		calls := []host.Call{{To: "p0", Service: "s"}, {To: "p1", Service: "s"}, {To: "p2", Service: "s"}}
		nodes := []sim.Node{{Name: "a", Main: func(h host.Host, _ int) {
			for range 2 {
				came, failed := 0, 0
				for _, y := range h.Gather(calls, verbs.Forever).Wait(2) {
					switch {
					case y.Pending():
					case y.Err == nil:
						came++
					default:
						failed++
					}
				}
				x.say(0, "%d-%d", came, failed)
			}
		}}}
		for _, c := range calls {
			nodes = append(nodes, sim.Node{Name: c.To, Daemon: true, Symmetric: true, Again: func(int, bool) bool { return false },
				Main: func(h host.Host, _ int) {
					l, _ := h.Listen("s")
					for q, err := l.Accept(verbs.Forever); err == nil; q, err = l.Accept(verbs.Forever) {
						q.Reply(nil)
					}
				}})
		}
		return nodes
	})
}

// Wherever a search is stopped, its result is the same, also in the middle of the
// choices of a step.
func TestStoppedAnywhereIsTheSame(t *testing.T) {
	sequential(t)
	for _, s := range append(smallScenarios()[:3], oneWaySeen(), interchangeable()) {
		whole, err := explore.Check(s, explore.Options{Workers: 1})
		if err != nil || whole.Verdict != explore.Verified {
			t.Fatal(whole, err)
		}
		name, file := s.Name, filepath.Join(t.TempDir(), "s")
		for runs := range whole.Runs - 1 {
			part, err := explore.Check(s, explore.Options{Workers: 1, MaxRuns: runs + 1, Save: file})
			if err != nil || part.Verdict != explore.RanOut {
				t.Fatal(part, err)
			}
			rest, err := explore.Check(s, explore.Options{Workers: 1, Resume: file})
			if err != nil || rest.Verdict != explore.Verified {
				t.Fatal(rest, err)
			}
			if !slices.Equal(rest.Outcomes, whole.Outcomes) || rest.States != whole.States || rest.Runs != whole.Runs || rest.Edges != whole.Edges {
				t.Fatalf("%s, stopped after %d runs: %d states, %d edges, %d runs, %q; in one: %d, %d, %d, %q", name, runs+1, rest.States,
					rest.Edges, rest.Runs, rest.Outcomes, whole.States, whole.Edges, whole.Runs, whole.Outcomes)
			}
		}
	}
}

// A file of another version is refused, and the error names the remedy.
func TestResumeOtherVersion(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	err = errors.Join(json.NewEncoder(z).Encode(struct{ Version int }{2}), z.Close(), f.Close())
	if err != nil {
		t.Fatal(err)
	}
	_, err = explore.Check(smallScenarios()[0], explore.Options{Resume: file})
	if !errors.Is(err, explore.ErrResume) || !strings.Contains(err.Error(), "file version 2") || !strings.Contains(err.Error(), "start a new search") {
		t.Error(err)
	}
}

// A file of another build of the program is refused: its code may differ, even if the
// default run is the same.
func TestResumeOtherBuild(t *testing.T) {
	s, file := smallScenarios()[0], os.Getenv(childEnv)
	if file != "" {
		_, err := explore.Check(s, explore.Options{Resume: file})
		fmt.Printf("CHILD %v\n", err)
		return
	}
	if runtime.GOOS != "linux" {
		t.Skip("a program with bytes at its end need not run here")
	}
	dir := t.TempDir()
	file = filepath.Join(dir, "s")
	if _, err := explore.Check(s, explore.Options{Workers: 1, MaxRuns: 3, Save: file}); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	for more, want := range map[string]string{"": "CHILD <nil>", "\n": "another build"} {
		other := filepath.Join(dir, "other"+strconv.Itoa(len(more)))
		if err := os.WriteFile(other, append(program, more...), 0o700); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(other, "-test.run=^TestResumeOtherBuild$")
		cmd.Env = append(os.Environ(), childEnv+"="+file)
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%q: %v %s", more, err, out)
		}
	}
}

// A file with a flipped bit is refused, or the search reaches the same result.
func TestResumeDamaged(t *testing.T) {
	sequential(t)
	s, file := smallScenarios()[0], filepath.Join(t.TempDir(), "s")
	whole, err := explore.Check(s, explore.Options{Workers: 1})
	if err != nil || whole.Verdict != explore.Verified {
		t.Fatal(whole, err)
	}
	if _, err := explore.Check(s, explore.Options{Workers: 1, MaxRuns: whole.Runs / 2, Save: file}); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(good); i += 3 {
		bad := slices.Clone(good)
		bad[i] ^= 1 << (i % 8)
		if err := os.WriteFile(file, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := explore.Check(s, explore.Options{Workers: 1, Resume: file})
		if err == nil && (r.Runs != whole.Runs || r.States != whole.States || !slices.Equal(r.Outcomes, whole.Outcomes)) {
			t.Fatalf("byte %d of %d: %s with %d of %d states and the outcomes %q", i, len(good), r.Verdict, r.States, whole.States, r.Outcomes)
		}
		if err != nil && !errors.Is(err, explore.ErrResume) {
			t.Fatal(i, err)
		}
	}
}

// A search that cannot be saved leaves nothing else behind.
func TestUnsavedLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "s")
	if err := os.MkdirAll(filepath.Join(folder, "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	if r, err := explore.Check(smallScenarios()[1], explore.Options{Workers: 1, MaxRuns: 3, Save: folder}); err == nil || r == nil {
		t.Errorf("it was saved: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// Outcomes are bytes that the scenario chooses, and need not be valid UTF-8.
func TestResumeKeepsOutcomesOfAnyBytes(t *testing.T) {
	s := &explore.Scenario{Name: "test/bytes", Build: func(c *explore.Case) (sim.Config, error) {
		got := byte(0)
		c.OnReset(func() { got = 0 })
		return sim.Config{Profile: c.Profile, Nodes: []sim.Node{{Name: "a", Main: func(h host.Host, life int) {
			got = byte(0x80 + h.Rand(4))
			c.Outcome(string([]byte{got}))
			c.History(fingerprint.Print{}.Int(int(got)))
		}}}}, nil
	}}
	opt := explore.Options{Workers: 1, MaxRuns: 3, Save: filepath.Join(t.TempDir(), "search")}
	if r, err := explore.Check(s, opt); err != nil || r.Verdict != explore.RanOut {
		t.Fatal(r, err)
	}
	opt.MaxRuns, opt.Resume = 0, opt.Save
	r, err := explore.Check(s, opt)
	if err != nil || !slices.Equal(r.Outcomes, []string{"\x80", "\x81", "\x82", "\x83"}) {
		t.Errorf("%v, outcomes %q", err, r.Outcomes)
	}
}

// So many requests in flight stand for more eager states than a float64 can count.
func TestSaveWithEagerStatesBeyondCount(t *testing.T) {
	sequential(t)
	s := &explore.Scenario{Name: "test/large", Profile: "iba", Build: func(c *explore.Case) (sim.Config, error) {
		const size = 1 << 14
		return sim.Config{Profile: c.Profile, Nodes: []sim.Node{
			{Name: "a", Main: func(h host.Host, life int) {
				if w := connectWith(h, "b", size); w != nil {
					w.post(verbs.OpWrite, verbs.Signaled, 0, size, 0)
					w.poll()
				}
			}},
			{Name: "b", Main: func(h host.Host, life int) { server(h, size, 1, nil) }},
		}}, nil
	}}
	opt := explore.Options{Workers: 1, Save: filepath.Join(t.TempDir(), "search")}
	for opt.MaxRuns = 1; opt.MaxRuns < 20; opt.MaxRuns++ {
		r, err := explore.Check(s, opt)
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict != explore.RanOut {
			if r.EagerLog10 < 300 {
				t.Errorf("10^%v eager states", r.EagerLog10)
			}
			return
		}
	}
}

// A file that somebody has edited has a correct checksum.
func TestResumeEdited(t *testing.T) {
	file := filepath.Join(t.TempDir(), "search")
	s := smallScenarios()[0]
	if _, err := explore.Check(s, explore.Options{Workers: 1, MaxRuns: 3, Save: file}); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(x map[string]any){
		"no chain":           func(x map[string]any) { x["Chains"] = []any{nil} },
		"no chains":          func(x map[string]any) { delete(x, "Chains") },
		"an empty list":      func(x map[string]any) { x["Chains"] = []any{} },
		"chains are no list": func(x map[string]any) { x["Chains"] = map[string]any{"0": x["Chains"].([]any)[0]} },
		"too many lists":     func(x map[string]any) { x["States"] = append(x["States"].([]any), []any{}) },
		"a list is a state":  func(x map[string]any) { x["States"].([]any)[0] = map[string]any{} },
		"a state twice": func(x map[string]any) {
			for i, shard := range x["States"].([]any) {
				if all := shard.([]any); len(all) > 0 {
					x["States"].([]any)[i] = append(all, all[0])
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			var x map[string]any
			edited := filepath.Join(t.TempDir(), "edited")
			edit(t, file, edited, &x, func() { change(x) })
			if _, err := explore.Check(s, explore.Options{Resume: edited}); !errors.Is(err, explore.ErrResume) {
				t.Error(err)
			}
		})
	}
}
