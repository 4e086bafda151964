package recordstore

import (
	"fmt"
	"io/fs"
	"sort"
)

// object is a region of bytes, initially zero.
type object struct {
	s     *Store
	id    uint64
	name  string
	image []byte
	birth *kept
	// owned lists the written pieces in order, each with the record that holds its content.
	owned []piece
	gone  bool
}

// piece is bytes [from, to) of an object.
type piece struct {
	from, to int
	by       *kept
}

// Record implements splitfs.Object. It may append several records to the log.
func (o *object) Record(off int, data []byte) error {
	o.s.mu.Lock()
	defer o.s.mu.Unlock()
	if err := o.check(off, len(data)); err != nil {
		return err
	}
	for len(data) > 0 {
		n := min(len(data), o.s.piece)
		if err := o.write(off, data[:n]); err != nil {
			return failed(err)
		}
		off, data = off+n, data[n:]
	}
	return nil
}

// write makes room and appends a record.
func (o *object) write(off int, data []byte) error {
	if err := o.s.makeRoom(); err != nil {
		return err
	}
	return o.put(off, data)
}

// put appends a record with the data at off.
func (o *object) put(off int, data []byte) error {
	k, err := o.s.append(o, kindData, off, data)
	if err != nil {
		return err
	}
	copy(o.image[off:], data)
	o.own(piece{off, off + len(data), k})
	return nil
}

// own makes p.by the owner of the bytes [p.from, p.to).
func (o *object) own(p piece) {
	first := sort.Search(len(o.owned), func(i int) bool { return o.owned[i].to > p.from })
	last, put := first, []piece{p}
	for ; last < len(o.owned) && o.owned[last].from < p.to; last++ {
		x := o.owned[last]
		x.by.live -= min(x.to, p.to) - max(x.from, p.from)
		if x.from < p.from {
			put = []piece{{x.from, p.from, x.by}, p}
		}
		if x.to > p.to {
			put = append(put, piece{p.to, x.to, x.by})
		}
	}
	p.by.live += p.to - p.from
	if first == len(o.owned) { // the usual case: an append
		o.owned = append(o.owned, p)
		return
	}
	o.owned = append(o.owned[:first:first], append(put, o.owned[last:]...)...)
}

// hull returns the range from the first to the last byte that k owns.
func (o *object) hull(k *kept) (from, to int) {
	first := sort.Search(len(o.owned), func(i int) bool { return o.owned[i].to > k.at })
	from = -1
	for i := first; i < len(o.owned) && o.owned[i].from < k.at+k.n; i++ {
		if x := o.owned[i]; x.by == k {
			if from < 0 {
				from = x.from
			}
			to = x.to
		}
	}
	return from, to
}

// ReadAt implements splitfs.Object.
func (o *object) ReadAt(p []byte, off int) (int, error) {
	o.s.mu.Lock()
	defer o.s.mu.Unlock()
	if err := o.check(off, len(p)); err != nil {
		return 0, err
	}
	return copy(p, o.image[off:]), nil
}

func (o *object) check(off, n int) error {
	if o.gone {
		return fmt.Errorf("recordstore: object %q was deleted: %w", o.name, fs.ErrNotExist)
	}
	if off < 0 || off > len(o.image) || n > len(o.image)-off {
		return fmt.Errorf("recordstore: object %q has %d bytes: %d bytes at %d: %w", o.name, len(o.image), n, off, fs.ErrInvalid)
	}
	return nil
}

// Size implements splitfs.Object.
func (o *object) Size() int { return len(o.image) }

// Release implements splitfs.Object.
func (o *object) Release() error {
	o.s.mu.Lock()
	defer o.s.mu.Unlock()
	if err := o.check(0, 0); err != nil {
		return err
	}
	return failed(o.s.remove(o))
}

// Close implements splitfs.Object.
func (o *object) Close() {}
