package lend

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/verbatim-rdma/verbatim/codec/wire"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Window is memory of another host: its address there, its key and its length in bytes.
type Window struct {
	Addr uint64
	RKey uint32
	Len  int
}

// WindowSize is the length in bytes of an encoded window.
const WindowSize = 8 + 4 + 8

// Append appends the encoding of w, [WindowSize] bytes, to b.
func (w Window) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint64(b, w.Addr)
	b = binary.BigEndian.AppendUint32(b, w.RKey)
	return binary.BigEndian.AppendUint64(b, uint64(w.Len))
}

// ReadWindow reads what Append wrote. A window has at least one byte.
func ReadWindow(r *wire.Reader) Window {
	return Window{Addr: r.Uint64(), RKey: r.Uint32(), Len: r.Int(1, math.MaxInt)}
}

// AppendEndpoint appends the encoding of e, [verbs.EndpointSize] bytes, to b.
func AppendEndpoint(b []byte, e verbs.Endpoint) []byte {
	b, _ = e.AppendBinary(b) // the error exists for an interface and is always nil
	return b
}

// ReadEndpoint reads what AppendEndpoint wrote.
func ReadEndpoint(r *wire.Reader) (e verbs.Endpoint) {
	p := r.Take(verbs.EndpointSize)
	r.Fail(p != nil && e.UnmarshalBinary(p) == nil)
	return e
}

// Greeting is the message with which two ends connect: an endpoint, and the memory
// lent.
type Greeting struct {
	Endpoint verbs.Endpoint
	Windows  []Window
}

// Encode returns the encoded endpoint, followed by the windows.
func (g *Greeting) Encode() []byte {
	b := AppendEndpoint(make([]byte, 0, verbs.EndpointSize+WindowSize*len(g.Windows)), g.Endpoint)
	for _, w := range g.Windows {
		b = w.Append(b)
	}
	return b
}

// DecodeGreeting decodes a greeting with the given number of windows. The error wraps
// [ErrMalformed].
func DecodeGreeting(b []byte, windows int) (Greeting, error) {
	r := wire.NewReader(b)
	g := Greeting{Endpoint: ReadEndpoint(r)}
	for range windows {
		g.Windows = append(g.Windows, ReadWindow(r))
	}
	if r.End() != nil {
		return g, fmt.Errorf("%w of %d bytes", ErrMalformed, len(b))
	}
	return g, nil
}
