package recordstore

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia"
	"github.com/verbatim-rdma/verbatim/splitfs"
)

// Errors, to be tested with errors.Is.
var (
	// ErrFull: the content of the objects fills the log. It wraps syscall.ENOSPC.
	ErrFull = fmt.Errorf("recordstore: the log is full; give it a larger Size: %w", syscall.ENOSPC)
	// ErrForeign: the log holds records that no store has written.
	ErrForeign = errors.New("recordstore: the log does not belong to a store")
	// ErrSmall: the log is too small for a store.
	ErrSmall = errors.New("recordstore: the log is too small")
)

const (
	// MinRecord is the smallest arcadia.Log.MaxRecord that a store needs.
	MinRecord = 4 << 10
	// maxName is the longest name of an object.
	maxName  = 64
	maxPiece = 64 << 10
)

// Store keeps objects in a log. The store and its objects are safe for concurrent use.
type Store struct {
	log *arcadia.Log
	// piece is the largest number of data bytes in a record. reserve is the space that must be free before a record is
	// written: for two records, since the first one of the log may have to be appended again to free its space, and
	// twice that, since a record does not wrap around the end of the ring.
	piece, reserve int

	mu      host.Mutex // guards the fields below
	objects map[string]*object
	next    uint64 // the number of the next object
	// kept lists, in order, the records that have not been cleaned up, and some that have.
	kept []*kept
	buf  []byte
	err  error // the log failed
}

// Open opens the store in a log. An empty log is an empty store. The log must have no other user. The error wraps
// ErrForeign or ErrSmall, or is an error of the log.
func Open(h host.Host, log *arcadia.Log) (*Store, error) {
	room := log.MaxRecord()
	if room < MinRecord {
		return nil, fmt.Errorf("%w: its largest record has %d bytes; a store needs %d", ErrSmall, room, MinRecord)
	}
	s := &Store{log: log, piece: min(maxPiece, room/32), mu: h.NewMutex(), objects: map[string]*object{}, next: 1}
	s.reserve = 4 * (s.piece + maxName + headerSize + 64)
	if err := s.recover(); err != nil {
		return nil, err
	}
	return s, nil
}

// recover rebuilds the objects from the log.
func (s *Store) recover() error {
	byID := map[uint64]*object{}
	var old []*kept // births that were appended again
	err := s.log.Each(func(rec *arcadia.Record, b []byte) error {
		d, err := decode(rec.LSN(), b)
		if err != nil {
			return err
		}
		k := &kept{rec: rec, at: d.at, n: len(d.rest)}
		s.kept, s.next = append(s.kept, k), max(s.next, d.id+1)
		if d.kind == kindData {
			return nil
		}
		o := byID[d.id]
		if o == nil {
			o = &object{s: s, id: d.id, name: string(d.rest), image: make([]byte, d.at)}
		} else {
			old = append(old, o.birth)
		}
		if same := s.objects[o.name]; same != nil && same != o || len(o.image) != d.at || o.name != string(d.rest) {
			return fmt.Errorf("%w: record %d contradicts the birth of an earlier object", ErrForeign, rec.LSN())
		}
		o.birth, k.of = k, o
		byID[o.id], s.objects[o.name] = o, o
		return nil
	})
	if err != nil {
		return err
	}
	i := 0
	err = s.log.Each(func(rec *arcadia.Record, b []byte) error {
		k := s.kept[i]
		i++
		d, err := decode(rec.LSN(), b)
		if o := byID[d.id]; err == nil && d.kind == kindData && o != nil {
			if err = o.check(d.at, len(d.rest)); err != nil {
				return fmt.Errorf("%w: record %d: %w", ErrForeign, rec.LSN(), err)
			}
			copy(o.image[d.at:], d.rest)
			k.of = o
			o.own(piece{d.at, d.at + len(d.rest), k})
		}
		return err
	})
	for _, k := range old { // once the later birth is cleaned up, the earlier one would restore the object
		err = errors.Join(err, s.cleanup(k))
	}
	return err
}

// Create implements splitfs.Store.
func (s *Store) Create(name string, size int) (splitfs.Object, error) {
	if len(name) > maxName || size < 0 || size > splitfs.LargestRegion {
		return nil, fmt.Errorf("recordstore: object %q of %d bytes: %w: a name has at most %d bytes, and an object at most %d", name, size, fs.ErrInvalid, maxName, splitfs.LargestRegion)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.objects[name] != nil {
		return nil, fmt.Errorf("recordstore: object %q: %w", name, fs.ErrExist)
	}
	if err := s.makeRoom(); err != nil {
		return nil, failed(err)
	}
	o := &object{s: s, id: s.next, name: name, image: make([]byte, size)}
	k, err := s.append(o, kindBirth, size, []byte(name))
	if err != nil {
		return nil, failed(err)
	}
	o.birth = k
	s.next++
	s.objects[name] = o
	return o, nil
}

// Recover implements splitfs.Store.
func (s *Store) Recover(name string) (splitfs.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.objects[name]; o != nil {
		return o, nil
	}
	return nil, fmt.Errorf("recordstore: object %q: %w", name, fs.ErrNotExist)
}

// remove deletes an object: it cleans up the birth, without which the data belong to no object.
func (s *Store) remove(o *object) error {
	if s.err != nil {
		return s.err
	}
	if err := s.cleanup(o.birth); err != nil {
		return err
	}
	o.gone = true
	delete(s.objects, o.name)
	return nil
}

// failed wraps an error in splitfs.ErrStore.
func failed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", splitfs.ErrStore, err)
}
