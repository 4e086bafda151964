// Package wire encodes and decodes short messages with bounds: those with which hosts
// connect, and those that they store at a controller.
//
// All integers are big-endian. A message has exactly one encoding: a decoder that
// accepts a message accepts no other bytes for it, so a test can compare encodings
// instead of values.
//
//	b := binary.BigEndian.AppendUint64(nil, 7)
//	b = wire.AppendString(b, "wal")
//	r := wire.NewReader(b)
//	id, name := r.Uint64(), r.String(1, 100)
//	err := r.End()
//
// golang.org/x/crypto/cryptobyte does the same job, but each of its reads reports
// success separately, and a protocol's limits (such as a size from 1 to a maximum)
// would need a second mechanism. A [Reader] has one mechanism, Fail.
package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// ErrMalformed: the bytes are too few, too many, or exceed the limits.
var ErrMalformed = errors.New("wire: malformed message")

// Reader reads values from the front of a message. After the first missing or
// out-of-range value it returns only zeros, so it suffices to check End.
type Reader struct {
	b   []byte
	bad bool
}

// NewReader reads b, which it does not modify.
func NewReader(b []byte) *Reader { return &Reader{b: b} }

// Fail marks the message as malformed unless ok, for limits that only the caller knows.
func (r *Reader) Fail(ok bool) { r.bad = r.bad || !ok }

// Take returns the next n bytes, which alias the message.
func (r *Reader) Take(n int) []byte {
	if r.bad || n < 0 || len(r.b) < n {
		r.bad = true
		return nil
	}
	p := r.b[:n:n]
	r.b = r.b[n:]
	return p
}

// Uint8 reads one byte.
func (r *Reader) Uint8() uint8 {
	if p := r.Take(1); p != nil {
		return p[0]
	}
	return 0
}

// Uint32 reads 4 bytes.
func (r *Reader) Uint32() uint32 {
	if p := r.Take(4); p != nil {
		return binary.BigEndian.Uint32(p)
	}
	return 0
}

// Uint64 reads 8 bytes.
func (r *Reader) Uint64() uint64 {
	if p := r.Take(8); p != nil {
		return binary.BigEndian.Uint64(p)
	}
	return 0
}

// Bool reads one byte, which is 0 or 1.
func (r *Reader) Bool() bool {
	n := r.Uint8()
	r.Fail(n <= 1)
	return n == 1
}

// Int reads 8 bytes that encode a number from least to most.
func (r *Reader) Int(least, most int) int {
	n := r.Uint64()
	if n > math.MaxInt || int(n) < least || int(n) > most {
		r.bad = true
		return 0
	}
	return int(n)
}

// String reads a string of least to most bytes, as [AppendString] wrote it.
func (r *Reader) String(least, most int) string {
	s := string(r.Take(int(r.Uint8())))
	r.Fail(len(s) >= least && len(s) <= most)
	return s
}

// Left returns the number of unread bytes.
func (r *Reader) Left() int { return len(r.b) }

// End returns nil if the whole message was read and every value was within its limits.
// Otherwise it wraps [ErrMalformed].
func (r *Reader) End() error {
	switch {
	case r.bad:
		return fmt.Errorf("%w: a value is missing or outside its limits", ErrMalformed)
	case len(r.b) > 0:
		return fmt.Errorf("%w: %d trailing bytes", ErrMalformed, len(r.b))
	}
	return nil
}

// MaxString is the largest length of a string, in bytes.
const MaxString = math.MaxUint8

// AppendString appends s with its length in one byte. It panics if s exceeds
// [MaxString] bytes, since callers enforce their own limits.
func AppendString(b []byte, s string) []byte {
	if len(s) > MaxString {
		panic(fmt.Sprintf("wire: a string of %d bytes", len(s)))
	}
	b = append(b, byte(len(s)))
	return append(b, s...)
}

// AppendBool appends one byte.
func AppendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}
