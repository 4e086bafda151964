package arcadia

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/verbatim-rdma/verbatim/host"
)

// What an attack found, each red before it was mended.

const long = "1111111111111111111111111111111111111111" // takes 64 bytes

func expect(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: %s", what, diff)
	}
}

// An old record right behind a new one, shorter than the old one was, does not count before the new record with
// its LSN, which lies at the beginning of the ring.
func TestOldRecordBeforeTheEndOfTheRing(t *testing.T) {
	h := newF()
	l, _ := h.open(t, 160)
	r1, r2 := put(t, l, long), put(t, l, "22222222")
	ok(t, r2.Force(1))
	ok(t, l.Cleanup(r1))
	put(t, l, "33333333")
	h = h.power(in(put(t, l, "old4old4"))) // 4 was evicted from the cache, 3 was not
	l, _ = h.open(t, 160)
	put(t, l, "NEW3NEW3")
	ok(t, put(t, l, strings.Repeat("NEW4", 10)).Force(1))
	want := list(l)
	for i := range 3 {
		h = h.power(nil)
		l, _ = h.open(t, 160)
		expect(t, fmt.Sprint("recovery ", i), list(l), want...)
	}
}

// A record does not take over that the one before it in its place was cleaned up.
func TestCleanedUpIsNotInherited(t *testing.T) {
	h := newF()
	l, _ := h.open(t, 96)
	a, b, c := put(t, l, "11111111"), put(t, l, "22222222"), put(t, l, "33333333")
	ok(t, c.Force(1))
	ok(t, l.Cleanup(b)) // not at the head
	ok(t, l.Cleanup(a))
	ok(t, put(t, l, "44444444").Force(1))
	r5 := put(t, l, "55555555") // where 2 was
	ok(t, l.Cleanup(c))
	r6 := put(t, l, "66666666")
	for lost := range 4 { // any one word of record 5, and none
		k := h.power(func(o int) bool { return in(r6)(o) || in(r5)(o) && o != ringAt+r5.at+8*lost })
		l, _ := k.open(t, 96)
		if got := list(l); len(got) > 1 && got[1] != "5:55555555" {
			t.Errorf("without word %d: %v", lost, got)
		}
	}
}

// No flipped bit hides a durable record in the middle, or brings back one that was cleaned up.
func TestFlipsOfWhatWasCleanedUp(t *testing.T) {
	h := newF()
	l, m := h.open(t, 160)
	put(t, l, "11111111")
	r2, r3 := put(t, l, "22222222"), put(t, l, "33333333")
	ok(t, r3.Force(1))
	for i, want := range [][]string{{"1:11111111", "2:22222222", "3:33333333"}, {"1:11111111", "3:33333333"}} {
		if i == 1 {
			ok(t, l.Cleanup(r2))
		}
		for bit := 8 * ringAt; bit < 8*m.Len(); bit++ {
			k := &fhost{h.Crash(nil)}
			k.Memory("log").Flip(bit)
			l, _ := k.open(t, 160)
			if got := list(l); len(got) > len(want) || !cmp.Equal(got, append([]string(nil), want[:len(got)]...)) {
				t.Errorf("bit %d of byte %d: %v, want the beginning of %v", bit%8, bit/8, got, want)
			}
		}
	}
}

// A recovery gives back the space of records that were cleaned up from the head on, though no superline says so.
func TestCleanedUpAtTheHead(t *testing.T) {
	h := newF()
	l, _ := h.open(t, 96)
	a, b := put(t, l, "11111111"), put(t, l, long)
	ok(t, b.Force(1))
	// The cleanup of a, begun before, writes the superline when that of b has stored its mark.
	l.super.head, l.super.start = b.at, b.lsn
	ok(t, putSuperlines(l.mem, &l.super, l.at))
	l.region.Store64(ringAt+b.at, l.region.Load64(ringAt+b.at)^cleanMask)
	ok(t, l.mem.Force(ringAt+b.at, 8))
	_ = a
	l, _ = h.open(t, 96)
	if _, err := l.Reserve(l.MaxRecord()); err != nil || l.next != 4 {
		t.Errorf("%v; the next is %d", err, l.next)
	}
}

// Memory with something in one of its first lines is foreign.
func TestForeignLine(t *testing.T) {
	for at := range 2 {
		h := newF()
		_, _ = h.OpenPMEM("log", ringAt+96)
		m := h.Memory("log")
		m.Set(superSize*at, []byte("SQLite format 3, or something else of somebody else"))
		before := string(m.Image())
		_, err := Open(h, Config{Name: "log", Size: ringAt + 96})
		if changed := string(m.Image()) != before; !errors.Is(err, ErrCorrupt) || changed {
			t.Errorf("line %d: %v, changed %v", at, err, changed)
		}
	}
}

// Creation can be cut off at any word, and is made again.
func TestCreationThatWasCutOff(t *testing.T) {
	s := first(identity("log"), 96)
	var line [superSize]byte
	s.put(line[:])
	for words := range 1 << 8 {
		h := newF()
		_, _ = h.OpenPMEM("log", ringAt+96)
		for i := range 8 {
			if words>>i&1 == 1 {
				h.Memory("log").Set(superSize+8*i, line[8*i:8*i+8])
			}
		}
		l, _ := h.open(t, 96)
		if r, err := l.Append([]byte("1")); err != nil || r.LSN() != 1 {
			t.Errorf("%08b: %v", words, err)
		}
	}
}

