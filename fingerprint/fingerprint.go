// Package fingerprint hashes what a checker must distinguish: the state of a world, of
// a service, of a scenario's checks.
//
// A [Print] is built from values, in order:
//
//	p := fingerprint.Print{}.Int(len(log)).Bytes(last).Bool(open)
//
// Each value is hashed with its kind and, where it has one, its length, so that
// different sequences of values have different prints except with probability 2⁻¹²⁸
// (for a hash that behaves like a random one; it does not resist an adversary). The
// zero Print is that of the empty sequence. [Print.Plus] combines values without an
// order.
package fingerprint

import (
	"encoding/binary"
	"math/bits"
)

// Print is a fingerprint of 128 bits: two words that are computed independently of each
// other, so that two values collide only if both words do.
type Print struct{ A, B uint64 }

// The kinds of values: each has its own multipliers, so that a number and the same
// bytes have different prints.
const (
	kindWord uint64 = iota << 32
	kindLength
	kindBytes
	kindPrint
)

// step absorbs a word into one half: a multiplication of 64 by 64 bits, folded.
func step(h, v, k1, k2 uint64) uint64 {
	hi, lo := bits.Mul64(h^k1, v^k2)
	x := hi ^ lo ^ h>>7 ^ v
	return (x ^ x>>29) * 0xbf58476d1ce4e5b9
}

// pair absorbs a word of a kind into each half.
func (p Print) pair(kind, a, b uint64) Print {
	return Print{
		A: step(p.A, a, 0x9e3779b97f4a7c15^kind, 0xd6e8feb86659fd93),
		B: step(p.B, b, 0xa0761d6478bd642f^kind, 0xe7037ed1a0b428db),
	}
}

// Uint adds an unsigned number.
func (p Print) Uint(v uint64) Print { return p.pair(kindWord, v, v) }

// Int adds a number.
func (p Print) Int(v int) Print { return p.Uint(uint64(v)) }

// Bool adds a truth value.
func (p Print) Bool(v bool) Print {
	if v {
		return p.Uint(1)
	}
	return p.Uint(0)
}

// Bytes adds bytes and their number.
func (p Print) Bytes(b []byte) Print {
	n := uint64(len(b))
	p = p.pair(kindLength, n, n)
	for len(b) >= 8 {
		w := binary.LittleEndian.Uint64(b)
		p, b = p.pair(kindBytes, w, w), b[8:]
	}
	if len(b) > 0 {
		var last [8]byte
		copy(last[:], b)
		w := binary.LittleEndian.Uint64(last[:])
		p = p.pair(kindBytes, w, w)
	}
	return p
}

// String adds a string as Bytes does.
func (p Print) String(s string) Print { return p.Bytes([]byte(s)) }

// Print adds another print as one value.
func (p Print) Print(x Print) Print { return p.pair(kindPrint, x.A, x.B) }

// Plus combines two prints in any order, such as those of the elements of a multiset.
// The zero Print is neutral.
func (p Print) Plus(x Print) Print { return Print{p.A + x.A, p.B + x.B} }

// Minus removes a print from a sum.
func (p Print) Minus(x Print) Print { return Print{p.A - x.A, p.B - x.B} }

// IsZero reports whether p is the print of the empty sequence.
func (p Print) IsZero() bool { return p == Print{} }
