package splitfs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"sort"
)

// A frame is a header of these fields, little-endian, and then the data:
//
//	sum of the header   4   over the rest of it and its place in the region
//	sum of the data     4
//	generation          8
//	n                   4   bytes of data, or the length that a cut leaves
//	kind                4
const headerSize = 24

const (
	kindData = 1 // n bytes, after the last byte of the file
	kindCut  = 2 // the file is truncated to n bytes
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errFull: the frame does not fit after the others.
var errFull = errors.New("splitfs: the region is full")

// extent is a piece of the file that one frame holds.
type extent struct {
	at  int // in the file
	n   int
	pos int // in the region
}

// region is a file laid out in an object.
type region struct {
	obj     Object
	gen     uint64
	extents []extent // in order, of the file and of the region alike
	length  int      // of the file
	end     int      // of the frames
	open    bool     // the last frame has data and no frame after it
	buf     []byte   // the next Record
}

// emptyRegion begins a file in a fresh object.
func emptyRegion(obj Object, gen uint64) *region { return &region{obj: obj, gen: gen} }

// scanRegion finds the file in an object. Without a frame, the file is empty and its
// next frames have generation gen, which no frame has had before.
func scanRegion(obj Object, gen uint64) (*region, error) {
	all := make([]byte, obj.Size())
	if _, err := obj.ReadAt(all, 0); err != nil {
		return nil, err
	}
	r := emptyRegion(obj, gen)
	for {
		h, ok := readHeader(all, r.end)
		if !ok || r.end > 0 && h.gen != r.gen {
			return r, r.wipe(all)
		}
		data := all[r.end+headerSize:][:h.dataLen()]
		if h.dataSum != crc32.Checksum(data, castagnoli) {
			// If another frame follows, this one may have been overwritten.
			next, ok := readHeader(all, r.end+headerSize+len(data))
			if !ok || next.gen != h.gen {
				return r, r.wipe(all)
			}
		}
		r.gen = h.gen
		r.take(h)
	}
}

// wipe clears the place of the next header. A torn frame may have left a part of a
// header there. A part of the next frame could complete it, and data that this mount did
// not find would reappear.
func (r *region) wipe(all []byte) error {
	place := all[r.end:min(r.end+headerSize, len(all))]
	for _, b := range place {
		if b != 0 {
			return r.obj.Record(r.end, make([]byte, len(place)))
		}
	}
	return nil
}

type header struct {
	dataSum uint32
	gen     uint64
	n       int
	kind    uint32
}

func (h *header) dataLen() int {
	if h.kind == kindData {
		return h.n
	}
	return 0
}

// put writes the header for a frame at pos of the region.
func (h *header) put(b []byte, pos int) {
	binary.LittleEndian.PutUint32(b[4:], h.dataSum)
	binary.LittleEndian.PutUint64(b[8:], h.gen)
	binary.LittleEndian.PutUint32(b[16:], uint32(h.n))
	binary.LittleEndian.PutUint32(b[20:], h.kind)
	binary.LittleEndian.PutUint32(b, headerSum(b, pos))
}

// headerSum covers the position, so data that looks like a frame is not mistaken for a
// frame.
func headerSum(b []byte, pos int) uint32 {
	var place [8]byte
	binary.LittleEndian.PutUint64(place[:], uint64(pos))
	return crc32.Update(crc32.Checksum(place[:], castagnoli), castagnoli, b[4:headerSize])
}

// readHeader reads the header at pos, if there is one and its data would fit.
func readHeader(all []byte, pos int) (header, bool) {
	if pos > len(all)-headerSize {
		return header{}, false
	}
	b := all[pos : pos+headerSize]
	h := header{dataSum: binary.LittleEndian.Uint32(b[4:]), gen: binary.LittleEndian.Uint64(b[8:]),
		n: int(binary.LittleEndian.Uint32(b[16:])), kind: binary.LittleEndian.Uint32(b[20:])}
	ok := binary.LittleEndian.Uint32(b) == headerSum(b, pos) && (h.kind == kindData || h.kind == kindCut) &&
		h.dataLen() <= len(all)-pos-headerSize
	return h, ok
}

// take records the frame at r.end.
func (r *region) take(h header) {
	switch h.kind {
	case kindCut:
		r.cut(h.n)
	case kindData:
		if h.n > 0 {
			r.extents = append(r.extents, extent{at: r.length, n: h.n, pos: r.end + headerSize})
		}
		r.length += h.n
	}
	r.end += headerSize + h.dataLen()
	r.open = h.dataLen() > 0
}

// cut forgets everything after the first n bytes.
func (r *region) cut(n int) {
	i := sort.Search(len(r.extents), func(i int) bool { return r.extents[i].at >= n })
	r.extents = r.extents[:i]
	if i > 0 {
		last := &r.extents[i-1]
		last.n = min(last.n, n-last.at)
	}
	r.length = min(r.length, n)
}

// find returns the index of the extent that holds byte off.
func (r *region) find(off int) int {
	return sort.Search(len(r.extents), func(i int) bool { return r.extents[i].at > off }) - 1
}

func (r *region) readAt(p []byte, off int) (int, error) {
	if off >= r.length {
		return 0, io.EOF
	}
	want := min(len(p), r.length-off)
	for i, done := r.find(off), 0; done < want; i++ {
		e := r.extents[i]
		skip := off + done - e.at
		n := min(e.n-skip, want-done)
		if _, err := r.obj.ReadAt(p[done:done+n], e.pos+skip); err != nil {
			return done, err
		}
		done += n
	}
	if want < len(p) {
		return want, io.EOF
	}
	return want, nil
}

// writeAt writes p at off: one Record, and another one if the last frame is overwritten
// for the first time. It returns errFull, with nothing changed, if p does not fit.
func (r *region) writeAt(p []byte, off int) error {
	if gap := off - r.length; gap > 0 { // a hole
		if gap > r.obj.Size()-r.end {
			return errFull
		}
		p, off = append(make([]byte, gap), p...), r.length
	}
	if len(p) == 0 {
		return nil
	}
	over := min(len(p), r.length-off)
	need := 0
	if over > 0 && r.breaks(off+over-1) {
		need = headerSize
	}
	if over < len(p) {
		need += headerSize + len(p) - over
	}
	if need > r.obj.Size()-r.end {
		return errFull
	}
	from := r.end
	r.buf = r.buf[:0]
	if over > 0 {
		var err error
		if from, err = r.overwrite(p[:over], off); err != nil {
			return err
		}
	}
	if over == len(p) {
		return r.obj.Record(from, r.buf)
	}
	return r.appendFrame(from, header{gen: r.gen, n: len(p) - over, kind: kindData}, p[over:])
}

// breaks reports whether overwriting from byte off on makes the checksum of the last
// frame wrong while no frame follows it.
func (r *region) breaks(off int) bool { return r.open && r.find(off) == len(r.extents)-1 }

// overwrite fills r.buf with the bytes of the region from byte off of the file to the
// last byte of p, with p written over them. It returns the position of byte off in the
// region.
func (r *region) overwrite(p []byte, off int) (int, error) {
	first, last := r.find(off), r.find(off+len(p)-1)
	if r.breaks(off + len(p) - 1) {
		if err := r.appendFrame(r.end, header{gen: r.gen, kind: kindData}, nil); err != nil {
			return 0, err
		}
	}
	from := r.extents[first].pos + off - r.extents[first].at
	to := r.extents[last].pos + off + len(p) - r.extents[last].at
	if err := r.load(from, to); err != nil {
		return 0, err
	}
	for i := first; i <= last; i++ {
		e := r.extents[i]
		begin, end := max(e.at, off), min(e.at+e.n, off+len(p))
		copy(r.buf[e.pos+begin-e.at-from:], p[begin-off:end-off])
	}
	return from, nil
}

// load fills r.buf with the region's bytes [from, to).
func (r *region) load(from, to int) error {
	r.buf = append(r.buf[:0], make([]byte, to-from)...)
	_, err := r.obj.ReadAt(r.buf, from)
	return err
}

// appendFrame records a frame after the others, in one Record with r.buf, the bytes of
// the region that begin at from.
func (r *region) appendFrame(from int, h header, data []byte) error {
	if gap := r.end - from - len(r.buf); gap > 0 { // frames without data in between
		had := len(r.buf)
		r.buf = append(r.buf, make([]byte, gap)...)
		if _, err := r.obj.ReadAt(r.buf[had:], from+had); err != nil {
			return err
		}
	}
	h.dataSum = crc32.Checksum(data, castagnoli)
	var b [headerSize]byte
	h.put(b[:], r.end)
	r.buf = append(append(r.buf, b[:]...), data...)
	if err := r.obj.Record(from, r.buf); err != nil {
		return err
	}
	r.buf = r.buf[:0]
	r.take(h)
	return nil
}

// truncate makes the file n bytes long. gen is a new generation.
func (r *region) truncate(n int, gen uint64) error {
	switch {
	case n > r.length:
		return r.writeAt(nil, n)
	case n == r.length:
		return nil
	case n == 0:
		return r.restart(gen)
	case r.end+headerSize > r.obj.Size():
		return errFull
	}
	r.buf = r.buf[:0]
	return r.appendFrame(r.end, header{gen: r.gen, n: n, kind: kindCut}, nil)
}

// restart empties the file: a frame of a new generation at the front invalidates all
// others. If only a part of this frame lands, the file is empty too.
func (r *region) restart(gen uint64) error {
	*r = region{obj: r.obj, gen: gen, buf: r.buf[:0]}
	return r.appendFrame(0, header{gen: gen, kind: kindCut}, nil)
}

// copyTo writes the file to an object without frames.
func (r *region) copyTo(to *region) error {
	const piece = 1 << 20
	p := make([]byte, min(piece, r.length))
	for off := 0; off < r.length; {
		n := min(len(p), r.length-off)
		if _, err := r.readAt(p[:n], off); err != nil {
			return err
		}
		if err := to.writeAt(p[:n], off); err != nil {
			return err
		}
		off += n
	}
	return nil
}

// sizeFor returns the size of a new region for the file and need more bytes, or an
// error if limit is too small. Within limit, the size is at least twice what is needed.
func (r *region) sizeFor(need, limit int) (int, error) {
	const pieces = 1 << 10 // headers of copyTo, with room to spare
	least := float64(r.length) + float64(need) + 4*headerSize + float64(r.length/pieces)
	if least > float64(limit) {
		return 0, fmt.Errorf("%w: %d bytes and %d more, in a region of at most %d; give it a larger MaxRegion (mount: --max-region)",
			ErrNoSpace, r.length, need, limit)
	}
	size := float64(r.obj.Size())
	for size < 2*least {
		size *= 2
	}
	return int(math.Min(size, float64(limit))), nil
}
