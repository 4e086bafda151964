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
