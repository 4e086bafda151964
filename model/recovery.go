package model

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/verbatim-rdma/verbatim/fingerprint"
)

// Errors of a [LogFile] used out of turn. They are mistakes of the harness; faults of
// the protocol are a [*Violation].
var (
	// ErrRange: the write exceeds the file's capacity.
	ErrRange = errors.New("model: write outside the file")
	// ErrNotIssued: the acknowledged write has not begun.
	ErrNotIssued = errors.New("model: acknowledged write was never issued")
	// ErrStaleAck: the write was issued before the last recovery and not acknowledged
	// by then, so no caller is left to receive the acknowledgement.
	ErrStaleAck = errors.New("model: acknowledgement of a write from before the last recovery")
)

// DefaultLogCapacity is the capacity of a [LogFile] with Capacity 0.
const DefaultLogCapacity = 1 << 30

// LogFile checks what a near-compute log recovers (SplitFT, EuroSys 2024). The
// promises, with the paper's sections:
//
//   - An acknowledged write and all writes before it are recovered (4.2), in
//     the order in which the application issued them (4.6): the result is that of a
//     prefix of the writes that includes every acknowledged one.
//   - Unacknowledged writes may be recovered or not (4.6), and the one in progress at
//     the crash may be recovered in part (4.5.1): any bytes of it. Only the write
//     directly after the recovered prefix can be that one, since each peer receives
//     the writes in order (4.4).
//   - Every later recovery returns what an earlier one returned (4.5.1, the example of
//     Figure 7(i)), because the application may have acted on it. So later writes
//     apply to the recovered content.
//
// A recovery that cannot reach enough peers returns nothing and is not recorded here:
// the file is then unavailable, which the paper allows (4.2).
//
// The file is a region in which bytes never written are zero, and contents that differ
// only in trailing zeros are equal. The zero value is an empty file of the default
// capacity. A LogFile belongs to one goroutine.
//
// Acknowledged writes are folded into the base at once, so a write costs its own bytes,
// however long the trace, and a recovery costs one pass over the content and over the
// unacknowledged writes. Of an acknowledged write only the position is kept, until the
// next recovery, to name it if it is lost.
type LogFile struct {
	// Capacity is the largest end of a write; 0 is DefaultLogCapacity.
	Capacity int64

	base    []byte            // the acknowledged content, whole words; zeros follow
	baseSum fingerprint.Print // of all its words, see sumWords
	pending queue             // writes issued but not acknowledged, oldest first
	folded  []span            // acknowledged writes since the last recovery, to name a lost one
	issued  int               // number of the newest write
	stale   int               // writes up to this number predate the last recovery
	rounds  int               // successful recoveries

	scratch []byte // a copy of base for Recovered to apply writes to
}

// span is the position of a write.
type span struct{ index, off, len int }

// Begin records that the application issued a write, and numbers it: 1 for the first.
// Numbering continues after a recovery. The data is copied.
func (f *LogFile) Begin(off int64, data []byte) (index int, err error) {
	limit := f.Capacity
	if limit <= 0 {
		limit = DefaultLogCapacity
	}
	if off < 0 || off > limit-int64(len(data)) {
		return 0, fmt.Errorf("%w: %d bytes at %d, capacity %d", ErrRange, len(data), off, limit)
	}
	f.issued++
	f.pending.push(int(off), data)
	return f.issued, nil
}

// Ack records that the write returned success. Writes complete in issue order (4.4), so
// this acknowledges all earlier ones too; a late or repeated Ack changes nothing.
func (f *LogFile) Ack(index int) error {
	switch {
	case index < 1 || index > f.issued:
		return fmt.Errorf("%w: write %d of %d", ErrNotIssued, index, f.issued)
	case index <= f.stale:
		return fmt.Errorf("%w: write %d", ErrStaleAck, index)
	}
	for f.acked() < index {
		f.fold()
	}
	return nil
}

// Recovered records that a recovery returned this content to the application. It
// returns nil or a [*Violation]. After nil every later recovery must return the
// content, and earlier writes are settled; a violation changes nothing.
func (f *LogFile) Recovered(content []byte) error {
	if !f.possible(content) {
		return f.explain(content)
	}
	f.adopt(content)
	f.pending.clear()
	f.folded = f.folded[:0]
	f.stale = f.issued
	f.rounds++
	return nil
}

