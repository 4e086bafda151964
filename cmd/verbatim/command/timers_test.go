package command

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// raceOfTimers is violated if the timer of a fires before that of b, which is half as long
// and was set earlier.
func raceOfTimers() *explore.Scenario {
	return &explore.Scenario{Name: "clock/race", Doc: "the longer timer is over last", Bounds: "two hosts", Build: func(c *explore.Case) (sim.Config, error) {
		over := false
		c.OnReset(func() { over = false })
		return sim.Config{Profile: c.Profile, Budget: c.Budget, Nodes: []sim.Node{
			{Name: "a", Main: func(h host.Host, _ int) {
				l, err := h.Listen("x")
				if err == nil {
					_, err = l.Accept(-1)
				}
				if h.Sleep(2 * time.Second); err != nil || !over {
					panic("the longer timer was over first")
				}
			}},
			{Name: "b", Daemon: true, Main: func(h host.Host, _ int) {
				for !over { // until a listens
					_, err := h.Call("a", "x", nil, time.Second)
					over = errors.Is(err, host.ErrTimeout)
				}
				if l, err := h.Listen("stay"); err == nil { // a call needs a caller
					_, _ = l.Accept(-1)
				}
			}},
		}}, nil
	}}
}

func useClock(t *testing.T) {
	useDemo(t)
	protocols = append(protocols, Protocol{Name: "clock", Scenarios: func() []*explore.Scenario { return []*explore.Scenario{raceOfTimers()} }})
}

// The flag is heeded, and the verdict says it: in text, in JSON, on the page, in the
// file of the run and in its replay.
func TestTimersFlag(t *testing.T) {
	useClock(t)
	for _, x := range []struct {
		timers string
		code   int
		wants  []string
	}{
		{"", 0, []string{"  timers      idle: a timer fires only when nothing else can happen\n", "  warning     the code sets finite deadlines; what it does"}},
		{"idle", 0, []string{"  timers      idle: a timer", "  warning     the code sets"}},
		{"skew(1.9)", 0, []string{"  timers      skew(1.9): timers are punctual,"}},
		{"skew(2.1)", 1, []string{"  timers      skew(2.1): timers are punctual,"}},
		{"free", 1, []string{"  timers      free: a timer may fire at any moment,"}},
	} {
		code, out, stderr := call("check", "clock/race", "--timers", x.timers, "--report", "r.html", "--matrix", "none", "--details")
		if code != x.code {
			t.Errorf("%q: status %d:\n%s%s", x.timers, code, out, stderr)
		}
		page := pageText(t, "r.html")
		for _, want := range x.wants {
			if !strings.Contains(out, want) {
				t.Errorf("%q: %q is missing in:\n%s", x.timers, want, out)
			}
			if label, text, _ := strings.Cut(strings.TrimSpace(want), " "); !strings.Contains(strings.ToLower(page), label) || !strings.Contains(page, strings.TrimSpace(text)) {
				t.Errorf("%q: the page lacks %q", x.timers, want)
			}
		}
		if warned := strings.Contains(out, "warning"); warned != (len(x.wants) == 2) || strings.Contains(page, "Warning:") != warned {
			t.Errorf("%q: warned: %v:\n%s", x.timers, warned, out)
		}
		_, out, _ = call("check", "clock/race", "--timers", x.timers, "--json")
		var got result
		if err := json.Unmarshal([]byte(out), &got); err != nil || !strings.HasPrefix(strings.TrimSpace(x.wants[0][len("  timers"):]), got.Timers+": ") || (got.Warning != nil) != (len(x.wants) == 2) {
			t.Errorf("%q: %v: %s", x.timers, err, out)
		}
	}
	text, err := os.ReadFile("clock-race.counterexample.json")
	if err != nil || !strings.Contains(string(text), `"timers": "free"`) {
		t.Errorf("%v: %s", err, text)
	}
	if code, out, stderr := call("replay", "clock-race.counterexample.json"); code != 1 || !strings.Contains(out, "with profile strong, faults none and timers free\n") {
		t.Errorf("status %d: %s%s", code, out, stderr)
	}
	call("replay", "clock-race.counterexample.json", "--html", "run.html")
	if !strings.Contains(pageText(t, "run.html"), `"timers":"free: a timer may fire at any moment`) {
		t.Error("the page of the run does not say its regime")
	}
}

func TestTimersFlagRefuses(t *testing.T) {
	useClock(t)
	for _, command := range []string{"check clock", "matrix clock", "mutants clock", "explore clock/race"} {
		for timers, want := range map[string]string{"fre": "did you mean free?", "skew": "skew(r), such as skew(1.1)", "skew(0.5)": "at least 1"} {
			code, out, stderr := call(append(strings.Fields(command), "--timers", timers)...)
			if code != 2 || out != "" || !strings.Contains(stderr, want) {
				t.Errorf("%s --timers %s: status %d: %s%s", command, timers, code, out, stderr)
			}
		}
	}
	for _, args := range []string{"mutants litmus --timers free", "mutants clock --sqlite --timers free"} {
		if code, _, stderr := call(strings.Fields(args)...); code != 2 || !strings.Contains(stderr, "--timers") {
			t.Errorf("%s: status %d: %s", args, code, stderr)
		}
	}
}

// A scenario may have its own regime, and the list shows it.
func TestListSaysTimers(t *testing.T) {
	useClock(t)
	protocols = []Protocol{{Name: "clock", Scenarios: func() []*explore.Scenario {
		s := raceOfTimers()
		s.Timers = "skew(3/2)"
		return []*explore.Scenario{s, restartFails("clock/idle")}
	}}}
	_, out, _ := call("list", "scenarios", "--json")
	if !strings.Contains(out, `"timers":"skew(1.5)"`) || !strings.Contains(out, `"timers":"idle"`) {
		t.Errorf("got %s", out)
	}
	if _, out, _ = call("list"); !strings.Contains(out, "timers") || !strings.Contains(out, "skew(1.5)") {
		t.Errorf("got %s", out)
	}
	if _, out, _ = call("check", "clock/race", "--json"); !strings.Contains(out, `"timers":"skew(1.5)"`) {
		t.Errorf("got %s", out)
	}
}

// The matrix states the assumptions of its searches, in each cell and below the table.
func TestMatrixSaysTimers(t *testing.T) {
	useClock(t)
	for _, timers := range []string{"", "skew(1.5)"} {
		want := timers
		if timers == "" {
			want = "idle"
		}
		_, out, _ := call("matrix", "clock", "--json", "--timers", timers)
		if n := strings.Count(out, `"timers":"`+want+": "); n == 0 || n != strings.Count(out, "\n") {
			t.Errorf("%d of %d cells say %s", n, strings.Count(out, "\n"), want)
		}
		_, out, _ = call("matrix", "clock", "--timers", timers)
		if !strings.Contains(out, "Timers, in all searches: "+want+": ") || strings.Contains(out, "Warning: the code sets") != (timers == "") {
			t.Errorf("below the table:\n%s", out[strings.LastIndex(out, "Amounts"):])
		}
	}
}
