package arcadia

import (
	"errors"
	"fmt"
	"testing"
)

// A superline that begins after the largest LSN is damaged: LSNs would begin again at 0, and durable records have
// larger ones.
func TestSuperlineBeyondTheLargestLSN(t *testing.T) {
	for _, s := range []superline{{start: maxLSN + 1, since: 1}, {start: 1, since: maxLSN + 1}, {start: ^uint64(0), since: ^uint64(0)}} {
		s.epoch = 1
		var b [superSize]byte
		s.put(b[:])
		if _, ok := getSuperline(b[:]); ok {
			t.Errorf("a log begins with LSN %d, its epoch with %d", s.start, s.since)
		}
	}
}

// A log whose LSNs run out refuses further records, and keeps those that it has.
func TestLSNsRunOut(t *testing.T) {
	h := newF()
	l, _ := h.open(t, 640)
	s := l.super
	s.start, s.since = maxLSN-1, maxLSN-1
	ok(t, putSuperlines(l.mem, &s, 0))
	l, _ = h.open(t, 640)
	last := fmt.Sprint(uint64(maxLSN-1), ":last")
	ok(t, put(t, l, "last").Force(1))
	for range 2 {
		if _, err := l.Reserve(8); !errors.Is(err, ErrCorrupt) {
			t.Error("after the last LSN:", err)
		}
		l, _ = h.open(t, 640)
		expect(t, "reopened", list(l), last)
	}
	ok(t, l.CleanupAll())
	l, _ = h.open(t, 640)
	if _, err := l.Reserve(8); !errors.Is(err, ErrCorrupt) || l.next != maxLSN {
		t.Errorf("an empty log without LSNs: %v, next %d", err, l.next)
	}
}

// A record with an LSN that no superline can name after it does not count.
func TestRecordBeyondTheLargestLSN(t *testing.T) {
	m := make(image, ringAt+64)
	s := superline{id: identity("log"), ring: 64, start: maxLSN, epoch: 1, since: maxLSN}
	h := header{lsn: maxLSN, epoch: 1, valid: true}
	h.sum = h.seal(crcOf(nil), s.id)
	h.put(m[ringAt:])
	walk(m, &s, func(f found) { t.Errorf("record %d", f.lsn) })
}
