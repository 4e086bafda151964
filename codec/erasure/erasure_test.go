package erasure_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/verbatim-rdma/verbatim/codec/erasure"
)

// Sift with F=1: two data parts and a parity part on three memory nodes.
func Example() {
	code, err := erasure.New(2, 1)
	if err != nil {
		panic(err)
	}
	block := []byte("passive memory")
	parts := buffers(code, len(block))
	if err := code.Encode(parts, block); err != nil {
		panic(err)
	}
	fmt.Printf("%q and %q, and a parity part of %d bytes\n", parts[0], parts[1], len(parts[2]))
	parts[0] = nil
	if err := code.Rebuild(parts); err != nil {
		panic(err)
	}
	fmt.Printf("%q\n", parts[0])
	parts[1], parts[2] = nil, nil
	fmt.Println(code.Rebuild(parts))
	// Output:
	// "passive" and " memory", and a parity part of 7 bytes
	// "passive"
	// erasure: too few parts: 1 are available; 2 are needed
}

// buffers are parts for a block of n bytes, with nonsense in them.
func buffers(c *erasure.Code, n int) [][]byte {
	parts := make([][]byte, c.Parts())
	for i := range parts {
		parts[i] = bytes.Repeat([]byte{0xA5}, c.PartSize(n))
	}
	return parts
}

func newCode(t interface{ Fatal(...any) }, data, parity int) *erasure.Code {
	c, err := erasure.New(data, parity)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func clone(parts [][]byte) [][]byte {
	out := make([][]byte, len(parts))
	for i, p := range parts {
		out[i] = bytes.Clone(p)
	}
	return out
}

// Every subset of F+1 parts gives all parts and the block, for F up to 3 and every size that
// may matter to a table of 64 bytes, and some that may matter to a cache.
func TestAnySubsetRebuilds(t *testing.T) {
	sizes := []int{1000, 1023, 1024, 1025, 4095, 4096}
	for n := 1; n <= 300; n++ {
		sizes = append(sizes, n)
	}
	for f := 1; f <= 3; f++ {
		code := newCode(t, f+1, f)
		for _, n := range sizes {
			block := make([]byte, n)
			for i := range block {
				block[i] = byte(i*31 + n)
			}
			parts := buffers(code, n)
			if err := code.Encode(parts, block); err != nil {
				t.Fatal(err)
			}
			for _, left := range subsets(code.Parts(), f+1) {
				rebuilds(t, code, parts, block, left)
			}
		}
	}
}

// rebuilds checks that the parts that are left give all, by either function.
func rebuilds(t interface {
	Fatal(...any)
	Fatalf(string, ...any)
}, code *erasure.Code, parts [][]byte, block []byte, left int) {
	some := clone(parts)
	for i := range some {
		if left&(1<<i) == 0 {
			some[i] = some[i][:0]
		}
	}
	for i := range some {
		one := clone(some)
		if err := code.RebuildOne(one, i); err != nil {
			t.Fatal(err)
		}
		for j := range one {
			switch {
			case j == i || len(some[j]) > 0:
				if !bytes.Equal(one[j], parts[j]) {
					t.Fatalf("part %d of a block of %d bytes, from the parts %b: %x, not %x", j, len(block), left, one[j], parts[j])
				}
			case len(one[j]) > 0:
				t.Fatalf("part %d was asked for, and part %d was made too", i, j)
			}
		}
	}
	if err := code.Rebuild(some); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(block))
	if err := code.Join(got, some); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, block) {
		t.Fatalf("a block of %d bytes, from the parts %b: %x, not %x", len(block), left, got, block)
	}
	if ok, err := code.Verify(some); !ok || err != nil {
		t.Fatalf("rebuilt parts do not belong together: %v", err)
	}
}

// subsets are the sets of n things with m elements, as bits.
func subsets(n, m int) (out []int) {
	for s := range 1 << n {
		ones := 0
		for i := range n {
			ones += s >> i & 1
		}
		if ones == m {
			out = append(out, s)
		}
	}
	return out
}

