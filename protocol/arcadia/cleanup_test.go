package arcadia

import (
	"errors"
	"strings"
	"testing"
)

// A record that is cleaned up twice does not come back: the second call would invert its checksum again.
func TestCleanupTwice(t *testing.T) {
	h := newF()
	l, _ := h.open(t, 640)
	put(t, l, "1")
	b, c := put(t, l, "2"), put(t, l, "3")
	ok(t, c.Force(1))
	ok(t, l.Cleanup(b)) // not at the head
	if err := l.Cleanup(b); !errors.Is(err, ErrCleaned) {
		t.Error(err)
	}
	expect(t, "then", list(l), "1:1", "3:3")
	l, _ = h.open(t, 640)
	expect(t, "reopened", list(l), "1:1", "3:3")
}

// A record that is not complete cannot be cleaned up: a task may still store into its place.
func TestCleanupOfAnIncompleteRecord(t *testing.T) {
	l, _ := newF().open(t, 640)
	r, err := l.Reserve(8)
	ok(t, err)
	if err := l.Cleanup(r); !errors.Is(err, ErrIncomplete) {
		t.Fatal("alone:", err)
	}
	if err := l.CleanupAll(); !errors.Is(err, ErrIncomplete) {
		t.Fatal("with all:", err)
	}
	ok(t, r.Complete())
	ok(t, l.Cleanup(r))
}

// Each returns what no failure takes back, so not a record that is only complete.
func TestEachReturnsDurableRecordsOnly(t *testing.T) {
	l, _ := newF().open(t, 640)
	ok(t, put(t, l, "1").Force(1))
	b := put(t, l, "2")
	expect(t, "one is forced", list(l), "1:1")
	ok(t, b.Force(1))
	expect(t, "both are forced", list(l), "1:1", "2:2")
}

// A record that is longer than the pieces in which its checksum is computed is found again.
func TestRecordOfSeveralChunks(t *testing.T) {
	for _, size := range []int{chunk, chunk + 1, 1200, 3 * chunk} {
		data := strings.Repeat("0123456789", size/10+1)[:size]
		h := newF()
		l, _ := h.open(t, 8192)
		_, err := l.Append([]byte(data))
		ok(t, err)
		ok(t, put(t, l, data).Force(1))
		l, _ = h.open(t, 8192)
		expect(t, "reopened", list(l), "1:"+data, "2:"+data)
	}
}
