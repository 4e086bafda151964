package backups

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/verbatim-rdma/verbatim/protocol/sift/pool"
)

// Example: of four machines one has the coordinator. There is no backup, so its group waits
// for another node.
func Example() {
	trace, err := Read(strings.NewReader("0,11,0,,,\n0,12,0,,,\n0,13,0,,,\n0,14,0,,,\n0,15,0,,,\n5000000,11,1,,,\n"), "five machines")
	if err != nil {
		panic(err)
	}
	c := Config{Groups: 1, F: 1, Provision: 100 * time.Second, Repeats: 200, Seed: 1}
	r, err := Run(trace, c)
	if err != nil {
		panic(err)
	}
	fmt.Printf("the machine had the coordinator in %d of %d repeats, and its group waited %.0f s each time: %v\n", r.Faults, r.Repeats, r.Longest, r.Waits == r.Faults)
	// Output:
	// the machine had the coordinator in 35 of 200 repeats, and its group waited 100 s each time: true
}

// small is a trace with many failures.
func small(seed uint64) Assumptions {
	return Assumptions{Machines: 60, Days: 2, Rate: 4, Bursty: 0.5, Burst: 6, Repair: 10 * time.Minute, Seed: seed}
}

func synthetic(t interface{ Fatal(...any) }, a Assumptions) *Trace {
	trace, err := Synthetic(a)
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

// In every moment of a simulation a node of the pool is on one machine, a machine has one
// node, and as many nodes are there or ordered as at the beginning.
func TestNodesAndMachinesMatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		trace := synthetic(t, small(rapid.Uint64().Draw(t, "seed")))
		c := Config{Groups: rapid.IntRange(1, 12).Draw(t, "groups"), Backups: rapid.IntRange(0, 6).Draw(t, "backups"), F: 1, Provision: 100 * time.Second, Repeats: 1}
		s, err := newSimulation(trace, &c, rand.New(rand.NewPCG(1, 2)))
		if err != nil {
			t.Fatal(err)
		}
		up := map[int]bool{}
		for m := range trace.Up {
			up[m] = true
		}
		for _, e := range trace.Events {
			if err := s.step(e); err != nil {
				t.Fatal(err)
			}
			up[e.Machine] = e.Up
			matches(t, s, up)
		}
	})
}

func matches(t *rapid.T, s *simulation, up map[int]bool) {
	cpus, memories, ordered, leading := map[node]bool{}, 0, 0, 0
	for m, n := range s.on {
		switch {
		case (n == down) == up[m]:
			t.Fatalf("machine %d is up: %v, and has %d", m, up[m], n)
		case n == memory:
			memories++
		case n >= 0 && cpus[n]:
			t.Fatalf("node %d is on two machines", n)
		case n >= 0:
			cpus[n] = true
			if g, ok := s.pool.Serves(int(n)); ok {
				leading++
				if led, ok := s.pool.Leads(g); !ok || led != int(n) {
					t.Fatalf("group %d is led by %d, not %d", g, led, n)
				}
			}
		case n == nothing && s.idle[s.at[m]] != m:
			t.Fatalf("machine %d is not where it should be", m)
		}
	}
	for _, a := range s.ordered {
		if a.cpu {
			ordered++
		}
	}
	waiting := len(s.pool.Waiting())
	if s.pool.Missing() != ordered || len(cpus)+ordered != s.cfg.Groups+s.cfg.Backups || memories+len(s.ordered)-ordered != 3*s.cfg.Groups || leading+waiting != s.cfg.Groups || waiting != len(s.since) {
		t.Fatalf("%d CPU nodes, %d memory nodes, %d ordered of which %d CPU nodes, %d missing, %d lead, %d wait, %d since", len(cpus), memories, len(s.ordered), ordered, s.pool.Missing(), leading, waiting, len(s.since))
	}
}

// Without backups a fault adds the time of provisioning, if machines are left. With as many
// as there are CPU nodes that fail, nothing.
func TestNoBackupsAndEnough(t *testing.T) {
	a := small(1)
	a.Machines, a.Rate = 300, 1
	trace := synthetic(t, a)
	c := Config{Groups: 20, F: 1, Provision: 100 * time.Second, Repeats: 20, Seed: 3}
	r, err := Run(trace, c)
	if err != nil {
		t.Fatal(err)
	}
	if r.Faults == 0 || r.Waits != r.Faults || r.Added != 100 || r.Longest != 100 || r.Clean != 0 || r.Unserved != 0 {
		t.Errorf("without backups: %+v", r)
	}
	c.Backups = 100
	if r, err = Run(trace, c); err != nil {
		t.Fatal(err)
	}
	if r.Faults == 0 || r.Waits != 0 || r.Added != 0 || math.Abs(r.Clean-1) > 1e-9 {
		t.Errorf("with 100 backups: %+v", r)
	}
}

