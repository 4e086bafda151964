package recordstore

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/verbatim-rdma/verbatim/protocol/arcadia"
	"github.com/verbatim-rdma/verbatim/splitfs"
)

// The payload of a record begins with two words, little-endian:
//
//	0  kind, 1 byte; the number of the object, 7 bytes
//	8  the size of the object, or the offset of the data
//
// The object's name, or the data, follows.
const headerSize = 16

const (
	kindBirth = 1
	kindData  = 2
)

// encode writes a payload to buf.
func encode(buf []byte, kind byte, id uint64, at int, rest []byte) []byte {
	buf = binary.LittleEndian.AppendUint64(buf[:0], uint64(kind)|id<<8)
	buf = binary.LittleEndian.AppendUint64(buf, uint64(at))
	return append(buf, rest...)
}

// decoded is a decoded payload.
type decoded struct {
	kind byte
	id   uint64
	at   int
	rest []byte
}

// decode decodes the payload of a record. The error wraps ErrForeign.
func decode(lsn uint64, b []byte) (d decoded, err error) {
	if len(b) < headerSize {
		return d, fmt.Errorf("%w: record %d has %d bytes", ErrForeign, lsn, len(b))
	}
	w, at := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	d = decoded{kind: byte(w), id: w >> 8, at: int(at), rest: b[headerSize:]}
	if d.kind != kindBirth && d.kind != kindData || at > splitfs.LargestRegion {
		return d, fmt.Errorf("%w: record %d has kind %d and number %d", ErrForeign, lsn, d.kind, at)
	}
	return d, nil
}

// kept is a record of the log that has not been cleaned up.
type kept struct {
	rec  *arcadia.Record
	of   *object // nil: the record is not needed
	at   int     // the offset of its data in the object
	n    int
	live int // bytes that no later record overwrites
}

// needed reports whether an object would change without k.
func (k *kept) needed() bool { return k.of != nil && !k.of.gone && (k.live > 0 || k.of.birth == k) }

// append appends a record to the log and forces it.
func (s *Store) append(o *object, kind byte, at int, rest []byte) (*kept, error) {
	s.buf = encode(s.buf, kind, o.id, at, rest)
	rec, err := s.log.Append(s.buf)
	if err != nil {
		s.err = err
		return nil, err
	}
	k := &kept{rec: rec, of: o, at: at, n: len(rest)}
	s.kept = append(s.kept, k)
	return k, nil
}

// again appends the live content of k at the end of the log.
func (s *Store) again(k *kept) error {
	o := k.of
	if o.birth == k {
		birth, err := s.append(o, kindBirth, len(o.image), []byte(o.name))
		if err == nil {
			o.birth = birth
		}
		return err
	}
	from, to := o.hull(k)
	return o.put(from, slices.Clone(o.image[from:to]))
}

// makeRoom frees the first records until the longest record fits.
func (s *Store) makeRoom() error {
	if s.err != nil {
		return s.err
	}
	for left := len(s.kept); s.log.Free() < s.reserve; {
		if left <= 0 {
			return ErrFull // all records are needed, and were appended again
		}
		n := 0
		for n < left && !s.kept[n].needed() {
			n++
		}
		if n == 0 {
			if err := s.again(s.kept[0]); err != nil {
				return err
			}
			n = 1
		}
		if err := s.forget(n); err != nil {
			return err
		}
		left -= n
	}
	return nil
}

// forget cleans up the first n records. The first one is cleaned up last: it frees the space of all.
func (s *Store) forget(n int) error {
	for _, k := range slices.Backward(s.kept[:n]) {
		if err := s.cleanup(k); err != nil {
			return err
		}
	}
	s.kept = s.kept[n:]
	return nil
}

func (s *Store) cleanup(k *kept) error {
	if k.rec == nil {
		return nil // already cleaned up
	}
	if err := s.log.Cleanup(k.rec); err != nil {
		s.err = err
		return err
	}
	k.rec, k.of = nil, nil
	return nil
}