// A record of another log, or of an earlier Open, is none of this log.
func TestRecordOfAnotherLog(t *testing.T) {
	h := newF()
	l, _ := h.open(t, 160)
	put(t, l, "first")
	r := put(t, l, "second")
	ok(t, r.Force(1))
	again, _ := h.open(t, 160)
	other, _ := newF().open(t, 160)
	for _, x := range []*Log{again, other} {
		if err := x.Cleanup(r); !errors.Is(err, ErrForeign) {
			t.Error(err)
		}
	}
	expect(t, "after that", list(again), "1:first", "2:second")
}

// Who opened the log before hears that it is not theirs any more.
func TestOlderOpenIsFenced(t *testing.T) {
	h := newF()
	a, _ := h.open(t, 320)
	b, _ := h.open(t, 320)
	if _, err := a.Append([]byte("a")); !errors.Is(err, ErrFenced) {
		t.Error(err)
	}
	_, err := b.Append([]byte("b"))
	ok(t, err)
	c, _ := h.open(t, 320)
	expect(t, "then", list(c), "1:b")
}

// A Force does not wait for a later record, though another Force does.
func TestForceWaitsForNothingLater(t *testing.T) {
	h := newF()
	l, _ := h.open(t, 320)
	r1 := put(t, l, "11111111")
	r2, err := l.Reserve(8)
	ok(t, err)
	r3 := put(t, l, "33333333")
	done := make(chan error)
	go func() { done <- r3.Force(1) }()
	for l.waiting.Load64(0) == 0 { // it waits for 2
	}
	ok(t, r1.Force(1))
	ok(t, r2.Complete())
	ok(t, <-done)
}

// A media error in a record's valid flag does not deceive Force: it does not wait forever, and does not force a record that is
// incomplete. (The search of table1/arcadia-media found that it did.)
func TestForceDoesNotTrustTheFlagInMemory(t *testing.T) {
	h := newF()
	l, m := h.open(t, 320)
	a := put(t, l, "11111111")
	m.Flip(8 * a.flags())
	ok(t, a.Force(1))
	m.Flip(8 * a.flags()) // back: without copies the damage would end the log here

	b, err := l.Reserve(8)
	ok(t, err)
	m.Flip(8 * b.flags())
	done := make(chan error, 1)
	go func() { done <- b.Force(1) }()
	for l.waiting.Load64(0) == 0 {
		select {
		case <-done:
			t.Fatal("an incomplete record was forced")
		default:
		}
	}
	ok(t, b.Copy(0, []byte("22222222")))
	ok(t, b.Complete())
	ok(t, <-done)
	l, _ = h.open(t, 320)
	expect(t, "then", list(l), "1:11111111", "2:22222222")
}

// A record whose memory cannot be read back is stored and completed again.
func TestCompleteAgainAfterDamage(t *testing.T) {
	h := newF()
	l, m := h.open(t, 320)
	r, err := l.Reserve(8)
	ok(t, err)
	ok(t, r.Copy(0, []byte("11111111")))
	m.Poison(r.payload(), r.flags())
	if err := r.Complete(); !errors.Is(err, ErrCorrupt) || !errors.Is(err, host.ErrMedia) {
		t.Error(err)
	}
	ok(t, r.Copy(0, []byte("11111111")))
	ok(t, r.Complete())
	_, err = l.Append([]byte("2"))
	ok(t, err)
	l, _ = h.open(t, 320)
	expect(t, "then", list(l), "1:11111111", "2:2")
}

// A bit that flips before the record is complete is not sealed by Append.
func TestAppendDoesNotSealDamage(t *testing.T) {
	h := newF()
	l, m := h.open(t, 320)
	// The first word of the payload flips before the second one is stored: the header takes three stores.
	h.After(5, func() { m.Flip(8 * (ringAt + headerSize)) })
	r, err := l.Append([]byte("1111111122222222"))
	ok(t, err)
	l, _ = h.open(t, 320)
	if got := list(l); len(got) != 0 {
		t.Errorf("record %d: %v", r.LSN(), got)
	}
}

// A damaged flag of a durable record keeps nobody from cleaning it up.
func TestCleanupOfDamagedRecords(t *testing.T) {
	h := newF()
	l, m := h.open(t, 160)
	a, b := put(t, l, "1"), put(t, l, "2")
	ok(t, b.Force(1))
	m.Poison(a.flags(), b.flags(), ringAt+b.at)
	if err := l.Cleanup(b); !errors.Is(err, ErrCorrupt) {
		t.Error(err)
	}
	ok(t, l.Cleanup(a))
	ok(t, l.CleanupAll())
	_, err := l.Append([]byte("3"))
	ok(t, err)
}

// A panic of the memory comes through, and leaves no mutex in a bad state.
func TestPanicOfTheMemory(t *testing.T) {
	h := newF()
	l, _ := h.open(t, 160)
	r := put(t, l, "1")
	for name, f := range map[string]func(){"force": func() { _ = r.Force(1) }, "cleanup": func() { _ = l.Cleanup(r) }} {
		func() {
			defer func() {
				if x := recover(); x != "the disk" {
					t.Errorf("%s: %v", name, x)
				}
			}()
			h.After(1, func() { panic("the disk") })
			f()
		}()
	}
}

// A group commit forces the whole group, so that at most groups times tasks are lost.
func TestGroupForcesAllOfItsRecords(t *testing.T) {
	h := newF()
	l, _ := h.open(t, 640)
	g, err := NewGroup(h, 2)
	ok(t, err)
	a, b := put(t, l, "1"), put(t, l, "2")
	ok(t, g.Force(b))
	ok(t, g.Force(a))
	h = h.power(nil)
	l, _ = h.open(t, 640)
	expect(t, "after power", list(l), "1:1", "2:2")
}
