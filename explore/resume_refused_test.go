package explore_test

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// chooses is a scenario of one host, which makes a choice of three after a number of sleeps: its
// data.
func chooses(name string, sleeps int) *explore.Scenario {
	return &explore.Scenario{Name: name, Build: func(c *explore.Case) (sim.Config, error) {
		return sim.Config{Profile: c.Profile, Budget: c.Budget, Nodes: []sim.Node{{Name: "a", Main: func(h host.Host, _ int) {
			for range sleeps {
				h.Sleep(time.Second)
			}
			c.History(fingerprint.Print{}.Int(h.Rand(3)))
		}}}}, nil
	}}
}

// A search goes on only as what it was, since its states are of one scenario with one setting.
// Each difference is found by itself, and the error names it.
func TestResumeOtherSetting(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s")
	if r, err := explore.Check(chooses("test/a", 1), explore.Options{Workers: 1, MaxRuns: 1, Save: file}); err != nil || r.Verdict != explore.RanOut {
		t.Fatal(r, err)
	}
	for name, x := range map[string]struct {
		s    *explore.Scenario
		opt  explore.Options
		want string // none: it goes on
	}{
		"the same":            {chooses("test/a", 1), explore.Options{}, ""},
		"other scenario":      {chooses("test/b", 1), explore.Options{}, "is a search of test/a"},
		"other profile":       {chooses("test/a", 1), explore.Options{Profile: "relaxed"}, "not of test/a with relaxed"},
		"other faults":        {chooses("test/a", 1), explore.Options{Faults: "crash(a)<=1"}, `and "crash(a)<=1"`},
		"other timers":        {chooses("test/a", 1), explore.Options{Timers: "free"}, "with timers idle, not free"},
		"other strengthening": {chooses("test/a", 1), explore.Options{Strengthen: sim.Inlined}, "with the strengthening"},
		"without symmetry":    {chooses("test/a", 1), explore.Options{NoSymmetry: true}, "with the options NoSymmetry"},
		"eager":               {chooses("test/a", 1), explore.Options{Eager: true}, "with the options NoSymmetry"},
		"other data":          {chooses("test/a", 2), explore.Options{}, "made from other data"},
	} {
		x.opt.Workers, x.opt.Resume = 1, file
		r, err := explore.Check(x.s, x.opt)
		switch {
		case x.want == "":
			if err != nil || r.Verdict != explore.Verified || r.Resumed != 1 {
				t.Errorf("%s: %+v %v", name, r, err)
			}
		case !errors.Is(err, explore.ErrResume) || !strings.Contains(err.Error(), x.want):
			t.Errorf("%s: %v, want %q", name, err, x.want)
		}
	}
}

// A state, or what is left to do there, may refer to what the file does not have.
func TestResumeReferences(t *testing.T) {
	dir := t.TempDir()
	file, edited := filepath.Join(dir, "s"), filepath.Join(dir, "edited")
	if r, err := explore.Check(chooses("test/a", 1), explore.Options{Workers: 1, MaxRuns: 2, Save: file}); err != nil || r.Verdict != explore.RanOut {
		t.Fatal(r, err)
	}
	set := func(field string, value any) func(state, chain map[string]any) {
		return func(state, _ map[string]any) { state[field] = value }
	}
	const many = 1 << 30
	for name, x := range map[string]struct {
		edit func(state, chain map[string]any)
		want string
	}{
		"no edit":        {func(_, _ map[string]any) {}, ""},
		"a step":         {set("Via", many), "damaged at state 0"},
		"an order":       {set("Order", many), "damaged at state 0"},
		"the sleepers":   {set("Asleep", many), "damaged at state 0"},
		"a state before": {set("Parent", many), "damaged at state 0"},
		"another shard": {func(state, _ map[string]any) {
			p := state["Print"].(map[string]any)
			a, _ := strconv.ParseUint(p["A"].(json.Number).String(), 10, 64)
			p["A"] = a ^ 1
		}, "damaged at state 0"},
		"a state to go on from": {func(_, chain map[string]any) { chain["At"] = many }, "damaged in its list of pending work"},
		"nothing to do":         {func(_, chain map[string]any) { chain["Todo"] = nil }, "damaged in its list of pending work"},
	} {
		var snap map[string]any
		edit(t, file, edited, &snap, func() {
			for _, shard := range snap["States"].([]any) {
				if all := shard.([]any); len(all) > 0 {
					x.edit(all[0].(map[string]any), snap["Chains"].([]any)[0].(map[string]any))
					return
				}
			}
			t.Fatal("there is no state")
		})
		_, err := explore.Check(chooses("test/a", 1), explore.Options{Workers: 1, MaxRuns: 9, Resume: edited})
		if x.want == "" && err != nil || x.want != "" && (!errors.Is(err, explore.ErrResume) || !strings.Contains(err.Error(), x.want)) {
			t.Errorf("%s: %v, want %q", name, err, x.want)
		}
	}
}

// edit writes the search in from to to, after change has changed it in snap.
func edit(t *testing.T, from, to string, snap any, change func()) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	z, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(z)
	d.UseNumber() // a float64 has not all digits of a fingerprint
	if err := d.Decode(snap); err != nil {
		t.Fatal(err)
	}
	change()
	out, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	w := gzip.NewWriter(out)
	if err := errors.Join(json.NewEncoder(w).Encode(snap), w.Close(), out.Close()); err != nil {
		t.Fatal(err)
	}
}
