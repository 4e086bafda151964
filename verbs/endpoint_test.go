package verbs

import (
	"bytes"
	"errors"
	"testing"

	"pgregory.net/rapid"
)

var genEndpoint = rapid.Custom(func(t *rapid.T) Endpoint {
	e := Endpoint{
		LID: rapid.Uint16().Draw(t, "LID"),
		QPN: rapid.Uint32().Draw(t, "QPN"),
		PSN: rapid.Uint32Max(1<<24-1).Draw(t, "PSN"),
		MTU: rapid.Uint16().Draw(t, "MTU"),
	}
	copy(e.GID[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "GID"))
	return e
})

func TestEndpointRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := genEndpoint.Draw(t, "endpoint")
		prefix := rapid.SliceOfN(rapid.Byte(), 0, 4).Draw(t, "prefix")
		b, err := want.AppendBinary(bytes.Clone(prefix))
		if err != nil || len(b) != len(prefix)+EndpointSize || !bytes.HasPrefix(b, prefix) {
			t.Fatalf("AppendBinary gives %x, %v", b, err)
		}
		var got Endpoint
		if err := got.UnmarshalBinary(b[len(prefix):]); err != nil || got != want {
			t.Fatalf("got %+v, %v, want %+v", got, err, want)
		}
	})
}

// Two hosts may run different versions, so the bytes are fixed.
func TestEndpointEncoding(t *testing.T) {
	e := Endpoint{GID: [16]byte{0: 0xfe, 1: 0x80, 15: 0x01}, LID: 0x0102, QPN: 0x03040506, PSN: 0x070809, MTU: 0x1000}
	want := []byte{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 0, 7, 8, 9, 0x10, 0}
	if got, err := e.AppendBinary(nil); err != nil || !bytes.Equal(got, want) {
		t.Errorf("got %x, %v, want %x", got, err, want)
	}
}

func TestEndpointInvalid(t *testing.T) {
	longPSN := make([]byte, EndpointSize)
	longPSN[22] = 1
	for name, b := range map[string][]byte{
		"nothing": nil, "too short": make([]byte, EndpointSize-1), "too long": make([]byte, EndpointSize+1),
		"25 bits of PSN": longPSN,
	} {
		if err := new(Endpoint).UnmarshalBinary(b); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: got %v, want ErrInvalid", name, err)
		}
	}
}

func FuzzEndpoint(f *testing.F) {
	f.Add(make([]byte, EndpointSize))
	f.Add(bytes.Repeat([]byte{0xff}, EndpointSize))
	f.Add([]byte("short"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var e Endpoint
		if err := e.UnmarshalBinary(b); err != nil {
			if !errors.Is(err, ErrInvalid) {
				t.Fatalf("%v does not wrap ErrInvalid", err)
			}
			return
		}
		if again, err := e.AppendBinary(nil); err != nil || !bytes.Equal(again, b) {
			t.Fatalf("%x decodes and encodes as %x, %v", b, again, err)
		}
	})
}

func TestEndpointCheck(t *testing.T) {
	good := Endpoint{QPN: 17, PSN: 5, MTU: 1024}
	for _, c := range []struct {
		what   string
		change func(e *Endpoint)
		least  int
		want   string
	}{
		{"a good one", func(*Endpoint) {}, MinMTU, ""},
		{"the largest numbers", func(e *Endpoint) { e.QPN, e.PSN, e.MTU = 1<<24-1, 1<<24-1, MaxMTU }, MinMTU, ""},
		{"the smallest MTU", func(e *Endpoint) { e.MTU = MinMTU }, MinMTU, ""},
		{"an MTU below a card's", func(e *Endpoint) { e.MTU = 8 }, 1, ""},
		{"no QP number", func(e *Endpoint) { e.QPN = 0 }, 1, "verbs: invalid argument: QP number 0 is not from 1 to 16777215"},
		{"a QP number of 25 bits", func(e *Endpoint) { e.QPN = 1 << 24 }, 1, "verbs: invalid argument: QP number 16777216 is not from 1 to 16777215"},
		{"a PSN of 25 bits", func(e *Endpoint) { e.PSN = 1 << 24 }, 1, "verbs: invalid argument: packet sequence number 16777216 has more than 24 bits"},
		{"no MTU", func(e *Endpoint) { e.MTU = 0 }, 1, "verbs: invalid argument: MTU 0 is not a power of two from 1 to 4096"},
		{"too small an MTU", func(e *Endpoint) { e.MTU = 128 }, MinMTU, "verbs: invalid argument: MTU 128 is not a power of two from 256 to 4096"},
		{"an odd MTU", func(e *Endpoint) { e.MTU = 1500 }, MinMTU, "verbs: invalid argument: MTU 1500 is not a power of two from 256 to 4096"},
		{"too large an MTU", func(e *Endpoint) { e.MTU = 8192 }, MinMTU, "verbs: invalid argument: MTU 8192 is not a power of two from 256 to 4096"},
	} {
		e, got := good, ""
		c.change(&e)
		err := e.Check(c.least)
		if err != nil {
			got = err.Error()
		}
		if got != c.want || (err != nil) != errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}
