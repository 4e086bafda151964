package wal

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

var small = Shape{Slots: 4, Bytes: 32}

// zoneOf is a log zone with the entries index.term.
func zoneOf(ids ...[2]int) []byte {
	zone := make([]byte, small.Size())
	for _, id := range ids {
		e := Entry{Index: uint64(id[0]), Term: uint16(id[1]), Updates: []Update{{8, []byte("x")}}}
		small.Encode(zone[small.At(e.Index):], &e)
	}
	return zone
}

// ids prints entries as index.term.
func ids(entries []Entry) string {
	s := ""
	for _, e := range entries {
		s += fmt.Sprintf("%d.%d ", e.Index, e.Term)
	}
	return s
}

func TestTheLogEndsWithTheLatestEntryAndHasNoGap(t *testing.T) {
	tests := map[string]struct {
		zone []byte
		want string
	}{
		"nothing":                          {zoneOf(), ""},
		"one":                              {zoneOf([2]int{1, 1}), "1.1 "},
		"around the end of the ring":       {zoneOf([2]int{3, 1}, [2]int{4, 1}, [2]int{5, 1}, [2]int{6, 2}), "3.1 4.1 5.1 6.2 "},
		"without the first":                {zoneOf([2]int{4, 1}, [2]int{5, 1}, [2]int{6, 2}), "4.1 5.1 6.2 "},
		"a gap":                            {zoneOf([2]int{3, 1}, [2]int{5, 1}, [2]int{6, 2}), "5.1 6.2 "},
		"an entry of an earlier term left": {zoneOf([2]int{3, 1}, [2]int{4, 2}, [2]int{5, 1}), "3.1 4.2 "},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			log, _ := small.Parse(tt.zone)
			if got := ids(log.Entries); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestAnEntryInAnotherSlotIsNone(t *testing.T) {
	zone := make([]byte, small.Size())
	copy(zone, zoneOf([2]int{1, 1})[small.At(1):small.At(2)])
	if log, all := small.Parse(zone); len(all) > 0 {
		t.Errorf("found %v", log)
	}
}

func copyOf(term int, entries ...[2]int) Copy {
	c := Copy{Term: uint16(term)}
	c.Log, c.All = small.Parse(zoneOf(entries...))
	return c
}

func TestRepairs(t *testing.T) {
	tests := map[string]struct {
		best, node Copy
		want       string
	}{
		"the same":      {copyOf(2, [2]int{1, 1}), copyOf(1, [2]int{1, 1}), "copy false, apply , clear [], write "},
		"the last gone": {copyOf(2, [2]int{1, 1}), copyOf(1, [2]int{1, 1}, [2]int{2, 1}, [2]int{3, 1}), "copy false, apply , clear [3 2], write "},
		"others": {copyOf(2, [2]int{1, 1}, [2]int{2, 2}), copyOf(1, [2]int{1, 1}, [2]int{2, 1}, [2]int{3, 1}),
			"copy false, apply , clear [3 2], write 2.2 "},
		"left from a repair that did not finish": {copyOf(2, [2]int{1, 1}, [2]int{2, 2}), copyOf(1, [2]int{1, 1}, [2]int{2, 2}, [2]int{3, 1}),
			"copy false, apply , clear [3], write "},
		"behind": {copyOf(1, [2]int{4, 1}, [2]int{5, 1}, [2]int{6, 1}, [2]int{7, 1}), copyOf(1, [2]int{2, 1}, [2]int{3, 1}, [2]int{4, 1}, [2]int{5, 1}),
			"copy false, apply 2.1 3.1 , clear [], write 6.1 7.1 "},
		"too far behind": {copyOf(1, [2]int{4, 1}, [2]int{5, 1}, [2]int{6, 1}, [2]int{7, 1}), copyOf(1, [2]int{2, 1}, [2]int{3, 1}),
			"copy true, apply , clear [], write 4.1 5.1 6.1 7.1 "},
		"void": {copyOf(1), Copy{Void: true, Log: Log{First: 1}}, "copy true, apply , clear [], write "},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p, ok := Choose([]Copy{tt.node, tt.best})
			r := p.Repairs[0]
			got := fmt.Sprintf("copy %v, apply %s, clear %v, write %s", r.Copy, ids(r.Apply), r.Clear, ids(r.Write))
			if got != tt.want || !ok || p.Source != 1 {
				t.Errorf("got %s, want %s; source %d", got, tt.want, p.Source)
			}
			if r := p.Repairs[1]; !r.Nothing() {
				t.Errorf("the source is repaired: %+v", r)
			}
		})
	}
}

func TestOnlyVoidCopiesAreNoLog(t *testing.T) {
	if _, ok := Choose([]Copy{{Void: true}, {Void: true}}); ok {
		t.Error("chose a void copy")
	}
}

func drawEntry(t *rapid.T) Entry {
	e := Entry{Index: rapid.Uint64Min(1).Draw(t, "index"), Term: rapid.Uint16().Draw(t, "term")}
	for left := small.Bytes; ; {
		u := Update{Addr: int(rapid.Uint32().Draw(t, "addr")), Data: rapid.SliceOfN(rapid.Byte(), 0, 12).Draw(t, "data")}
		if left -= u.Size(); left < 0 {
			return e
		}
		e.Updates = append(e.Updates, u)
	}
}

func TestAnEntryIsReadAsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawEntry(t)
		b := bytes.Repeat([]byte{0xff}, small.SlotSize())
		small.Encode(b, &e)
		got, ok := small.Decode(b)
		if !ok || fmt.Sprint(got) != fmt.Sprint(e) {
			t.Fatalf("wrote %v, read %v, %v", e, got, ok)
		}
		for i, u := range e.Updates {
			if at := e.DataAt(i); !bytes.Equal(b[at:at+len(u.Data)], u.Data) {
				t.Fatalf("the data of update %d is not at %d", i, at)
			}
		}
	})
}

// An entry that replaces another one arrives word by word, in order; nothing on the way is
// an entry.
func TestAPartOfAnEntryIsNone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, old, e := make([]byte, small.SlotSize()), drawEntry(t), drawEntry(t)
		small.Encode(b, &old)
		before, whole := slices.Clone(b), slices.Clone(b)
		n := small.Encode(whole, &e)
		for at := 8; at < n; at += 8 {
			copy(b, whole[:at])
			if got, ok := small.Decode(b); ok && !bytes.Equal(b[:n], whole[:n]) && !bytes.Equal(b, before) {
				t.Fatalf("%d of %d bytes are %v", at, n, got)
			}
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add(zoneOf([2]int{1, 1})[small.At(1):small.At(2)])
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < headerSize {
			return
		}
		e, ok := small.Decode(b)
		if !ok {
			return
		}
		again := bytes.Clone(b)
		if small.Encode(again, &e); len(again) != len(b) {
			t.Fatal("another length")
		}
		if got, ok := small.Decode(again); !ok || fmt.Sprint(got) != fmt.Sprint(e) {
			t.Fatalf("%v, and again %v", e, got)
		}
	})
}
