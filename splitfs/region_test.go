package splitfs

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// errCrash: the machine has crashed during a Record.
var errCrash = errors.New("crash")

// tornObject is an object whose Record tears at the crash.
type tornObject struct {
	*rapid.T
	bytes []byte
	left  int // Records until the crash; 0: none is to come
}

func (o *tornObject) Record(off int, data []byte) error {
	to := o.bytes[off : off+len(data) : len(o.bytes)]
	o.left--
	if o.left == 0 {
		o.tear(to, data)
		return errCrash
	}
	copy(to, data)
	return nil
}

// tear lets a piece of data land, or all but that. It is often a field of a header, which is
// at the beginning of what is recorded or behind bytes that are overwritten.
func (o *tornObject) tear(to, data []byte) {
	fields := []int{0, 4, 8, 16, 20, headerSize}
	var a, b int
	if rapid.IntRange(0, 2).Draw(o.T, "tears a header") > 0 && len(data) >= headerSize {
		i := rapid.IntRange(0, len(fields)-2).Draw(o.T, "field")
		at := rapid.SampledFrom([]int{0, 0, len(data) - headerSize}).Draw(o.T, "header at")
		a, b = at+fields[i], at+fields[i+1]
	} else {
		a = rapid.IntRange(0, len(data)).Draw(o.T, "from")
		b = rapid.IntRange(a, len(data)).Draw(o.T, "to")
	}
	if rapid.Bool().Draw(o.T, "lands") {
		copy(to[a:b], data[a:b])
	} else {
		copy(to[:a], data)
		copy(to[b:], data[b:])
	}
}

func (o *tornObject) ReadAt(p []byte, off int) (int, error) { return copy(p, o.bytes[off:]), nil }
func (o *tornObject) Size() int                             { return len(o.bytes) }
func (o *tornObject) Release() error                        { return nil }
func (o *tornObject) Close()                                {}

// laid is a file laid out in an object, and its model.
type laid struct {
	*rapid.T
	obj  *tornObject
	r    *region
	want []byte
	gen  uint64
	next byte
}

// A file in a region matches the model after every operation, and so does the one that
// the next mount finds there. After a crash it is as before or as after, except for the
// bytes that were being overwritten.
func TestRegionsWithCrashes(t *testing.T) {
	for range 10 { // what tears twice in one way is rare
		rapid.Check(t, regionWithCrashes)
	}
}

func regionWithCrashes(rt *rapid.T) {
	l := &laid{T: rt, next: 1}
	l.fresh(rapid.SampledFrom([]int{120, 300, 1000}).Draw(rt, "size"))
	rt.Repeat(map[string]func(*rapid.T){
		"append":    func(*rapid.T) { l.write(len(l.want)) },
		"write":     func(*rapid.T) { l.write(l.place()) },
		"truncate":  func(*rapid.T) { l.truncate(l.place()) },
		"empty":     func(*rapid.T) { l.truncate(0) },
		"lookalike": func(*rapid.T) { l.lookalike() },
		"mount":     func(*rapid.T) { l.mount() },
		"":          func(*rapid.T) { l.compare() },
	})
}

// A region behind whose frames there is nothing is not written when it is opened.
func TestNothingToWipe(t *testing.T) {
	obj := &counting{tornObject: tornObject{bytes: make([]byte, 100)}}
	r := emptyRegion(obj, 1)
	if err := r.writeAt([]byte("x"), 0); err != nil || obj.records != 1 {
		t.Fatal(err, obj.records)
	}
	if _, err := scanRegion(obj, 2); err != nil || obj.records != 1 {
		t.Errorf("%v after %d Records", err, obj.records)
	}
	torn := &counting{tornObject: tornObject{bytes: slices.Clone(obj.bytes)}}
	torn.bytes[headerSize] = 'y' // a header, and not all of its data
	if _, err := scanRegion(torn, 2); err != nil || !slices.Equal(torn.bytes[:headerSize], make([]byte, headerSize)) {
		t.Errorf("%v, and in front there is %v", err, torn.bytes[:headerSize])
	}
	obj.bytes[r.end+3] = 1 // a part of a header
	if _, err := scanRegion(obj, 2); err != nil || obj.records != 2 || obj.bytes[r.end+3] != 0 {
		t.Errorf("%v after %d Records, and there is %d", err, obj.records, obj.bytes[r.end+3])
	}
}

// counting counts Records.
type counting struct {
	tornObject
	records int
}

func (c *counting) Record(off int, data []byte) error {
	c.records++
	return c.tornObject.Record(off, data)
}

// fresh begins in an empty object.
func (l *laid) fresh(size int) {
	l.obj = &tornObject{T: l.T, bytes: make([]byte, size)}
	l.r = emptyRegion(l.obj, l.generation())
}

func (l *laid) generation() uint64 { l.gen++; return l.gen }

// place is one in the file or a little behind it, often where something begins or ends.
func (l *laid) place() int {
	places := []int{0, len(l.want), len(l.want) + 3}
	for _, e := range l.r.extents {
		places = append(places, e.at, e.at+1, e.at+e.n-1)
	}
	return rapid.OneOf(rapid.SampledFrom(places), rapid.IntRange(0, len(l.want))).Draw(l.T, "place")
}

