package model

import (
	"errors"
	"fmt"
)

// The promises of [LogFile], for errors.Is on the error of Recovered.
var (
	// ErrLostWrite: the recovered content lacks an acknowledged write, or one before
	// it, or an older write has overwritten it.
	ErrLostWrite = errors.New("lost acknowledged write")
	// ErrRecoveryChanged: a byte differs from what an earlier recovery returned, and no
	// later write explains it.
	ErrRecoveryChanged = errors.New("recovery changed")
	// ErrNotPrefix: a write was recovered while an earlier one was not, or more than
	// one write was recovered in part.
	ErrNotPrefix = errors.New("not a prefix")
	// ErrForeignBytes: recovery returned bytes that were never written.
	ErrForeignBytes = errors.New("bytes never written")
)

// The classes of a [Violation]: stable names that a shrinker preserves while it makes a
// failing run smaller.
const (
	ClassLostWrite       = "lost-acknowledged-write"
	ClassRecoveryChanged = "recovery-changed"
	ClassNotPrefix       = "not-a-prefix"
	ClassForeignBytes    = "bytes-never-written"
)

// Violation reports which promise a recovery broke, and at which byte. It unwraps to
// one of the errors above.
type Violation struct {
	// Write is the number of the write that should have been recovered whole, with its
	// Len bytes at Off. It is 0 if no write is concerned.
	Write, Off, Len int
	// Later is, for ErrNotPrefix, a later write that was recovered.
	Later int
	// Round is the number of this recovery, from 1.
	Round int
	// At is the first wrong byte, with its actual and expected value.
	At        int
	Got, Want byte

	kind error
}

// Class returns the stable name of the broken promise.
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

// Unwrap returns the promise as one of the errors of this package.
func (v *Violation) Unwrap() error { return v.kind }

func (v *Violation) Error() string {
	at := fmt.Sprintf("byte %d is 0x%02x, want 0x%02x", v.At, v.Got, v.Want)
	switch v.kind {
	case ErrLostWrite:
		return fmt.Sprintf("acknowledged write %d (%d bytes at %d) is missing from what recovery returned: %s", v.Write, v.Len, v.Off, at)
	case ErrRecoveryChanged:
		return fmt.Sprintf("recovery %d contradicts recovery %d: %s", v.Round, v.Round-1, at)
	case ErrNotPrefix:
		return fmt.Sprintf("recovery returned bytes of write %d, but write %d (%d bytes at %d) before it is not whole: %s", v.Later, v.Write, v.Len, v.Off, at)
	default:
		return fmt.Sprintf("recovery returned a byte that was never written there: %s", at)
	}
}

// explain describes a content that [LogFile.possible] has rejected. It is slow and runs
// once per failing trace.
func (f *LogFile) explain(content []byte) error {
	if v := f.unexplainedByte(content); v != nil {
		return v
	}
	return f.brokenOrder(content)
}

// unexplainedByte looks for a byte that comes neither from the base nor from any
// unacknowledged write: it is wrong whatever prefix was recovered. It reports a byte of
// an acknowledged write before any other; among equals, the lowest.
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

// judgeByte finds the owner of the byte of the base that was recovered as got.
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

// explainer returns the first unacknowledged write with this value at byte i, or -1.
func (f *LogFile) explainer(i int, value byte) int {
	for k := range f.pending.len() {
		w := f.pending.at(k)
		if i >= w.off && i < w.off+w.len() && f.pending.data(w)[i-w.off] == value {
			return k
		}
	}
	return -1
}

// brokenOrder handles a content in which each byte alone has an explanation. The prefix
// must reach at least the write before `last`, the latest of the first explainers; one
// of the writes before `last` is then not whole, or some prefix would have been
// possible.
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

// prefixByte returns byte i after the first n unacknowledged writes, and the one that
// wrote it, or -1 if the byte comes from the base.
func (f *LogFile) prefixByte(n, i int) (owner int, value byte) {
	for k := n - 1; k >= 0; k-- {
		if w := f.pending.at(k); i >= w.off && i < w.off+w.len() {
			return k, f.pending.data(w)[i-w.off]
		}
	}
	return -1, byteAt(f.base, i)
}

// hasByte reports whether unacknowledged write k has this value at byte i.
func (f *LogFile) hasByte(k, i int, value byte) bool {
	w := f.pending.at(k)
	return i >= w.off && i < w.off+w.len() && f.pending.data(w)[i-w.off] == value
}

// reach returns the end of the furthest unacknowledged write.
func (f *LogFile) reach() int {
	end := 0
	for k := range f.pending.len() {
		w := f.pending.at(k)
		end = max(end, w.off+w.len())
	}
	return end
}