// Any code, any block, any loss that the code tolerates.
func TestLossesAreRebuilt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data, parity := rapid.IntRange(1, 9).Draw(t, "data"), rapid.IntRange(1, 8).Draw(t, "parity")
		block := rapid.SliceOfN(rapid.Byte(), 1, 600).Draw(t, "block")
		code := newCode(t, data, parity)
		parts := buffers(code, len(block))
		if err := code.Encode(parts, block); err != nil {
			t.Fatal(err)
		}
		left := 0
		for _, i := range rapid.Permutation(numbers(code.Parts())).Draw(t, "left")[:data] {
			left |= 1 << i
		}
		rebuilds(t, code, parts, block, left)
	})
}

func numbers(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// Damage of at most as many parts as there are parity parts is noticed when all are there.
// When only as many are there as suffice, nothing notices it: the block is another one.
func TestDamageIsNoticedOnlyWithSpareParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data, parity := rapid.IntRange(1, 6).Draw(t, "data"), rapid.IntRange(1, 5).Draw(t, "parity")
		block := rapid.SliceOfN(rapid.Byte(), 1, 200).Draw(t, "block")
		code := newCode(t, data, parity)
		parts := buffers(code, len(block))
		if err := code.Encode(parts, block); err != nil {
			t.Fatal(err)
		}
		hit := rapid.Permutation(numbers(code.Parts())).Draw(t, "hit")[:rapid.IntRange(1, parity).Draw(t, "parts")]
		for _, i := range hit {
			at := rapid.IntRange(0, len(parts[i])-1).Draw(t, "at")
			parts[i][at] ^= rapid.ByteRange(1, 255).Draw(t, "by")
		}
		if ok, err := code.Verify(parts); ok || err != nil {
			t.Fatalf("damage of parts %v was not noticed: %v", hit, err)
		}
		spoilt := hit[0]
		some, n := clone(parts), 1
		for i := range some { // keep the damaged part and as many others as are needed
			if i == spoilt {
				continue
			}
			if n == data {
				some[i] = nil
			} else {
				n++
			}
		}
		if err := code.Rebuild(some); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(block))
		if err := code.Join(got, some); err != nil {
			t.Fatal(err)
		}
		if ok, err := code.Verify(some); !ok || err != nil {
			t.Fatalf("the rebuilt parts are a block, if another one: %v %v", ok, err)
		}
	})
}

// What is not a code, or not its parts, is refused by name.
func TestMistakesHaveNames(t *testing.T) {
	code := newCode(t, 2, 1)
	part := func(sizes ...int) (out [][]byte) {
		for _, n := range sizes {
			out = append(out, make([]byte, n))
		}
		return out
	}
	shape := func(data, parity int) error { _, err := erasure.New(data, parity); return err }
	verify := func(parts [][]byte) error { _, err := code.Verify(parts); return err }
	for _, x := range []struct {
		what      string
		got, want error
	}{
		{"no data part", shape(0, 1), erasure.ErrShape},
		{"no parity part", shape(1, 0), erasure.ErrShape},
		{"a negative number", shape(-1, 3), erasure.ErrShape},
		{"257 parts", shape(200, 57), erasure.ErrShape},
		{"a number that overflows", shape(1<<62, 1<<62), erasure.ErrShape},
		{"a part too few", code.Encode(part(4), make([]byte, 8)), erasure.ErrUnknown},
		{"a part too many", code.Encode(part(4, 4, 4, 4), make([]byte, 8)), erasure.ErrUnknown},
		{"an empty block", code.Encode(part(0, 0, 0), nil), erasure.ErrLength},
		{"a short part", code.Encode(part(4, 4, 3), make([]byte, 8)), erasure.ErrLength},
		{"long parts", code.Encode(part(5, 5, 5), make([]byte, 8)), erasure.ErrLength},
		{"the data parts alone", code.Encode(part(4, 4), make([]byte, 8)), erasure.ErrUnknown},
		{"a joined part too few", code.Join(make([]byte, 8), part(4)), erasure.ErrUnknown},
		{"a joined part of no bytes", code.Join(make([]byte, 8), part(4, 0, 4)), erasure.ErrLength},
		{"two losses of one", code.Rebuild(part(0, 4, 0)), erasure.ErrTooFew},
		{"nothing is left", code.Rebuild(part(0, 0, 0)), erasure.ErrTooFew},
		{"parts that differ in length", code.Rebuild(part(4, 5, 0)), erasure.ErrLength},
		{"no parts", code.Rebuild(nil), erasure.ErrUnknown},
		{"part -1", code.RebuildOne(part(4, 4, 0), -1), erasure.ErrUnknown},
		{"part 3", code.RebuildOne(part(4, 4, 0), 3), erasure.ErrUnknown},
		{"two losses, one wanted", code.RebuildOne(part(4, 0, 0), 2), erasure.ErrTooFew},
		{"a part that is missing is not verified", verify(part(4, 4, 0)), erasure.ErrTooFew},
		{"too many parts are not verified", verify(part(4, 4, 4, 4)), erasure.ErrUnknown},
	} {
		if !errors.Is(x.got, x.want) {
			t.Errorf("%s: %v, want %v", x.what, x.got, x.want)
		}
	}
}

