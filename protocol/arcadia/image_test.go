package arcadia

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// image is memory that can be read as a Store.
type image []byte

func (m image) Load(off int, p []byte) error {
	if off < 0 || off+len(p) > len(m) {
		return fmt.Errorf("[%d,%d) of %d bytes", off, off+len(p), len(m))
	}
	copy(p, m[off:])
	return nil
}
func (m image) Store(off int, p []byte) { copy(m[off:], p) }
func (m image) Force(int, int) error    { return nil }

// logImage is what a log with these payloads leaves, of epoch 1.
func logImage(size, head int, payloads ...string) image {
	m := make(image, size)
	s := superline{id: identity("log"), ring: size - ringAt, start: 1, head: head, epoch: 1, since: 1}
	if err := putSuperlines(m, &s, 0); err != nil {
		panic(err)
	}
	r := ring{size: s.ring, head: head, tail: head}
	for i, p := range payloads {
		at := ringAt + r.take(footprint(len(p)))
		h := header{size: len(p), lsn: uint64(i + 1), epoch: 1}
		h.sum, h.valid = h.seal(crcOf([]byte(p)), s.id), true
		h.put(m[at:])
		copy(m[at+headerSize:], p)
	}
	return m
}

// contents are the payloads of the log in m.
func contents(m image) (out []string, err error) {
	s, _, none, err := readSuperlines(m, identity("log"), len(m))
	if none || err != nil {
		return nil, err
	}
	walk(m, &s, func(f found) { out = append(out, string(m[ringAt+f.at+headerSize:][:f.size])) })
	return out, nil
}

var payloads = []string{"one", "", "three three", "4444444"}

// isPrefix reports whether got is how the payloads begin.
func isPrefix(got []string) bool {
	return len(got) <= len(payloads) && cmp.Equal(got, append([]string(nil), payloads[:len(got)]...))
}

// Whatever bit of a log flips, a walk returns a prefix of what was written, and with one whole superline at
// least what is before the bit.
func TestEveryFlippedBit(t *testing.T) {
	for _, head := range []int{0, 88} { // the second log wraps
		m := logImage(ringAt+160, head, payloads...)
		if got, err := contents(m); err != nil || len(got) != len(payloads) || !isPrefix(got) {
			t.Fatalf("%q %v", got, err)
		}
		whole := 0
		for bit := range 8 * len(m) {
			c := bytes.Clone(m)
			c[bit/8] ^= 1 << (bit % 8)
			got, err := contents(c)
			if err != nil || !isPrefix(got) || bit/8 < ringAt && len(got) < len(payloads) {
				t.Errorf("bit %d of byte %d: %q, %v", bit%8, bit/8, got, err)
			}
			if len(got) == len(payloads) {
				whole++
			}
		}
		if whole == 0 || whole == 8*len(m) {
			t.Errorf("%d of %d flips leave all", whole, 8*len(m))
		}
	}
}

// Of a log that is cut off at any byte, what follows being zeros or others, a walk returns a prefix.
func TestEveryCut(t *testing.T) {
	m := logImage(ringAt+160, 0, payloads...)
	for _, rest := range []byte{0, 0xff, 0x55} {
		for at := ringAt; at < len(m); at++ {
			c := append(bytes.Clone(m[:at]), bytes.Repeat([]byte{rest}, len(m)-at)...)
			if got, err := contents(c); err != nil || !isPrefix(got) {
				t.Errorf("at %d, %#x: %q, %v", at, rest, got, err)
			}
		}
	}
}

