package programs_test

import (
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/explore/programs"
)

var (
	count = flag.Int("programs", 0, "programs of each kind; 0: 2,000 in all")
	kinds = flag.String("kind", "", "kinds of programs, with commas between them; empty: all")
	first = flag.Uint64("seed", 1, "the seed of the first program")
	runs  = flag.Uint64("runs", 0, "runs that the naive search may take; 0: the default")
	text  = flag.String("program", "", "check this program alone, by its text")
	only  = flag.String("cause", "", "show only differences with this cause")
	keep  = flag.Int("keep", 5, "programs that are shrunk and shown for each kind and mode")
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
	return l
}

// tally is what became of the programs of one kind.
type tally struct {
	tried, compared, naive, differ, skipped int
	outcomes                                int
	by                                      map[string]int
}

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
	if *kinds != "" {
		of = strings.Split(*kinds, ",")
	}
	n := *count
	if n == 0 {
		n = 2000 / len(programs.Kinds)
	}
	for _, kind := range of {
		t.Run(kind, func(t *testing.T) { bulk(t, kind, *first, n) })
	}
}

func bulk(t *testing.T, kind string, seed uint64, n int) {
	start := time.Now()
	x := tally{by: map[string]int{}}
	shown := map[string]int{}
	for i := range uint64(n) {
		p := programs.Generate(kind, seed+i)
		c, err := programs.Compare(p, limits())
		if err != nil {
			t.Fatalf("%s %d: %s: %v", kind, seed+i, p, err)
		}
		x.add(c)
		if len(c.Diffs) == 0 {
			continue
		}
		cause := c.Cause()
		x.by[cause]++
		if *only != "" && cause != *only {
			continue
		}
		if shown[cause]++; shown[cause] > *keep {
			t.Errorf("%s %d differs: %s", kind, seed+i, cause)
			continue
		}
		report(t, kind, seed+i, p, c)
	}
	t.Logf("%s: %d programs from seed %d, %d compared (%d with the naive search), %d differ %v, %d modes skipped, %d outcomes, %v",
		kind, x.tried, seed, x.compared, x.naive, x.differ, x.by, x.skipped, x.outcomes, time.Since(start).Round(time.Millisecond))
	if x.compared < x.tried/2 {
		t.Errorf("only %d of %d programs were small enough to compare", x.compared, x.tried)
	}
}

func (x *tally) add(c *programs.Comparison) {
	x.tried++
	if c.Compared {
		x.compared++
		x.outcomes += len(c.Outcomes)
	}
	if c.Naive {
		x.naive++
	}
	if len(c.Diffs) > 0 {
		x.differ++
	}
	x.skipped += len(c.Skipped)
}

// report shrinks a program that a mode gets wrong, and says how to run it again.
func report(t *testing.T, kind string, seed uint64, p *programs.Program, was *programs.Comparison) {
	t.Helper()
	small := programs.Shrink(p, func(q *programs.Program) bool { return differs(q, was) })
	c, err := programs.Compare(small, limits())
	if err != nil {
		t.Fatal(err)
	}
	out := fmt.Sprintf("%s %d: %s\n  was: %s\n  now: %s\n", kind, seed, was.Cause(), p, small)
	for _, d := range c.Diffs {
		out += d.String()
	}
	t.Errorf("%s  of %d: %v\n  again: go test ./explore/programs -run TestPrograms -program '%s'\n  or: go test ./explore/programs -run TestPrograms -kind %s -seed %d -programs 1",
		out, len(c.Outcomes), c.Outcomes, small, kind, seed)
}

// differs reports whether q goes wrong as another program did, and no less surely.
func differs(q *programs.Program, was *programs.Comparison) bool {
	c, err := programs.Compare(q, limits())
	return err == nil && c.Cause() == was.Cause() && (c.Naive || !was.Naive)
}

// show compares one program and says all about it.
func show(t *testing.T, p *programs.Program) {
	c, err := programs.Compare(p, limits())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s\n%d runs, compared %v, naive %v, skipped %v\n%s", p, c.Runs, c.Compared, c.Naive, c.Skipped, strings.Join(c.Outcomes, "\n"))
	for _, d := range c.Diffs {
		t.Error(d)
	}
	if c.Cause() != "" {
		t.Log("cause: ", c.Cause())
	}
}