// Issued returns the number of the newest write, 0 if there is none.
func (f *LogFile) Issued() int { return f.issued }

// Acked returns the number of the newest settled write: acknowledged, or decided by a
// recovery.
func (f *LogFile) Acked() int { return f.acked() }

// Base appends the content that the next recovery must contain: the result of the last
// one plus the writes acknowledged since. It may have trailing zeros.
func (f *LogFile) Base(dst []byte) []byte { return append(dst, f.base...) }

// Hash returns a fingerprint of everything that matters for later verdicts: the base content
// and the unacknowledged writes with their numbers. Files with the same futures have
// the same hash, whatever their history; the converse holds except for fingerprint
// collisions. It is the same in every run.
func (f *LogFile) Hash() fingerprint.Print {
	h := f.baseSum
	n := f.pending.len()
	if n > 0 {
		// Acks name writes by number, so numbers matter while writes await
		// acknowledgement. Otherwise they are only names.
		h = h.Int(f.issued)
	}
	for i := range n {
		h = h.Print(f.pending.at(i).hash)
	}
	return h
}

// AppendState appends the state that [LogFile.Hash] covers, for an exact comparison or
// another hash.
func (f *LogFile) AppendState(dst []byte) []byte {
	base := f.base
	for len(base) > 0 && base[len(base)-1] == 0 {
		base = base[:len(base)-1]
	}
	dst = binary.AppendUvarint(dst, uint64(len(base)))
	dst = append(dst, base...)
	n := f.pending.len()
	dst = binary.AppendUvarint(dst, uint64(n))
	if n > 0 {
		dst = binary.AppendUvarint(dst, uint64(f.issued))
	}
	for i := range n {
		w := f.pending.at(i)
		dst = binary.AppendUvarint(dst, uint64(w.off))
		dst = binary.AppendUvarint(dst, uint64(w.len()))
		dst = append(dst, f.pending.data(w)...)
	}
	return dst
}

// Clone returns an independent copy.
func (f *LogFile) Clone() *LogFile {
	c := new(LogFile)
	c.CopyFrom(f)
	return c
}

// CopyFrom makes f a copy of src, reusing f's memory.
func (f *LogFile) CopyFrom(src *LogFile) {
	if f == src {
		return
	}
	f.Capacity, f.baseSum, f.issued, f.stale, f.rounds = src.Capacity, src.baseSum, src.issued, src.stale, src.rounds
	f.base = append(f.base[:0], src.base...)
	f.folded = append(f.folded[:0], src.folded...)
	f.pending.copyFrom(&src.pending)
}

// Reset makes f an empty file again and keeps its capacity and memory.
func (f *LogFile) Reset() {
	f.base, f.folded, f.baseSum = f.base[:0], f.folded[:0], fingerprint.Print{}
	f.issued, f.stale, f.rounds = 0, 0, 0
	f.pending.clear()
}

func (f *LogFile) acked() int { return f.issued - f.pending.len() }

// fold applies the oldest unacknowledged write to the base.
func (f *LogFile) fold() {
	w := f.pending.at(0)
	data := f.pending.data(w)
	if len(data) > 0 { // an empty write, however far out, writes no gap
		f.base = extend(f.base, w.off+len(data))
		f.replace(w.off, data)
	}
	f.folded = append(f.folded, span{f.acked() + 1, w.off, len(data)})
	f.pending.pop()
}

// replace changes bytes of the base and maintains its sum.
func (f *LogFile) replace(off int, data []byte) {
	words := f.base[off&^7 : (off+len(data)+7)&^7]
	old := sumWords(off/8, words)
	copy(f.base[off:], data)
	now := sumWords(off/8, words)
	f.baseSum = fingerprint.Print{A: f.baseSum.A - old.A + now.A, B: f.baseSum.B - old.B + now.B}
}

// sumWords returns what the words, beginning with number at, add to the sum of
// a content. Zeros add nothing, so the sum does not depend on the length.
func sumWords(at int, words []byte) fingerprint.Print {
	var sum fingerprint.Print
	for i := 0; i+8 <= len(words); i += 8 {
		if w := binary.LittleEndian.Uint64(words[i:]); w != 0 {
			sum = sum.Plus(fingerprint.Print{}.Int(at + i/8).Uint(w))
		}
	}
	return sum
}
