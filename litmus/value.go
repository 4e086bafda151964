package litmus

import (
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/litmus/lang"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// value is what a register holds, or final memory. Up to eight bytes are a
// number; more are bytes.
type value struct {
	set bool
	num uint64
	b   []byte // if there are more than eight
}

func number64(v uint64) value { return value{set: true, num: v} }

// valueOf makes a value of bytes; more than eight are copied.
func valueOf(b []byte) value {
	if len(b) > 8 {
		return value{set: true, b: append([]byte(nil), b...)}
	}
	var w [8]byte
	copy(w[:], b)
	return number64(binary.LittleEndian.Uint64(w[:]))
}

// fill writes v into b: little-endian, and into each word if there are several.
func fill(b []byte, v uint64) {
	var w [8]byte
	binary.LittleEndian.PutUint64(w[:], v)
	for len(b) > 0 {
		b = b[copy(b, w[:]):]
	}
}

// slice is part of a value of size bytes.
func (v value) slice(size, off, n int) value {
	if !v.set || off == 0 && n == size {
		return v
	}
	b := v.b
	if b == nil {
		var w [8]byte
		binary.LittleEndian.PutUint64(w[:], v.num)
		b = w[:]
	}
	return valueOf(b[off : off+n])
}

// all reports whether each word of v is c, where v has size bytes.
func (v value) all(c uint64, size int) bool {
	if v.b == nil {
		return v.num == c
	}
	for i := 0; i < size; i += 8 {
		n := min(8, size-i)
		if v.slice(size, i, n).num != c&mask(n) {
			return false
		}
	}
	return true
}

func mask(n int) uint64 {
	if n >= 8 {
		return 1<<64 - 1
	}
	return 1<<(8*n) - 1
}

// mixed reports whether the words of v differ.
func (v value) mixed(size int) bool {
	if v.b == nil {
		return false
	}
	return !v.all(v.slice(size, 0, 8).num, size)
}

func (v value) same(o value) bool {
	if len(v.b) > 0 || len(o.b) > 0 {
		return string(v.b) == string(o.b)
	}
	return v.num == o.num
}

// print is what register i adds to the fingerprint if it holds v.
func (v value) print(i int) fingerprint.Print {
	if !v.set {
		return fingerprint.Print{}
	}
	return fingerprint.Print{}.String("register").Int(i).Uint(v.num).Bytes(v.b)
}

// text is a value of size bytes for people; names are those of its kind.
func (v value) text(kind regKind, size int, labels []*labelProg) string {
	switch {
	case !v.set:
		return "-"
	case kind == kindStatus && v.num == statusNone:
		return "NONE"
	case kind == kindStatus:
		return verbs.Status(v.num).String()
	case kind == kindPosted:
		return lang.ResultNames[min(int(v.num), len(lang.ResultNames)-1)]
	case kind == kindLabel:
		if int(v.num) < len(labels) {
			return labels[v.num].name
		}
		return "other"
	case kind == kindState:
		return verbs.QPState(v.num).String()
	case v.b == nil:
		return lang.Number(v.num)
	}
	return v.words(size)
}

// words is a value of several words, with repeated ones counted.
func (v value) words(size int) string {
	var out []string
	for i := 0; i < size; {
		w := v.slice(size, i, min(8, size-i)).num
		n := 1
		for j := i + 8; j < size && v.slice(size, j, min(8, size-j)).num == w; j += 8 {
			n++
		}
		text := lang.Number(w)
		if n > 1 {
			text = strconv.Itoa(n) + "x" + text
		}
		out = append(out, text)
		i += 8 * n
	}
	return "{" + strings.Join(out, " ") + "}"
}

// statusNone is what poll finds if there is nothing.
const statusNone = 255

// Results of posts and state changes, in the order of lang.ResultNames.
const (
	postOK = iota
	postFull
	postInvalid
	postState
	postUnsupported
	postClosed
	postBusy
	postOther
)
