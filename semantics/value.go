package semantics

import (
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/verbatim-rdma/verbatim/litmus/lang"
)

// value is the content of a register or of final memory: bytes, or a word such as a status.
type value struct {
	set  bool
	b    string // little-endian
	word string
}

func word64(v uint64) string { return string(binary.LittleEndian.AppendUint64(nil, v)) }

func number(v uint64) value { return value{set: true, b: word64(v)} }

func named(word string) value { return value{set: true, word: word} }

// bytes makes a value; up to eight bytes are a number.
func bytes(b string) value {
	if len(b) < 8 {
		b += string(make([]byte, 8-len(b)))
	}
	return value{set: true, b: b}
}

func num(b string) uint64 {
	var w [8]byte
	copy(w[:], b)
	return binary.LittleEndian.Uint64(w[:])
}

// fill returns n bytes; each word is v.
func fill(v uint64, n int) string { return strings.Repeat(word64(v), n/8+1)[:n] }

func (v value) slice(off, n int) value {
	if !v.set {
		return v
	}
	return bytes(v.b[off : off+n])
}

// text formats a value of n bytes.
func (v value) text(n int) string {
	switch {
	case !v.set:
		return "-"
	case v.b == "":
		return v.word
	case n <= 8:
		return lang.Number(num(v.b))
	}
	var out []string
	for i := 0; i < n; {
		w, j := num(v.b[i:min(i+8, n)]), i+8
		for j < n && num(v.b[j:min(j+8, n)]) == w {
			j += 8
		}
		text := lang.Number(w)
		if k := (j - i) / 8; k > 1 {
			text = strconv.Itoa(k) + "x" + text
		}
		out = append(out, text)
		i = j
	}
	return "{" + strings.Join(out, " ") + "}"
}
