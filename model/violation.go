package model

import (
	"errors"
	"fmt"
)

// The promises of [LogFile], for errors.Is on what Recovered returns.
var (
	// ErrLostWrite: an acknowledged write, or one before it, is not in what
	// recovery returned, or has been overwritten by an older one.
	ErrLostWrite = errors.New("lost acknowledged write")
	// ErrRecoveryChanged: a byte is not what an earlier recovery returned,
	// and no write since then explains it.
	ErrRecoveryChanged = errors.New("recovery changed")
	// ErrNotPrefix: a write is there while one issued before it is not, or
	// more than one write is there in part.
	ErrNotPrefix = errors.New("not a prefix")
	// ErrForeignBytes: recovery returned bytes that nobody wrote.
	ErrForeignBytes = errors.New("bytes never written")
)

// The classes of a [Violation]: stable names which a shrinker keeps while it
// makes a failing run smaller.
const (
	ClassLostWrite       = "lost-acknowledged-write"
	ClassRecoveryChanged = "recovery-changed"
	ClassNotPrefix       = "not-a-prefix"
	ClassForeignBytes    = "bytes-never-written"
)

// Violation says which promise a recovery broke, at which byte. It unwraps to
// one of the errors above.
type Violation struct {
	// Write is the number of the write that should be there in whole, with
	// its Len bytes at Off. It is 0 if no write is concerned.
	Write, Off, Len int
	// Later is, for ErrNotPrefix, the write after it that was recovered.
	Later int
	// Round counts recoveries: this one is the Round-th, from 1.
	Round int
	// At is the first wrong byte, what it is and what it should be.
	At        int
	Got, Want byte

	kind error
}

// Class is the stable name of the broken promise.
func (v *Violation) Class() string {
	switch v.kind {
	case ErrLostWrite:
		return ClassLostWrite
	case ErrRecoveryChanged:
		return ClassRecoveryChanged
	case ErrNotPrefix:
		return ClassNotPrefix
	default:
		return ClassForeignBytes
	}
}

// Unwrap is the promise as one of the errors of this package.
func (v *Violation) Unwrap() error { return v.kind }

func (v *Violation) Error() string {
	at := fmt.Sprintf("byte %d is 0x%02x, want 0x%02x", v.At, v.Got, v.Want)
	switch v.kind {
	case ErrLostWrite:
		return fmt.Sprintf("acknowledged write %d (%d bytes at %d) is missing from what recovery returned: %s", v.Write, v.Len, v.Off, at)
	case ErrRecoveryChanged:
		return fmt.Sprintf("recovery %d took back what recovery %d had returned: %s", v.Round, v.Round-1, at)
	case ErrNotPrefix:
		return fmt.Sprintf("recovery returned bytes of write %d, but write %d (%d bytes at %d) before it is not whole: %s", v.Later, v.Write, v.Len, v.Off, at)
	default:
		return fmt.Sprintf("recovery returned a byte that was never written there: %s", at)
	}
}

// explain finds the words for a content that [LogFile.possible] has refused.
// It is slow and runs once per failing trace.
func (f *LogFile) explain(content []byte) error {
	if v := f.unexplainedByte(content); v != nil {
		return v
	}
	return f.brokenOrder(content)
}

// unexplainedByte looks for a byte that is neither the base's nor any
// unacknowledged write's: it is wrong whatever prefix was recovered. A byte of
// an acknowledged write is reported before any other; among equals, the lowest.
func (f *LogFile) unexplainedByte(content []byte) *Violation {
	var worst *Violation
	eachDiff(f.base, content, func(i int) {
		if f.explainer(i, byteAt(content, i)) >= 0 {
			return
		}
		v := f.judgeByte(i, byteAt(content, i))
		if worst == nil || v.kind == ErrLostWrite && worst.kind != ErrLostWrite {
			worst = v
		}
	})
	return worst
}

// judgeByte says whose byte of the base it is that came back as got.
func (f *LogFile) judgeByte(i int, got byte) *Violation {
	v := &Violation{At: i, Got: got, Want: byteAt(f.base, i), Round: f.rounds + 1}
	for k := len(f.folded) - 1; k >= 0; k-- {
		if s := f.folded[k]; i >= s.off && i < s.off+s.len {
			v.kind, v.Write, v.Off, v.Len = ErrLostWrite, s.index, s.off, s.len
			return v
		}
	}
	v.kind = ErrForeignBytes
	if f.rounds > 0 {
		v.kind = ErrRecoveryChanged
	}
	return v
}

// explainer is the first unacknowledged write that has this value at byte i,
// or -1.
func (f *LogFile) explainer(i int, value byte) int {
	for k := range f.pending.len() {
		w := f.pending.at(k)
		if i >= w.off && i < w.off+w.len() && f.pending.data(w)[i-w.off] == value {
			return k
		}
	}
	return -1
}

// brokenOrder is for a content in which each byte alone has an explanation.
// The prefix must reach at least to the write before `last`, the latest of the
// first explainers; one of the writes before `last` is then not whole, or some
// prefix would have been possible.
func (f *LogFile) brokenOrder(content []byte) *Violation {
	last := 0
	eachDiff(f.base, content, func(i int) {
		last = max(last, f.explainer(i, byteAt(content, i)))
	})
	v := &Violation{kind: ErrNotPrefix, Round: f.rounds + 1, At: -1, Later: f.acked() + 1 + last}
	for i := range f.reach() {
		got := byteAt(content, i)
		owner, want := f.prefixByte(last, i)
		if owner < 0 || got == want || f.hasByte(last, i, got) {
			continue
		}
		w := f.pending.at(owner)
		v.Write, v.Off, v.Len = f.acked()+1+owner, w.off, w.len()
		v.At, v.Got, v.Want = i, got, want
		break
	}
	return v
}

// prefixByte is byte i after the first n unacknowledged writes, and the one
// of them that wrote it, or -1 when the byte is the base's.
func (f *LogFile) prefixByte(n, i int) (owner int, value byte) {
	for k := n - 1; k >= 0; k-- {
		if w := f.pending.at(k); i >= w.off && i < w.off+w.len() {
			return k, f.pending.data(w)[i-w.off]
		}
	}
	return -1, byteAt(f.base, i)
}

// hasByte says whether unacknowledged write k has this value at byte i.
func (f *LogFile) hasByte(k, i int, value byte) bool {
	w := f.pending.at(k)
	return i >= w.off && i < w.off+w.len() && f.pending.data(w)[i-w.off] == value
}

// reach is where the last of the unacknowledged writes ends.
func (f *LogFile) reach() int {
	end := 0
	for k := range f.pending.len() {
		w := f.pending.at(k)
		end = max(end, w.off+w.len())
	}
	return end
}