// Bytes of a part that no caller set are zeros: the last data part of a block that the data
// parts do not divide is the same each time.
func TestTheRestOfABlockIsZero(t *testing.T) {
	code := newCode(t, 3, 2)
	parts := buffers(code, 7)
	if err := code.Encode(parts, []byte("abcdefg")); err != nil {
		t.Fatal(err)
	}
	if got := string(bytes.Join(parts[:3], []byte("|"))); got != "abc|def|g\x00\x00" {
		t.Errorf("got %q", got)
	}
}

// Encoding is on the path of every write, and allocates nothing.
func TestEncodeAllocatesNothing(t *testing.T) {
	code := newCode(t, 3, 2)
	block := make([]byte, 3<<14)
	parts := buffers(code, len(block))
	if n := testing.AllocsPerRun(100, func() {
		if code.Encode(parts, block) != nil || code.Join(block, parts) != nil {
			panic("it was encoded before")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzRebuild: whatever parts are given, there is an error or parts of one length that
// belong together.
func FuzzRebuild(f *testing.F) {
	f.Add(uint8(2), uint8(1), []byte("abcdef"), uint16(1), uint8(3))
	f.Add(uint8(3), uint8(2), []byte("abcdefghi"), uint16(0b11000), uint8(0))
	f.Fuzz(func(t *testing.T, data, parity uint8, bytes []byte, lost uint16, cut uint8) {
		code, err := erasure.New(int(data), int(parity))
		if err != nil {
			return
		}
		parts := make([][]byte, code.Parts())
		for i := range parts {
			n := len(bytes) / len(parts)
			parts[i] = bytes[i*n : (i+1)*n : (i+1)*n]
			if lost>>(i%16)&1 == 1 {
				parts[i] = nil
			}
			if int(cut) == i && n > 0 {
				parts[i] = bytes[:n-1]
			}
		}
		if code.Rebuild(parts) != nil {
			return
		}
		for _, p := range parts {
			if len(p) == 0 || len(p) != len(parts[0]) {
				t.Errorf("parts of %d and %d bytes", len(parts[0]), len(p))
			}
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	for f := 1; f <= 2; f++ {
		b.Run(fmt.Sprintf("F=%d,block=1024", f), func(b *testing.B) {
			code := newCode(b, f+1, f)
			block := make([]byte, 1024)
			parts := buffers(code, len(block))
			b.SetBytes(int64(len(block)))
			b.ReportAllocs()
			for b.Loop() {
				if err := code.Encode(parts, block); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRebuild(b *testing.B) {
	code := newCode(b, 2, 1)
	block := make([]byte, 1024)
	parts := buffers(code, len(block))
	if err := code.Encode(parts, block); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(block)))
	b.ReportAllocs()
	for b.Loop() {
		parts[0] = parts[0][:0]
		if err := code.Rebuild(parts); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		newCode(b, 2, 1)
	}
}
