package programs_test

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore/programs"
)

var (
	count   = flag.Int("programs", 0, "programs of each kind; 0: 1,000 in all")
	kinds   = flag.String("kind", "all", "kinds of programs, with commas between them")
	first   = flag.Uint64("seed", 1, "the seed of the first program")
	runs    = flag.Uint64("runs", 0, "runs that the naive search may take; 0: the default")
	states  = flag.Uint64("states", 0, "runs that a search with states may take; 0: the default")
	workers = flag.Int("workers", runtime.GOMAXPROCS(0), "programs that are compared at a time")
	text    = flag.String("program", "", "check this program alone, by its text")
	outcome = flag.String("outcome", "", "with -program: show a run with this outcome, without late resolution")
	late    = flag.Bool("late", false, "with -outcome: with late resolution")
	with    = flag.String("with", "", "only programs with this in their text, such as an act")
	only    = flag.String("cause", "", "show only differences with this cause")
	keep    = flag.Int("keep", 5, "programs that are shrunk and shown for each kind and cause")
)

func TestMain(m *testing.M) {
	flag.Parse()
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}

func limits() programs.Limits {
	l := programs.DefaultLimits
	if *runs > 0 {
		l.Runs = *runs
	}
	if *states > 0 {
		l.States = *states
	}
	return l
}

// batch is how many programs are compared before progress is shown.
const batch = 500

// No search loses an outcome of a program at random, and none finds one that there is not.
func TestPrograms(t *testing.T) {
	if *text != "" {
		p, err := programs.Parse(*text)
		if err != nil {
			t.Fatal(err)
		}
		show(t, p)
		return
	}
	of := programs.Kinds
	if *kinds != "all" {
		of = strings.Split(*kinds, ",")
		for _, kind := range of {
			if !slices.Contains(programs.Kinds, kind) {
				t.Fatalf("-kind: there is no kind %q; there are %s", kind, strings.Join(programs.Kinds, ", "))
			}
		}
	}
	n := *count
	if n == 0 {
		n = 540 / len(programs.Kinds)
		if testing.Short() {
			n = 2 // one for each worker: the race detector looks at them, and makes each program ten times slower
		}
	}
	var table []string
	for _, kind := range of {
		t.Run(kind, func(t *testing.T) { table = append(table, bulk(t, kind, uint64(n)).String()) })
	}
	t.Log("\n" + strings.Join(table, "\n"))
}

// maxTooLarge is how many in a hundred programs may be too large to be compared.
const maxTooLarge = 5

func bulk(t *testing.T, kind string, n uint64) programs.Tally {
	sum := programs.Tally{Kind: kind, First: *first}
	by := map[string]int{}
	for sum.Of < n {
		x, err := programs.Run(kind, *first+sum.Of, min(batch, n-sum.Of), *with, limits(), *workers, func(r programs.Result) {
			cause := r.Cause()
			by[cause]++
			switch {
			case *only != "" && cause != *only:
			case by[cause] > *keep:
				t.Errorf("%s %d differs: %s", kind, r.Seed, cause)
			default:
				report(t, kind, r)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		sum.Add(x)
		if n > batch {
			fmt.Println(sum)
		}
	}
	t.Log(sum, " ", by)
	if large := sum.By[programs.TooLarge]; large > 1 && large*100 > maxTooLarge*int(n) {
		t.Errorf("%d of %d programs are too large", sum.By[programs.TooLarge], n)
	}
	return sum
}

// report shrinks a program that a mode gets wrong, and says how to run it again.
func report(t *testing.T, kind string, r programs.Result) {
	t.Helper()
	small := programs.Shrink(r.Program, func(q *programs.Program) bool { return differs(q, r.Comparison) })
	c, err := programs.Compare(small, limits())
	if err != nil {
		t.Fatal(err)
	}
	out := fmt.Sprintf("%s %d: %s\n  was: %s\n  now: %s\n", kind, r.Seed, r.Cause(), r.Program, small)
	for _, d := range c.Diffs {
		out += d.String()
	}
	t.Errorf("%s  of %d: %v\n  again: go test ./explore/programs -run TestPrograms -program '%s'\n  or: go test ./explore/programs -run TestPrograms -kind %s -seed %d -programs 1",
		out, len(c.Outcomes), c.Outcomes, small, kind, r.Seed)
}

// differs reports whether q goes wrong as another program did, and no less surely.
func differs(q *programs.Program, was *programs.Comparison) bool {
	c, err := programs.Compare(q, limits())
	return err == nil && c.Cause() == was.Cause() && c.Truth >= was.Truth
}

// show compares one program and says all about it.
func show(t *testing.T, p *programs.Program) {
	c, err := programs.Compare(p, limits())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s\n%d runs, truth %d, compared %v, unfinished %v\n%s", p, c.Runs, c.Truth, c.Modes, c.Unfinished, strings.Join(c.Outcomes, "\n"))
	for _, d := range c.Diffs {
		t.Error(d)
	}
	if c.Cause() != "" {
		t.Log("cause: ", c.Cause())
	}
	if *outcome != "" {
		steps, err := p.Story(*outcome, !*late, 200_000)
		if err != nil {
			t.Fatal(err)
		}
		t.Log(strings.Join(steps, "\n"))
	}
}
