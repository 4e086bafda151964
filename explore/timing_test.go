package explore_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// waits is a scenario of one host that does what it is told to.
func waits(timers, faults string, f func(h host.Host)) *explore.Scenario {
	return order("waits", timers, faults, func(_ *explore.Case, say func(string)) []sim.Node {
		return []sim.Node{{Name: "a", Main: func(h host.Host, _ int) { f(h); say("a") }}}
	})
}

func sleeps(h host.Host) { h.Sleep(time.Second) }

// Every verdict states its assumption about time, and warns if the code depends on time
// and only punctual timers were tried.
func TestVerdictSaysItsTime(t *testing.T) {
	const idle = "idle: a timer fires only when nothing else can happen"
	const nothing = "; the code sets no deadline and reads no clock"
	for _, tt := range []struct {
		timers, faults string
		f              func(h host.Host)
		says, warns    string
	}{
		{"", "", func(host.Host) {}, idle + nothing, ""},
		{"", "", sleeps, idle, "the code sets finite deadlines; "},
		{"idle", "", func(h host.Host) { h.Now() }, idle, "the code reads the clock; "},
		{"", "crash(a)<=1", func(h host.Host) { h.Now(); h.Sleep(1) }, idle, "the code sets finite deadlines and reads the clock; "},
		{"", "timeout(a)<=1", sleeps, idle, ""},
		{"", "timeout(a)<=0", sleeps, idle, "the code sets finite deadlines; "},
		{"free", "", sleeps, "free: a timer may fire at any moment, in the order of deadlines on its own host", ""},
		{"skew(1.5)", "", sleeps, "skew(1.5): timers are punctual, on clocks whose rates differ by at most a factor of 1.5", ""},
		{"free", "", func(host.Host) {}, "free: a timer may fire at any moment, in the order of deadlines on its own host" + nothing, ""},
	} {
		for _, strategy := range []string{explore.Exhaustive, explore.Random} {
			r, err := explore.Check(waits(tt.timers, tt.faults, tt.f), explore.Options{Strategy: strategy, MaxRuns: 20})
			if err != nil {
				t.Fatal(err)
			}
			says := tt.says
			if strategy == explore.Random {
				says = strings.TrimSuffix(says, nothing) // untried code may
			}
			if r.Time() != says || !strings.HasPrefix(r.Warning(), tt.warns) || (tt.warns == "") != (r.Warning() == "") {
				t.Errorf("%s, timers %q, faults %q: says %q and warns %q", strategy, tt.timers, tt.faults, r.Time(), r.Warning())
			}
		}
	}
}

// A test states it too, for every verdict.
func TestTestSaysItsTime(t *testing.T) {
	t.Setenv(explore.EnvOut, t.TempDir())
	wants(t, testWith(t, waits("", "", sleeps), explore.Options{}), false, "timers idle: ", "warning: the code sets finite deadlines")
	wants(t, testWith(t, waits("", "", sleeps), explore.Options{Timers: "free"}), false, "timers free: ")
	wants(t, testWith(t, waits("free", "crash(a)<=1", sleeps), explore.Options{MaxRuns: 1}), true, "nothing is verified", "timers free: ")
	wants(t, testWith(t, waits("often", "", sleeps), explore.Options{}), true, `"often"; known: idle, free and skew(r)`)
	fails := waits("skew(2)", "", func(host.Host) { panic("no") })
	wants(t, testWith(t, fails, explore.Options{}), true, "and timers skew(2)", `Timers:   "skew(2)"`)
}

// A counterexample's file names its regime, and a replay uses it, even if the scenario
// has changed.
func TestCounterexampleKeepsItsTimers(t *testing.T) {
	s := order("early", "free", "", func(c *explore.Case, say func(string)) []sim.Node {
		return []sim.Node{{Name: "a", Main: func(h host.Host, _ int) { h.Sleep(time.Second); say("a") }},
			{Name: "b", Main: func(h host.Host, _ int) {
				if _, err := h.Call("c", "x", nil, time.Millisecond); err != nil {
					panic(err)
				}
			}},
			{Name: "c", Daemon: true, Main: func(h host.Host, _ int) {
				l, _ := h.Listen("x")
				for {
					r, err := l.Accept(-1)
					if err != nil {
						return
					}
					r.Reply([]byte("x"))
				}
			}}}
	})
	r, err := explore.Check(s, explore.Options{})
	if err != nil || r.Counterexample == nil {
		t.Fatal(r, err)
	}
	file := filepath.Join(t.TempDir(), "f.json")
	if err := r.Counterexample.Save(file); err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(file)
	var got struct{ Timers string }
	if err := json.Unmarshal(text, &got); err != nil || got.Timers != "free" {
		t.Errorf("the file says %q, %v", got.Timers, err)
	}
	ce, err := explore.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	s.Timers = "idle"
	if re, err := ce.Replay(s); err != nil || !re.Same {
		t.Errorf("the run is another: %v", err)
	}
	if r, err := explore.Check(s, explore.Options{}); err != nil || r.Verdict != explore.Verified {
		t.Errorf("under idle: %v, %v", r, err)
	}
}