func (l *laid) write(off int) {
	if !rapid.Bool().Draw(l.T, "the same again") { // as a program does that has crashed
		l.next++
	}
	p := bytes.Repeat([]byte{l.next}, l.size())
	now := make([]byte, max(len(l.want), off+len(p)))
	copy(now, l.want)
	copy(now[off:], p)
	l.change(now, func() error { return l.r.writeAt(p, off) })
}

// lookalike appends bytes that look like a frame of the file. The crash lets only them land,
// and what is appended next ends where they begin.
func (l *laid) lookalike() {
	before := rapid.IntRange(1, 6).Draw(l.T, "bytes before")
	p := append(make([]byte, before), l.header()...)
	if l.r.end+headerSize+len(p) > l.obj.Size() {
		return
	}
	copy(l.obj.bytes[l.r.end+headerSize:], p)
	l.append(before)
}

// header is that of one of the file's frames, which has no data if there is such a one.
func (l *laid) header() []byte {
	at, found := 0, 0
	for at < l.r.end {
		h, _ := readHeader(l.obj.bytes, at)
		if found = at; h.dataLen() == 0 {
			break
		}
		at += headerSize + h.dataLen()
	}
	return slices.Clone(l.obj.bytes[found:min(found+headerSize, l.obj.Size())])
}

func (l *laid) append(n int) {
	l.next++
	p := bytes.Repeat([]byte{l.next}, n)
	l.change(slices.Concat(l.want, p), func() error { return l.r.writeAt(p, len(l.want)) })
}

// size is that of a write, often the same, so that frames begin where others began.
func (l *laid) size() int {
	return rapid.OneOf(rapid.Just(3), rapid.IntRange(1, 6), rapid.IntRange(1, 40)).Draw(l.T, "bytes")
}

func (l *laid) truncate(n int) {
	now := make([]byte, n)
	copy(now, l.want)
	gen := l.generation()
	l.change(now, func() error { return l.r.truncate(n, gen) })
}

// change makes the file what now is, in a larger object if this one is full.
func (l *laid) change(now []byte, do func() error) {
	l.obj.left = rapid.SampledFrom([]int{0, 0, 0, 1, 1, 2}).Draw(l.T, "crash")
	err := do()
	if errors.Is(err, errFull) {
		l.enlarge()
		err = do()
	}
	switch l.obj.left = 0; {
	case errors.Is(err, errCrash):
		l.crashed(now)
	case err != nil:
		l.Fatal(err)
	default:
		l.want = now
	}
}

func (l *laid) enlarge() {
	size, err := l.r.sizeFor(100, 1<<20)
	if err != nil {
		l.Fatal(err)
	}
	old := l.r
	l.fresh(size)
	if err := old.copyTo(l.r); err != nil {
		l.Fatal(err)
	}
}

// crashed mounts, and finds out what has become of the file.
func (l *laid) crashed(now []byte) {
	l.mount()
	got := l.read(l.r)
	if len(got) != len(l.want) && len(got) != len(now) {
		l.Fatalf("after a crash the file has %d bytes; before it had %d, and was to have %d", len(got), len(l.want), len(now))
	}
	for i, b := range got {
		if (i >= len(l.want) || b != l.want[i]) && (i >= len(now) || b != now[i]) {
			l.Fatalf("after a crash byte %d is %d: %v; before it was %v, and was to be %v", i, b, got, l.want, now)
		}
	}
	l.want = got
}

// mount finds the file in the object, and may crash on the way.
func (l *laid) mount() {
	for {
		l.obj.left = rapid.IntRange(0, 1).Draw(l.T, "crash of the mount")
		r, err := scanRegion(l.obj, l.generation())
		l.obj.left = 0
		if err == nil {
			l.r = r
			return
		}
		if !errors.Is(err, errCrash) {
			l.Fatal(err)
		}
	}
}

// scan returns the content that the next mount will find.
func (l *laid) scan() *region {
	r, err := scanRegion(&tornObject{T: l.T, bytes: slices.Clone(l.obj.bytes)}, l.gen+1)
	if err != nil {
		l.Fatal(err)
	}
	return r
}

func (l *laid) read(r *region) []byte {
	got := make([]byte, r.length)
	if n, err := r.readAt(got, 0); n != r.length || err != nil && r.length > 0 {
		l.Fatal(n, err)
	}
	return got
}

func (l *laid) compare() {
	if got := l.read(l.r); !slices.Equal(got, l.want) {
		l.Fatalf("the file is %v, want %v", got, l.want)
	}
	next := l.scan()
	if got := l.read(next); !slices.Equal(got, l.want) {
		l.Fatalf("the next mount finds %v, want %v", got, l.want)
	}
	if next.end != l.r.end && l.r.length > 0 {
		l.Fatalf("the next mount goes on at %d, and this one at %d", next.end, l.r.end)
	}
}
