package ycsb

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

const draws = 100_000

// Operations come in the shares of the workload, on records that there are.
func TestShares(t *testing.T) {
	for i := range Workloads {
		w := &Workloads[i]
		g := w.Generator(1000, 1)
		var count [kinds]int
		for range draws {
			before := g.Records()
			op := g.Next()
			count[op.Kind]++
			isNew := op.Kind == Insert
			if op.Record < 0 || op.Record >= g.Records() || isNew != (op.Record == before) || isNew != (g.Records() == before+1) {
				t.Fatalf("%s: %v of record %d, of %d before and %d after", w.Name, op.Kind, op.Record, before, g.Records())
			}
			if scan := op.Kind == Scan; scan != (op.Length > 0) || op.Length > MaxScan {
				t.Fatalf("%s: %v of %d records", w.Name, op.Kind, op.Length)
			}
		}
		for k, n := range count {
			// Five times the standard deviation of a share of a half.
			if got := 100 * float64(n) / draws; math.Abs(got-float64(w.Shares[k])) > 0.8 || w.Shares[k] == 0 && n > 0 {
				t.Errorf("%s: %.2f %% are %vs, want %d", w.Name, got, Kind(k), w.Shares[k])
			}
		}
	}
}

// Ranks have the probabilities of the distribution, and go on having them as it grows.
func TestZipf(t *testing.T) {
	const n = 1000
	var z zipfian
	z.grow(10)
	z.grow(n)
	r := rand.New(rand.NewPCG(1, 2))
	var count [n]int
	for range draws {
		count[z.draw(r)]++
	}
	total := 0.0
	for k := range n {
		total += 1 / math.Pow(float64(k+1), Theta)
	}
	for _, k := range []int{0, 1, 9, 99} {
		p := 1 / math.Pow(float64(k+1), Theta) / total
		want := p * draws
		if math.Abs(float64(count[k])-want) > 5*math.Sqrt(want) {
			t.Errorf("rank %d was drawn %d times, want about %.0f", k, count[k], want)
		}
	}
}

// In workload D the newest records are the popular ones, in the others the first.
func TestPopular(t *testing.T) {
	for i := range Workloads {
		w := &Workloads[i]
		g := w.Generator(1000, 1)
		first, last := 0, 0
		for range 10_000 {
			switch op := g.Next(); {
			case op.Kind == Insert:
			case op.Record < 10:
				first++
			case op.Record >= g.Records()-10:
				last++
			}
		}
		if (first < last) != w.Latest || max(first, last) < 2000 {
			t.Errorf("%s: of 10000, %d are of the first ten records, %d of the last", w.Name, first, last)
		}
	}
}

func TestSeed(t *testing.T) {
	ops := func(seed uint64) (all []Op) {
		g := Workloads[4].Generator(100, seed)
		for range 100 {
			all = append(all, g.Next())
		}
		return all
	}
	if !slices.Equal(ops(1), ops(1)) || slices.Equal(ops(1), ops(2)) {
		t.Error("a seed must fix the operations, and another one change them")
	}
}

func TestKeysAndValues(t *testing.T) {
	seen := map[string]bool{}
	sorted := true
	last := ""
	for i := range 10_000 {
		k := string(Key(nil, i))
		if len(k) != KeySize || seen[k] {
			t.Fatalf("key %q of record %d: %d bytes, seen before: %v", k, i, len(k), seen[k])
		}
		sorted = sorted && k > last
		seen[k], last = true, k
	}
	if sorted {
		t.Error("neighbours are neighbours in the order of keys too")
	}
	a, b := Loaded(nil, 1, 1), Loaded(nil, 2, 1)
	if len(a) != ValueSize || slices.Equal(a, b) || !slices.Equal(a, Loaded(b, 1, 1)) {
		t.Errorf("values %x and %x", a, b)
	}
	if v := Workloads[0].Generator(1, 1).Value(nil); len(v) != ValueSize {
		t.Errorf("a value of %d bytes", len(v))
	}
}

// The workloads are the core ones of YCSB.
func TestWorkloads(t *testing.T) {
	want := map[string]map[Kind]int{
		"A": {Read: 50, Update: 50}, "B": {Read: 95, Update: 5}, "C": {Read: 100}, "D": {Read: 95, Insert: 5},
		"E": {Scan: 95, Insert: 5}, "F": {Read: 50, ReadModifyWrite: 50},
	}
	for _, n := range Names() {
		w, ok := ByName(n)
		if !ok || w.Name != n || w.Latest != (n == "D") {
			t.Fatalf("workload %s: %v, %+v", n, ok, w)
		}
		for k, got := range w.Shares {
			if got != want[n][Kind(k)] {
				t.Errorf("workload %s: %d percent are %vs, want %d", n, got, Kind(k), want[n][Kind(k)])
			}
		}
	}
	if _, ok := ByName("G"); ok || len(Names()) != len(want) {
		t.Errorf("the workloads are %v", Names())
	}
}
