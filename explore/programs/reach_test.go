package programs

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/faults"
)

// feature is something that a program has, and the program without it.
type feature struct {
	name    string
	without *Program
}

func (p *Program) features() []feature {
	var out []feature
	add := func(name string, f func(q *Program)) {
		q := p.clone()
		if f(q); q.valid() {
			out = append(out, feature{name, q})
		}
	}
	for i, rule := range p.Faults {
		kind, _, _ := strings.Cut(rule, "(")
		add("fault "+kind, func(q *Program) { q.Faults = slices.Delete(q.Faults, i, i+1) })
	}
	for i, s := range p.Set {
		add("setting "+s, func(q *Program) { q.Set = slices.Delete(q.Set, i, i+1) })
	}
	if p.Timers != "" {
		regime, _, _ := strings.Cut(p.Timers, "(")
		add("timers "+regime, func(q *Program) { q.Timers = "" })
	}
	for i := range p.Hosts {
		h := &p.Hosts[i]
		if h.Daemon {
			add("daemon", func(q *Program) { q.Hosts[i].Daemon = false })
		}
		if h.Again {
			add("again", func(q *Program) { q.Hosts[i].Again = false })
		}
		if h.Copies > 0 {
			add("symmetric", func(q *Program) { q.Hosts[i].Copies = 0 })
		}
		if n := len(h.Lives); n > 1 {
			add("life", func(q *Program) { q.Hosts[i].Lives = q.Hosts[i].Lives[:n-1] })
		}
		for j := range h.Lives {
			n := 0
			eachAct(h.Lives[j], func(a *Act) {
				k := n
				n++
				add("act "+a.Do, func(q *Program) { q.Hosts[i].Lives[j] = removeAct(q.Hosts[i].Lives[j], k, true) })
			})
		}
	}
	n := 0
	p.acts(func(_ *Host, a *Act) {
		k := n
		n++
		if a.If > 0 {
			add("condition", func(q *Program) { q.act(k).If = 0 })
		}
		for i, f := range a.Flags {
			add("flag "+string(f), func(q *Program) { b := q.act(k); b.Flags = b.Flags[:i] + b.Flags[i+1:] })
		}
	})
	return out
}

// wanted are the features that generated programs must have, with an effect.
func wanted() map[string]bool {
	w := map[string]bool{"timers free": true, "timers skew": true, "daemon": true, "again": true, "symmetric": true, "life": true, "condition": true}
	for _, k := range faults.KindNames() {
		w["fault "+k] = true
	}
	for _, s := range settings {
		w["setting "+s] = true
	}
	for name, k := range table {
		w["act "+name] = true
		for _, f := range k.flags {
			w["flag "+string(f)] = true
		}
	}
	for name := range w {
		if slices.Contains(silent, name) {
			delete(w, name)
		}
	}
	return w
}

// silent are the features that nothing shows: a completion channel is notified of every
// completion, solicited or not, in the simulator, reports are the same in both forms, and a point lets others go on
// where almost all acts do.
var silent = []string{"flag o", "setting history", "act point"}

// The page about yardsticks lists the kinds, in these rows.
func TestKindsAreListed(t *testing.T) {
	page, err := os.ReadFile("../../docs/yardsticks.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := ""
	for _, k := range kinds {
		rows += "| " + k.name + " | " + k.about + " |\n"
	}
	if !strings.Contains(string(page), "| kind | its programs are about |\n|---|---|\n"+rows+"\n") {
		t.Errorf("docs/yardsticks.md must have these rows:\n%s", rows)
	}
}

// Everything that a program can say occurs in generated programs, and matters in one:
// without it the outcomes are others. The programs in testdata/matters.txt, where a search of
// minutes found that, come first; what matters in none of them any longer is sought in all.
func TestEverythingMatters(t *testing.T) {
	if testing.Short() {
		t.Skip("searches have nothing for the race detector; go test ./... runs them")
	}
	t.Parallel()
	missing, occurs := wanted(), map[string]bool{}
	limit := Limits{States: 2000}
	outcomes := func(p *Program) []string {
		out, _, done, err := search(p.Scenario(), explore.Options{}, limit)
		if err != nil {
			t.Fatalf("%s: %v", p, err)
		}
		if !done {
			return nil
		}
		return out
	}
	look := func(kind string, seed uint64, named string) {
		p := Generate(kind, seed)
		var want []string
		for _, f := range p.features() {
			occurs[f.name] = true
			if !missing[f.name] || named != "" && f.name != named {
				continue
			}
			if want == nil {
				want = outcomes(p)
			}
			if got := outcomes(f.without); want != nil && got != nil && !slices.Equal(want, got) {
				delete(missing, f.name)
				if named == "" {
					t.Logf("write into testdata/matters.txt: %s %d %s", kind, seed, f.name)
				}
			}
		}
	}
	text, err := os.ReadFile("testdata/matters.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		kind, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		number, feature, _ := strings.Cut(rest, " ")
		seed, err := strconv.ParseUint(number, 10, 64)
		if err != nil || !slices.Contains(Kinds, kind) {
			t.Fatalf("testdata/matters.txt has the line %q: %v", line, err)
		}
		look(kind, seed, feature)
	}
	for seed := uint64(1); seed <= 2000 && len(missing) > 0; seed++ {
		for _, kind := range Kinds {
			look(kind, seed, "")
		}
	}
	for name := range missing {
		t.Errorf("%s matters in no program that was generated (it occurs: %v)", name, occurs[name])
	}
}

// Each flag of each verb occurs.
func TestEveryFlagOfEveryVerbOccurs(t *testing.T) {
	if testing.Short() {
		t.Skip("it searches nothing, and 32,000 worlds take the race detector 20 GB; go test ./... runs it")
	}
	t.Parallel()
	missing := map[string]bool{}
	for name, k := range table {
		for _, f := range k.flags {
			missing[name+" "+string(f)] = true
		}
	}
	for seed := uint64(1); seed <= 2000 && len(missing) > 0; seed++ {
		for _, kind := range Kinds {
			Generate(kind, seed).acts(func(_ *Host, a *Act) {
				for _, f := range a.Flags {
					delete(missing, a.Do+" "+string(f))
				}
			})
		}
	}
	for name := range missing {
		t.Errorf("no program has %s", name)
	}
}
