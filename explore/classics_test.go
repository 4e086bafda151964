package explore_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// sharedMemory is a host whose tasks share words. The first task sleeps until
// nothing else can happen, and then says what the words hold.
//
// Each word is a region of its own, because the checker tells uses apart by region.
func sharedMemory(name string, words int, tasks func(r []host.Region) []func()) *explore.Scenario {
	return scenario(name, "", func(x *tiny) []sim.Node {
		return []sim.Node{{Name: "m", Main: func(h host.Host, _ int) {
			r := make([]host.Region, words)
			for i := range r {
				var err error
				if r[i], err = h.Alloc(8); err != nil {
					panic(err)
				}
			}
			for i, f := range tasks(r) {
				h.Go(fmt.Sprint("t", i), f)
			}
			h.Sleep(time.Second)
			text := ""
			for i := range words {
				text += fmt.Sprint(r[i].Load64(0), " ")
			}
			x.say(0, "%s", text)
		}}}
	})
}

// lastZero is the benchmark of Abdulla et al. (POPL 2014): n writers, each of
// which copies its neighbour's word plus one, and a reader that looks for the last
// zero. It has (n+3)·2^(n-2) Mazurkiewicz traces.
func lastZero(n int) *explore.Scenario {
	return sharedMemory(fmt.Sprint("lastzero-", n), n+1, func(r []host.Region) []func() {
		fs := []func(){func() {
			for i := n; i > 0 && r[i].Load64(0) != 0; i-- {
			}
		}}
		for j := 1; j <= n; j++ {
			fs = append(fs, func() { r[j].Store64(0, r[j-1].Load64(0)+1) })
		}
		return fs
	})
}

// longAndShort has runs of many lengths: one in which the reader finds zero is 80 steps
// longer.
func longAndShort() *explore.Scenario {
	return sharedMemory("long-and-short", 2, func(r []host.Region) []func() {
		return []func(){func() {
			for range 10 {
				r[1].Load64(0)
			}
			for i := 0; r[0].Load64(0) == 0 && i < 80; i++ {
				r[1].Load64(0)
			}
		}, func() { r[0].Store64(0, 1) }}
	})
}

// fibBench is fib_bench of SV-COMP: two tasks that add each other's word to their
// own, k times, while a third looks at both. GenMC reports 218,243 executions of it
// for k = 5.
func fibBench(k int) *explore.Scenario {
	return sharedMemory(fmt.Sprint("fib-", k), 2, func(r []host.Region) []func() {
		add := func(a, b host.Region) func() {
			return func() {
				for range k {
					v := a.Load64(0)
					a.Store64(0, v+b.Load64(0))
				}
			}
		}
		r[0].Store64(0, 1)
		r[1].Store64(0, 1)
		check := func() { _, _ = r[0].Load64(0), r[1].Load64(0) }
		return []func(){add(r[0], r[1]), add(r[1], r[0]), check}
	})
}

// The published numbers count equivalence classes of executions under sequential
// consistency. A search with sleep sets that recognises no state makes exactly one complete
// run for each, if steps are called dependent exactly when they are; and it reaches the
// outcomes that the table of states reaches.
func TestClassesEqualThePublishedNumbers(t *testing.T) {
	for _, x := range []struct {
		s       *explore.Scenario
		classes uint64 // 0: nobody has published it
		table   bool   // small enough for the table of states, which merges few states here
	}{
		{lastZero(4), 28, true}, {lastZero(6), 144, false}, {lastZero(7), 320, false},
		{fibBench(3), 0, true}, {longAndShort(), 0, true},
	} {
		t.Run(x.s.Name, func(t *testing.T) {
			if x.classes > 10000 {
				sequential(t)
			}
			sc := explore.Options{Profile: "strong+StoreBuffers=false"}
			ends := explore.Tree(&sc)
			r, err := explore.Check(x.s, sc)
			if err != nil || r.Verdict != explore.Verified {
				t.Fatal(r, err)
			}
			if n := ends.Load(); x.classes != 0 && n != x.classes {
				t.Errorf("%d complete runs, and %d classes are published", n, x.classes)
			}
			t.Logf("%d complete runs of %d for %d outcomes", ends.Load(), r.Runs, len(r.Outcomes))
			if !x.table {
				return
			}
			g, err := explore.Check(x.s, explore.Options{Profile: sc.Profile})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(r.Outcomes, g.Outcomes); d != "" {
				t.Errorf("outcomes differ (-tree +table):\n%s", d)
			}
		})
	}
}
