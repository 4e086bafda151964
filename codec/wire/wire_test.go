package wire_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/verbatim-rdma/verbatim/codec/wire"
)

func Example() {
	b := binary.BigEndian.AppendUint64(nil, 7)
	b = wire.AppendString(b, "wal")
	r := wire.NewReader(b)
	fmt.Println(r.Uint64(), r.String(1, 100), r.End())
	r = wire.NewReader(b[:9])
	fmt.Println(r.Uint64(), r.String(1, 100), r.End())
	// Output:
	// 7 wal <nil>
	// 7  wire: malformed message: a value is missing or outside its limits
}

// message has a value of each kind.
type message struct {
	a uint8
	b uint32
	c uint64
	d bool
	n int
	s string
}

func (m *message) encode() []byte {
	b := binary.BigEndian.AppendUint32([]byte{m.a}, m.b)
	b = binary.BigEndian.AppendUint64(b, m.c)
	b = wire.AppendBool(b, m.d)
	b = binary.BigEndian.AppendUint64(b, uint64(m.n))
	return wire.AppendString(b, m.s)
}

func decode(b []byte) (message, error) {
	r := wire.NewReader(b)
	m := message{r.Uint8(), r.Uint32(), r.Uint64(), r.Bool(), r.Int(3, 900), r.String(1, 20)}
	return m, r.End()
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := message{rapid.Uint8().Draw(t, "a"), rapid.Uint32().Draw(t, "b"), rapid.Uint64().Draw(t, "c"), rapid.Bool().Draw(t, "d"),
			rapid.IntRange(3, 900).Draw(t, "n"), rapid.StringN(1, 20, 20).Draw(t, "s")}
		b := want.encode()
		if got, err := decode(b); err != nil || got != want {
			t.Fatalf("%+v comes back as %+v, %v", want, got, err)
		}
		if _, err := decode(b[:rapid.IntRange(0, len(b)-1).Draw(t, "cut")]); !errors.Is(err, wire.ErrMalformed) {
			t.Fatalf("a part of it: %v", err)
		}
		if _, err := decode(append(b, 0)); !errors.Is(err, wire.ErrMalformed) {
			t.Fatalf("a byte more: %v", err)
		}
	})
}

// A value that exceeds its limits by one makes the message malformed, and all later
// values are zero.
func TestLimits(t *testing.T) {
	ok := message{n: 3, s: "x"}
	for name, m := range map[string]message{
		"small": {n: 2, s: "x"}, "large": {n: 901, s: "x"}, "negative": {n: -1, s: "x"}, "empty": {n: 3}, "long": {n: 3, s: strings.Repeat("x", 21)},
	} {
		if _, err := decode(m.encode()); !errors.Is(err, wire.ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	b := ok.encode()
	b[1+4+8] = 2 // neither false nor true
	if m, err := decode(b); !errors.Is(err, wire.ErrMalformed) || m.n != 0 || m.s != "" {
		t.Errorf("2 for a bool: %+v, %v", m, err)
	}
	r := wire.NewReader(nil)
	if r.Take(-1) != nil || r.End() == nil {
		t.Error("bytes before the beginning")
	}
	r = wire.NewReader([]byte{1})
	r.Fail(false)
	if r.Uint8() != 0 || r.Left() != 1 || r.End() == nil {
		t.Error("the reader goes on after Fail")
	}
	defer func() {
		if recover() == nil {
			t.Error("a string that no length describes was encoded")
		}
	}()
	wire.AppendString(nil, strings.Repeat("x", wire.MaxString+1))
}

// Appending to a returned slice does not overwrite what follows it.
func TestTakeIsApart(t *testing.T) {
	b := []byte{1, 2, 3}
	r := wire.NewReader(b)
	_ = append(r.Take(1), 9)
	if !bytes.Equal(b, []byte{1, 2, 3}) {
		t.Errorf("the message is %v now", b)
	}
}

func FuzzReader(f *testing.F) {
	f.Add((&message{n: 3, s: "x"}).encode())
	f.Add((&message{a: 1, b: math.MaxUint32, c: math.MaxUint64, d: true, n: 900, s: strings.Repeat("y", 20)}).encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := decode(b); err == nil && !bytes.Equal(m.encode(), b) {
			t.Errorf("%x is also %x", b, m.encode())
		}
	})
}