// What another log left, or another size, is refused; a region without a superline is empty only if it is.
func TestForeignMemory(t *testing.T) {
	m := logImage(ringAt+160, 0, payloads...)
	if _, _, _, err := readSuperlines(m, identity("other"), len(m)); !errors.Is(err, ErrForeign) {
		t.Error("another name:", err)
	}
	if _, _, _, err := readSuperlines(m, identity("log"), len(m)+8); !errors.Is(err, ErrForeign) {
		t.Error("another size:", err)
	}
	for i := range 2 * superSize {
		m[i] = 0xaa
	}
	if _, _, _, err := readSuperlines(m, identity("log"), len(m)); !errors.Is(err, ErrCorrupt) {
		t.Error("no superline:", err)
	}
	if n, err := checkEmpty(m, ringAt, len(m)-ringAt); !errors.Is(err, ErrForeign) || n != ringAt {
		t.Error("not empty:", n, err)
	}
	if _, err := checkEmpty(make(image, 100000), 0, 100000); err != nil {
		t.Error("empty:", err)
	}
}

// A payload that looks like the next record is none: the copy of another log, or of this one.
func TestPayloadThatLooksLikeARecord(t *testing.T) {
	other := header{size: 3, lsn: 2, epoch: 1, valid: true}
	other.sum = other.seal(crcOf([]byte("two")), identity("other"))
	var p [32]byte
	other.put(p[:])
	copy(p[headerSize:], "two")
	m := logImage(ringAt+160, 0, "one")
	copy(m[ringAt+footprint(3):], p[:])
	if got, err := contents(m); err != nil || len(got) != 1 {
		t.Errorf("%q %v", got, err)
	}
}

// A walk over any bytes ends, stays inside, and returns records whose checksums fit.
func FuzzWalk(f *testing.F) {
	f.Add([]byte(logImage(ringAt+160, 0, payloads...)), uint16(0))
	f.Add([]byte(logImage(ringAt+160, 88, payloads...)), uint16(88))
	f.Fuzz(func(t *testing.T, b []byte, head uint16) {
		if len(b) < MinSize {
			return
		}
		m := image(b[:len(b)&^7])
		s := superline{id: identity("log"), ring: len(m) - ringAt, start: 1, head: int(head) &^ 7 % (len(m) - ringAt), epoch: 3, since: 2}
		used, next := 0, uint64(1)
		walk(m, &s, func(x found) {
			if x.lsn != next || x.at < 0 || x.at+footprint(x.size) > s.ring {
				t.Fatalf("%+v after LSN %d", x, next-1)
			}
			next++
			used += footprint(x.size)
		})
		if used > s.ring {
			t.Fatalf("%d bytes of %d", used, s.ring)
		}
	})
}

// The ring allots what a list of pieces allots that is searched for room.
func TestRing(t *testing.T) {
	wraps, fulls := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		type piece struct{ at, n int }
		size := 8 * rapid.IntRange(3, 12).Draw(t, "size")
		r := ring{size: size}
		var live []piece
		free := func(p piece) bool {
			for _, q := range live {
				if p.at < q.at+q.n && q.at < p.at+p.n {
					return false
				}
			}
			return p.at >= 0 && p.at+p.n <= size
		}
		tail := 0
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			if len(live) > 0 && rapid.Bool().Draw(t, "release") {
				live = live[1:]
				if len(live) == 0 {
					r, tail = ring{size: size}, 0
				} else {
					r.release(live[0].at)
				}
				continue
			}
			n := 8 * rapid.IntRange(3, 6).Draw(t, "n")
			at := r.take(n)
			head, end := tail, size // of what is free behind the tail
			if len(live) > 0 {
				if head = live[0].at; live[len(live)-1].at < head {
					end = head
				}
			}
			want := -1
			switch {
			case n <= end-tail:
				want = tail
			case end == size && n <= head:
				want = 0
			}
			if at != want || at >= 0 && !free(piece{at, n}) {
				t.Fatalf("%d bytes: at %d, want %d; tail %d, %v", n, at, want, tail, live)
			}
			switch {
			case at < 0:
				fulls++
				continue
			case at < tail:
				wraps++
			}
			live, tail = append(live, piece{at, n}), at+n
		}
	})
	if wraps == 0 || fulls == 0 {
		t.Errorf("%d wraps, %d full", wraps, fulls)
	}
}