// The shape of figure 8: more backups add less, more groups need more backups. The same
// seed gives the same numbers.
func TestShapeOfFigure8(t *testing.T) {
	a := Defaults()
	a.Machines, a.Days = 2500, 10
	trace := synthetic(t, a)
	added := func(groups, backups int) float64 {
		c := Config{Groups: groups, Backups: backups, F: 1, Provision: 100 * time.Second, Repeats: 10, Seed: 1}
		r, err := Run(trace, c)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := Run(trace, c); err != nil || again != r {
			t.Errorf("first %+v, then %+v (%v)", r, again, err)
		}
		return r.Added
	}
	for _, groups := range []int{50, 200, 600} {
		for backups := 1; backups <= 16; backups *= 2 {
			if less, more := added(groups, backups/2), added(groups, backups); more > less {
				t.Errorf("%d groups: %.2f s with %d backups, and %.2f with %d", groups, less, backups/2, more, backups)
			}
		}
	}
	if few, many := added(50, 2), added(600, 2); few >= many {
		t.Errorf("with 2 backups %.2f s for 50 groups, and %.2f for 600", few, many)
	}
}

// A synthetic trace has the requested rate, each machine fails and returns in
// turn, and what is written can be read.
func TestSyntheticTraces(t *testing.T) {
	a := Defaults()
	trace := synthetic(t, a)
	failures, bursts := 0, map[time.Duration]int{}
	up := make([]bool, trace.Machines)
	for m := range up {
		up[m] = true
	}
	for i, e := range trace.Events {
		if i > 0 && e.At < trace.Events[i-1].At || up[e.Machine] == e.Up {
			t.Fatalf("event %d: %+v after %+v, of a machine that is up: %v", i, e, trace.Events[i-1], up[e.Machine])
		}
		if up[e.Machine] = e.Up; !e.Up {
			failures++
			bursts[e.At]++
		}
	}
	want := a.Rate * a.Days * float64(a.Machines)
	if math.Abs(float64(failures)-want) > 0.15*want {
		t.Errorf("%d failures, want about %.0f", failures, want)
	}
	single := 0
	for _, n := range bursts {
		if n == 1 {
			single++
		}
	}
	if share := 1 - float64(single)/float64(failures); math.Abs(share-a.Bursty) > 0.1 {
		t.Errorf("%.2f of the failures are in bursts, want about %.2f", share, a.Bursty)
	}
	var b bytes.Buffer
	if err := trace.Write(&b); err != nil {
		t.Fatal(err)
	}
	got, err := Read(&b, trace.Source)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, trace) {
		t.Errorf("%d machines, %d events and %d ignored were read, of %d and %d", got.Machines, len(got.Events), got.Ignored, trace.Machines, len(trace.Events))
	}
	if again := synthetic(t, a); !reflect.DeepEqual(again, trace) {
		t.Error("the same assumptions make another trace")
	}
	if a.Seed++; reflect.DeepEqual(synthetic(t, a).Events, trace.Events) {
		t.Error("another seed makes the same trace")
	}
}

// What the published table has: machines that come later, updates, rows that change
// nothing, times out of order, and rows after the end.
func TestRowsOfThePublishedTable(t *testing.T) {
	trace, err := Read(strings.NewReader(`0,5,0,HofLGzk1Or/8Ildj2+Lqv0UGGvY82NLoni8+J/Yy0RU=,0.5,0.2493
0,6,0,"a, b",0.5,0.25
700000000,6,1,x,0.5,0.25
600000000,5,2,x,0.5,0.25
650000000,9,0,x,1,1
800000000,6,1,x,0.5,0.25
900000000,5,0,x,0.5,0.25
900000001,6,0,x,0.5,0.25
9223372036854775807,5,1,x,0.5,0.25
`), "a table")
	if err != nil {
		t.Fatal(err)
	}
	want := &Trace{Source: "a table", Machines: 3, Up: 2, Ignored: 2, Events: []Event{{650 * time.Second, 2, true}, {700 * time.Second, 1, false}, {900*time.Second + time.Microsecond, 1, true}}}
	if !reflect.DeepEqual(trace, want) {
		t.Errorf("got %+v, want %+v", trace, want)
	}
}

func TestBadTracesAreErrors(t *testing.T) {
	for name, x := range map[string]struct{ text, want string }{
		"nothing":            {"", "no machine is added at time 0"},
		"no machine at 0":    {"5,1,0,\n", "no machine is added at time 0"},
		"too few columns":    {"0,1,0\n0,2\n", "line 2: 2 columns"},
		"a header":           {"time,machine,type\n", `line 1: the time "time"`},
		"a negative time":    {"-1,1,0\n", `the time "-1"`},
		"too late":           {"9223372036854775806,1,0\n", "the time"},
		"a machine by name":  {"0,one,0\n", `the machine "one"`},
		"a type of task":     {"0,1,3\n", `the type "3"`},
		"a quote left open":  {"0,1,0,\"x\n", "line 1"},
		"something else":     {"\x1f\x8b\x08\x00", "line 1"},
		"a number too large": {"0,99999999999999999999,0\n", "the machine"},
	} {
		_, err := Read(strings.NewReader(x.text), "a table")
		if !errors.Is(err, ErrTrace) || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, want %q", name, err, x.want)
		}
	}
}

