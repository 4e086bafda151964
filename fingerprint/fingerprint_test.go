package fingerprint_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/verbatim-rdma/verbatim/fingerprint"
)

func Example() {
	log := []string{"a", "b"}
	p := fingerprint.Print{}.Int(len(log))
	for _, entry := range log {
		p = p.String(entry)
	}
	fmt.Println(p == fingerprint.Print{}.Int(2).String("a").String("b"))
	// Output: true
}

// Sequences that a careless hash would confuse are distinguished.
func TestSequencesAreToldApart(t *testing.T) {
	var zero fingerprint.Print
	all := map[fingerprint.Print]string{}
	for name, p := range map[string]fingerprint.Print{
		"empty":          zero,
		"0":              zero.Int(0),
		"false":          zero.Int(0).Bool(false),
		"no bytes":       zero.Bytes(nil),
		"a zero byte":    zero.Bytes([]byte{0}),
		"8 zero bytes":   zero.Bytes(make([]byte, 8)),
		"9 zero bytes":   zero.Bytes(make([]byte, 9)),
		"ab, c":          zero.String("ab").String("c"),
		"a, bc":          zero.String("a").String("bc"),
		"abc":            zero.String("abc"),
		"1, 2":           zero.Int(1).Int(2),
		"2, 1":           zero.Int(2).Int(1),
		"the empty one":  zero.Print(zero),
		"that of 1":      zero.Print(zero.Int(1)),
		"both of 1":      zero.Int(1).Plus(zero.Int(1)),
		"both of 1 or 2": zero.Int(1).Plus(zero.Int(2)),
	} {
		if other, ok := all[p]; ok {
			t.Errorf("%s and %s have one print", name, other)
		}
		all[p] = name
	}
}

// A number that differs in any bit changes both words, whatever came before.
func TestBothWordsSeeEveryBit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := fingerprint.Print{A: rapid.Uint64().Draw(t, "a"), B: rapid.Uint64().Draw(t, "b")}
		v := rapid.Uint64().Draw(t, "v")
		x, y := p.Uint(v), p.Uint(v^1<<rapid.IntRange(0, 63).Draw(t, "bit"))
		if x.A == y.A || x.B == y.B {
			t.Fatalf("%x and %x share a word", x, y)
		}
	})
}

// A sum has the same print in any order.
func TestPlusHasNoOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		vs := rapid.SliceOf(rapid.Int()).Draw(t, "vs")
		var sum, other fingerprint.Print
		for _, v := range vs {
			sum = sum.Plus(fingerprint.Print{}.Int(v))
		}
		for _, v := range rapid.Permutation(vs).Draw(t, "permuted") {
			other = other.Plus(fingerprint.Print{}.Int(v))
		}
		if sum != other {
			t.Fatal("the order matters")
		}
	})
}
