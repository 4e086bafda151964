package explore_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// word is a word of shared memory: a service that reads and writes it in one step. The
// tasks that share it are hosts, since the search never treats two tasks of one host as
// commuting.
type word struct {
	h    host.Host
	name string
}

func (m word) Load64(int) uint64       { return binary.LittleEndian.Uint64(m.call(nil)) }
func (m word) Store64(_ int, v uint64) { m.call(binary.LittleEndian.AppendUint64(nil, v)) }

func (m word) call(req []byte) []byte {
	return must(m.h.Call("memory", m.name, req, -1))
}

// sharedMemory has hosts that share words. One more host sleeps until nothing else can
// happen, and then reports the words.
func sharedMemory(name string, words int, initial byte, tasks []func(r []word)) *explore.Scenario {
	names := make([]string, words)
	for i := range names {
		names[i] = fmt.Sprint("w", i)
	}
	on := func(h host.Host) (r []word) {
		for _, name := range names {
			r = append(r, word{h, name})
		}
		return r
	}
	x := scenario(name, "", func(x *tiny) []sim.Node {
		nodes := []sim.Node{{Name: "m", Main: func(h host.Host, _ int) {
			h.Sleep(time.Second)
			text := ""
			for _, m := range on(h) {
				text += fmt.Sprint(m.Load64(0), " ")
			}
			x.say(0, "%s", text)
		}}}
		for i, f := range tasks {
			nodes = append(nodes, sim.Node{Name: fmt.Sprint("t", i), Main: func(h host.Host, _ int) { f(on(h)) }})
		}
		return nodes
	})
	build := x.Build
	x.Build = func(c *explore.Case) (sim.Config, error) {
		cfg, err := build(c)
		for _, name := range names {
			var v [8]byte
			cfg.Services = append(cfg.Services, sim.Service{Host: "memory", Name: name,
				Apply: func(_ string, req []byte) []byte {
					copy(v[:], req)
					return slices.Clone(v[:])
				},
				ReadOnly: func(req []byte) bool { return len(req) == 0 },
				Hash:     func() fingerprint.Print { return fingerprint.Print{}.Bytes(v[:]) },
				Reset:    func() { v = [8]byte{initial} },
			})
		}
		return cfg, err
	}
	return x
}

// lastZero is the benchmark of Abdulla et al. (POPL 2014): n writers, each of
// which copies its neighbour's word plus one, and a reader that looks for the last
// zero. It has (n+3)·2^(n-2) Mazurkiewicz traces.
func lastZero(n int) *explore.Scenario {
	fs := []func([]word){func(r []word) {
		for i := n; i > 0 && r[i].Load64(0) != 0; i-- {
		}
	}}
	for j := 1; j <= n; j++ {
		fs = append(fs, func(r []word) { r[j].Store64(0, r[j-1].Load64(0)+1) })
	}
	return sharedMemory(fmt.Sprint("lastzero-", n), n+1, 0, fs)
}

// longAndShort has runs of many lengths: the run in which the reader finds zero is 80
// steps longer.
func longAndShort() *explore.Scenario {
	return sharedMemory("long-and-short", 2, 0, []func([]word){func(r []word) {
		for range 10 {
			r[1].Load64(0)
		}
		for i := 0; r[0].Load64(0) == 0 && i < 80; i++ {
			r[1].Load64(0)
		}
	}, func(r []word) { r[0].Store64(0, 1) }})
}

// fibBench is fib_bench of SV-COMP: two tasks that add each other's word to their
// own, k times, while a third looks at both. GenMC reports 218,243 executions of it
// for k = 5.
func fibBench(k int) *explore.Scenario {
	add := func(i int) func([]word) {
		return func(r []word) {
			a, b := r[i], r[1-i]
			for range k {
				v := a.Load64(0)
				a.Store64(0, v+b.Load64(0))
			}
		}
	}
	check := func(r []word) { _, _ = r[0].Load64(0), r[1].Load64(0) }
	return sharedMemory(fmt.Sprint("fib-", k), 2, 1, []func([]word){add(0), add(1), check})
}

// The published numbers count equivalence classes of executions under sequential
// consistency. A search with sleep sets that does not recognise states makes exactly
// one complete run per class, if the dependency relation is exact; and it reaches the
// same outcomes as the table of states.
func TestClassesEqualThePublishedNumbers(t *testing.T) {
	sequential(t)
	for _, x := range []struct {
		s       *explore.Scenario
		classes uint64 // 0: not published
		table   bool   // small enough for the table of states, which merges few states here
	}{
		{lastZero(4), 28, true}, {lastZero(6), 144, false},
		{fibBench(3), 0, true}, {longAndShort(), 0, true},
	} {
		t.Run(x.s.Name, func(t *testing.T) {
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