type broken struct{}

var errBroken = errors.New("the disk is broken")

func (broken) Read([]byte) (int, error)  { return 0, errBroken }
func (broken) Write([]byte) (int, error) { return 0, errBroken }

// An error of the file is not one of the trace.
func TestErrorsOfTheFile(t *testing.T) {
	if _, err := Read(broken{}, "a table"); !errors.Is(err, errBroken) || errors.Is(err, ErrTrace) {
		t.Error(err)
	}
	if err := synthetic(t, small(1)).Write(broken{}); !errors.Is(err, errBroken) {
		t.Error(err)
	}
}

func TestImpossibleSettingsAreErrors(t *testing.T) {
	for name, change := range map[string]func(a *Assumptions){
		"no machine":           func(a *Assumptions) { a.Machines = 0 },
		"too many machines":    func(a *Assumptions) { a.Machines = math.MaxInt },
		"no time":              func(a *Assumptions) { a.Days = 0 },
		"time without end":     func(a *Assumptions) { a.Days = math.Inf(1) },
		"no number":            func(a *Assumptions) { a.Days = math.NaN() },
		"a negative rate":      func(a *Assumptions) { a.Rate = -1 },
		"a rate of nonsense":   func(a *Assumptions) { a.Rate = math.NaN() },
		"too many failures":    func(a *Assumptions) { a.Rate = 1e9 },
		"a share above 1":      func(a *Assumptions) { a.Bursty = 1.5 },
		"a share of nonsense":  func(a *Assumptions) { a.Bursty = math.NaN() },
		"bursts of half":       func(a *Assumptions) { a.Burst = 0.5 },
		"bursts without bound": func(a *Assumptions) { a.Burst = math.Inf(1) },
		"repaired at once":     func(a *Assumptions) { a.Repair = 0 },
	} {
		a := Defaults()
		change(&a)
		if _, err := Synthetic(a); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	trace := synthetic(t, small(1))
	for name, change := range map[string]func(c *Config){
		"no group":             func(c *Config) { c.Groups = 0 },
		"too many groups":      func(c *Config) { c.Groups = math.MaxInt },
		"fewer than nobody":    func(c *Config) { c.Backups = -1 },
		"F of 0":               func(c *Config) { c.F = 0 },
		"F too large":          func(c *Config) { c.F = math.MaxInt },
		"provisioned at once":  func(c *Config) { c.Provision = 0 },
		"never provisioned":    func(c *Config) { c.Provision = math.MaxInt64 },
		"no repeat":            func(c *Config) { c.Repeats = 0 },
		"more than machines":   func(c *Config) { c.Groups = 16 },
		"backups without room": func(c *Config) { c.Groups, c.Backups = 15, 1 },
	} {
		c := Config{Groups: 2, Backups: 1, F: 1, Provision: time.Minute, Repeats: 1}
		change(&c)
		if _, err := Run(trace, c); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A number outside its limits is not said to be one that it is not.
func TestTheErrorNamesTheLimitOfGroups(t *testing.T) {
	trace := synthetic(t, small(1))
	for _, c := range []Config{{Groups: 99999999}, {Groups: 1, Backups: 99999999}} {
		if _, err := Run(trace, c); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("to %d", pool.MaxNodes)) {
			t.Errorf("%d groups and %d backups: %v", c.Groups, c.Backups, err)
		}
	}
}

// A group that waits when no machine is left is reported as such.
func TestAGroupWithoutMachinesIsUnserved(t *testing.T) {
	trace, err := Read(strings.NewReader("0,1,0\n0,2,0\n0,3,0\n0,4,0\n1000000,1,1\n2000000,2,1\n3000000,3,1\n4000000,4,1\n"), "four")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(trace, Config{Groups: 1, F: 1, Provision: time.Second, Repeats: 1})
	if err != nil || r.Unserved != 1 || r.Faults != 1 || r.Waits != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("0,5,0,x,0.5,0.25\n700,5,1,x,0.5,0.25\n"))
	f.Add([]byte("0,5,0\n0,5,0\n1,5,1\n"))
	f.Add([]byte("0,5,0\n0,6,1\n")) // a machine that never was there
	f.Fuzz(func(t *testing.T, text []byte) {
		trace, err := Read(bytes.NewReader(text), "fuzz")
		if err != nil {
			if !errors.Is(err, ErrTrace) {
				t.Fatal(err)
			}
			return
		}
		var b bytes.Buffer
		if err := trace.Write(&b); err != nil {
			t.Fatal(err)
		}
		again, err := Read(&b, "fuzz")
		if err != nil {
			t.Fatal(err)
		}
		if trace.Ignored = 0; !reflect.DeepEqual(again, trace) {
			t.Errorf("read %+v, and %+v of what was written", trace, again)
		}
		if _, err := Run(trace, Config{Groups: 1, F: 1, Provision: time.Minute, Repeats: 1}); err != nil && !errors.Is(err, ErrConfig) {
			t.Error(err)
		}
	})
}
