package kv

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func drawEntry(t *rapid.T, c *Config) entry {
	e := entry{index: rapid.Uint64Min(1).Draw(t, "index"), term: rapid.Uint16().Draw(t, "term"), kind: rapid.SampledFrom([]kind{put, remove}).Draw(t, "kind")}
	e.key = rapid.SliceOfN(rapid.Byte(), 1, c.Key).Draw(t, "key")
	e.value = rapid.SliceOfN(rapid.Byte(), 0, c.Value).Draw(t, "value")
	return e
}

func (e *entry) equal(o *entry) bool {
	return e.index == o.index && e.term == o.term && e.kind == o.kind && bytes.Equal(e.key, o.key) && bytes.Equal(e.value, o.value)
}

func TestAnEntryIsReadAsWritten(t *testing.T) {
	c := Config{Key: 5, Value: 20}
	rapid.Check(t, func(t *rapid.T) {
		e := drawEntry(t, &c)
		b := bytes.Repeat([]byte{0xff}, c.entrySize())
		n := c.encodeEntry(b, &e)
		if got, ok := c.decodeEntry(b); !ok || !got.equal(&e) || n > len(b) || n%8 != 0 {
			t.Fatalf("wrote %+v, read %+v, %v; %d bytes", e, got, ok, n)
		}
	})
}

// Of an entry over another one, any words may have arrived: then it is one of the two, or none.
func TestATornEntryIsNone(t *testing.T) {
	c := Config{Key: 5, Value: 20}
	rapid.Check(t, func(t *rapid.T) {
		before, after := drawEntry(t, &c), drawEntry(t, &c)
		x, y := make([]byte, c.entrySize()), make([]byte, c.entrySize())
		if rapid.Bool().Draw(t, "used before") {
			c.encodeEntry(x, &before)
		}
		n := c.encodeEntry(y, &after)
		for i := 0; i < n; i += 8 {
			if rapid.Bool().Draw(t, "arrived") {
				copy(x[i:], y[i:i+8])
			}
		}
		if got, ok := c.decodeEntry(x); ok && !got.equal(&before) && !got.equal(&after) {
			t.Fatalf("%+v over %+v: %+v", after, before, got)
		}
	})
}

// choose is compared with its description: the entries after the last that was applied, without a
// gap, and of those with one index the one with the greatest term.
func TestChooseAgainstItsDescription(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Config{Key: 1, Value: 2, Log: rapid.IntRange(1, 4).Draw(t, "log")}
		applied := rapid.Uint64Range(0, 5).Draw(t, "applied")
		copies := make([][]byte, rapid.IntRange(1, 3).Draw(t, "nodes"))
		best := map[uint64]entry{}
		for i := range copies {
			copies[i] = make([]byte, c.directSize())
			for slot := range c.Log {
				e := entry{index: uint64(slot + c.Log*rapid.IntRange(0, 3).Draw(t, "lap")), term: rapid.Uint16Range(1, 3).Draw(t, "term"), kind: put, key: []byte("k")}
				if e.index == 0 {
					continue
				}
				e.value = []byte{byte(e.index), byte(e.term)} // index and term determine an entry
				c.encodeEntry(copies[i][c.entryAt(e.index):], &e)
				if old := best[e.index]; e.term > old.term {
					best[e.index] = e
				}
			}
		}
		var want []entry
		for i := applied + 1; best[i].index != 0 && len(want) < c.Log; i++ {
			want = append(want, best[i])
		}
		got := c.choose(copies, applied)
		if !slices.EqualFunc(got, want, func(a, b entry) bool { return a.equal(&b) }) {
			t.Fatalf("chose %+v, want %+v", got, want)
		}
		for i := range got {
			all := true
			for _, zone := range copies {
				e, ok := c.decodeEntry(zone[c.entryAt(got[i].index):][:c.entrySize()])
				all = all && ok && e.equal(&got[i])
			}
			if c.everywhere(copies, &got[i]) != all {
				t.Fatalf("%+v is everywhere: %v", got[i], !all)
			}
		}
	})
}

func TestABlockIsReadAsWritten(t *testing.T) {
	c := Config{Key: 5, Value: 20, Blocks: 1}
	rapid.Check(t, func(t *rapid.T) {
		key, value := rapid.SliceOfN(rapid.Byte(), 1, c.Key).Draw(t, "key"), rapid.SliceOfN(rapid.Byte(), 0, c.Value).Draw(t, "value")
		b := bytes.Repeat([]byte{0xff}, c.blockSize())
		c.encodeBlock(b, key, value)
		if x, err := c.decodeBlock(b); err != nil || x.next != 0 || !bytes.Equal(x.key, key) || !bytes.Equal(x.value, value) {
			t.Fatalf("wrote %q %q, read %+v, %v", key, value, x, err)
		}
	})
}

func FuzzDecodeEntry(f *testing.F) {
	c := small()
	b := make([]byte, c.entrySize())
	c.encodeEntry(b, &entry{3, 2, put, []byte("k"), []byte("value")})
	f.Add(b)
	f.Add(make([]byte, c.entrySize()))
	f.Add([]byte("short"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if e, ok := c.decodeEntry(b); ok {
			again := make([]byte, c.entrySize())
			n := c.encodeEntry(again, &e)
			if got, ok := c.decodeEntry(again); !ok || !got.equal(&e) || n > len(b) || len(e.key) > c.Key || len(e.value) > c.Value {
				t.Fatalf("%x is read as %+v, and then as %+v, %v", b, e, got, ok)
			}
		}
	})
}

func FuzzDecodeBlock(f *testing.F) {
	c := small()
	b := make([]byte, c.blockSize())
	c.encodeBlock(b, []byte("k"), []byte("value"))
	f.Add(b)
	f.Add(make([]byte, c.blockSize()))
	f.Add([]byte("short"))
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := c.decodeBlock(b)
		if err == nil && (len(x.key) < 1 || len(x.key) > c.Key || len(x.value) > c.Value || x.next > uint64(c.Blocks)) {
			t.Fatalf("%x is read as %+v", b, x)
		}
		if err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatal(err)
		}
	})
}

func FuzzDecodeRequest(f *testing.F) {
	f.Add((&request{putVerb, []byte("key"), []byte("value")}).encode())
	f.Add((&request{getVerb, []byte("key"), nil}).encode())
	f.Add((&request{deleteVerb, nil, nil}).encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := decodeRequest(b)
		if err == nil && !bytes.Equal(r.encode(), b) {
			t.Fatalf("%x is read as %+v, which is %x", b, r, r.encode())
		}
		if err != nil && !errors.Is(err, ErrMalformed) {
			t.Fatal(err)
		}
	})
}

func FuzzDecodeAnswer(f *testing.F) {
	f.Add((&answer{done, []byte("value")}).encode())
	f.Add((&answer{status: full}).encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := decodeAnswer(b)
		if err == nil && !bytes.Equal(a.encode(), b) {
			t.Fatalf("%x is read as %+v, which is %x", b, a, a.encode())
		}
		if err != nil && !errors.Is(err, ErrMalformed) {
			t.Fatal(err)
		}
	})
}

// Every error of a store has a status, and every status that stands for an error returns it. An error
// that was not foreseen may mean anything.
func TestAStatusStandsForOneError(t *testing.T) {
	for s := done; s <= malformed; s++ {
		if err := failures[s]; err != nil && statusOf(err) != s {
			t.Errorf("status %d: %v has status %d", s, err, statusOf(err))
		}
	}
	if s := statusOf(errors.New("another")); s != unknown {
		t.Errorf("another error has status %d", s)
	}
}
