package siftcoord

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/verbatim-rdma/verbatim/codec/wire"
	"github.com/verbatim-rdma/verbatim/protocol/sift/kv"
)

// Store has the methods of a key-value store that a journal needs. A [kv.Store] implements it.
type Store interface {
	// Put returns when the pair is durable. If the error wraps [kv.ErrUnknown], it may be durable.
	Put(key, value []byte) error
	// Get appends the value to buf, and confirms that this node is still the coordinator.
	Get(key, buf []byte) (value []byte, found bool, err error)
	Delete(key []byte) error
}

// journal is a log of records in a store. A snapshot replaces the oldest records. Records and snapshots are stored as
// blobs: values in the store are short, so a blob consists of several pieces. Piece 0 holds their number and is written
// last, so a blob exists completely or not at all.
type journal struct {
	store Store
	piece int // bytes of a value of the store
	head  head
	next  uint64 // the number of the next record
	taken int    // the pieces of the records after the snapshot
	buf   []byte
}

// head selects the valid snapshot. It is a single value, so it changes atomically.
type head struct {
	half  uint8  // which of two snapshots is valid
	first uint64 // the first record that is not in it
	stale uint64 // the first record that may not have been deleted
}

// The first bytes of keys.
const (
	headKey     = 'h'
	recordKey   = 'r'
	snapshotKey = 's'
)

// keySize is the length of the longest key in bytes: kind, number and piece.
const keySize = 1 + 8 + 4

// ErrCorrupt: the store does not hold a journal.
var ErrCorrupt = errors.New("sift/coord: the store holds no such journal")

// openJournal opens the journal in a store of a shape. It returns the snapshot, which is nil if there is none, and the
// records after it.
func openJournal(store Store, shape *kv.Config) (j *journal, snapshot []byte, records [][]byte, err error) {
	j = &journal{store: store, piece: shape.Value}
	value, found, err := store.Get([]byte{headKey}, nil)
	if err != nil {
		return nil, nil, nil, err
	}
	if found {
		if err := j.head.decode(value, shape.Blocks); err != nil {
			return nil, nil, nil, err
		}
		if snapshot, found, err = j.blob(snapshotKey, uint64(j.head.half)); err != nil || !found {
			return nil, nil, nil, errors.Join(err, missing(found, "the snapshot"))
		}
	}
	for j.next = j.head.first; ; j.next++ {
		record, found, err := j.blob(recordKey, j.next)
		if err != nil {
			return nil, nil, nil, err
		}
		if !found {
			return j, snapshot, records, j.clean()
		}
		records = append(records, record)
		j.taken += j.pieces(len(record))
	}
}

func missing(found bool, what string) error {
	if found {
		return nil
	}
	return fmt.Errorf("%w: %s is missing", ErrCorrupt, what)
}

// append writes the next record. If the store is full, it removes what it has written of the record. After any other error
// the record may exist, and the caller must reopen the journal before it writes again.
func (j *journal) append(record []byte) error {
	if err := j.write(recordKey, j.next, record); errors.Is(err, kv.ErrFull) {
		return errors.Join(err, j.trim(recordKey, j.next))
	} else if err != nil {
		return err
	}
	j.next++
	j.taken += j.pieces(len(record))
	return nil
}

// pieces is how many pieces a blob of n bytes has.
func (j *journal) pieces(n int) int { return 1 + max(0, n+4-1)/j.piece }

// length is how many records there are after the snapshot.
func (j *journal) length() int { return int(j.next - j.head.first) }

// compact replaces all records with a snapshot. If the coordinator crashes at any point, either the old snapshot with its
// records is valid, or the new one.
func (j *journal) compact(snapshot []byte) error {
	h := head{half: 1 - j.head.half, first: j.next, stale: j.head.first}
	err := j.write(snapshotKey, uint64(h.half), snapshot)
	if err == nil {
		err = j.store.Put([]byte{headKey}, h.encode()) // the first one is a new key
	}
	if errors.Is(err, kv.ErrFull) {
		return errors.Join(err, j.remove(snapshotKey, uint64(h.half))) // records need the room
	}
	if err != nil {
		return err
	}
	j.head, j.taken = h, 0
	return j.clean()
}

// clean deletes the records and the snapshot that the valid snapshot has replaced. Pieces of an unfinished record remain
// until the next record with its number is deleted.
func (j *journal) clean() error {
	for ; j.head.stale < j.head.first; j.head.stale++ {
		if err := j.remove(recordKey, j.head.stale); err != nil {
			return err
		}
	}
	return j.remove(snapshotKey, uint64(1-j.head.half))
}

// confirm confirms that this node is still the coordinator.
func (j *journal) confirm() error {
	_, _, err := j.store.Get([]byte{headKey}, nil)
	return err
}

// write writes a new blob: pieces 1, 2, ... and finally piece 0.
func (j *journal) write(kind byte, n uint64, b []byte) error {
	head, rest := b[:min(len(b), j.piece-4)], b[min(len(b), j.piece-4):]
	pieces := 1
	for ; len(rest) > 0; pieces++ {
		size := min(len(rest), j.piece)
		if err := j.store.Put(key(kind, n, pieces), rest[:size]); err != nil {
			return err
		}
		rest = rest[size:]
	}
	j.buf = append(binary.BigEndian.AppendUint32(j.buf[:0], uint32(pieces)), head...)
	return j.store.Put(key(kind, n, 0), j.buf)
}

// blob reads a blob.
func (j *journal) blob(kind byte, n uint64) (b []byte, found bool, err error) {
	b, found, err = j.store.Get(key(kind, n, 0), nil)
	if err != nil || !found {
		return nil, false, err
	}
	if len(b) < 4 {
		return nil, false, fmt.Errorf("%w: a first piece has %d bytes", ErrCorrupt, len(b))
	}
	pieces := binary.BigEndian.Uint32(b)
	b = b[4:]
	for i := uint32(1); i < pieces; i++ {
		if b, found, err = j.store.Get(key(kind, n, int(i)), b); err != nil || !found {
			return nil, false, errors.Join(err, missing(found, "a piece"))
		}
	}
	return b, true, nil
}

// remove deletes a blob, complete or not.
func (j *journal) remove(kind byte, n uint64) error {
	if err := j.trim(kind, n); err != nil {
		return err
	}
	return j.delete(key(kind, n, 0))
}

// trim deletes pieces 1, 2, ... of a blob. They are written in ascending and deleted in descending order, so an interruption
// leaves no gaps.
func (j *journal) trim(kind byte, n uint64) error {
	end := 1
	for ; ; end++ {
		_, found, err := j.store.Get(key(kind, n, end), nil)
		if err != nil {
			return err
		}
		if !found {
			break
		}
	}
	for end--; end > 0; end-- {
		if err := j.store.Delete(key(kind, n, end)); err != nil {
			return err
		}
	}
	return nil
}

// delete deletes a key if it exists. A get is cheaper than a logged delete.
func (j *journal) delete(key []byte) error {
	if _, found, err := j.store.Get(key, nil); err != nil || !found {
		return err
	}
	return j.store.Delete(key)
}

// key returns the key of a piece of a blob.
func key(kind byte, n uint64, piece int) []byte {
	b := binary.BigEndian.AppendUint64(append(make([]byte, 0, keySize), kind), n)
	return binary.BigEndian.AppendUint32(b, uint32(piece))
}

func (h *head) encode() []byte {
	b := binary.BigEndian.AppendUint64([]byte{h.half}, h.first)
	return binary.BigEndian.AppendUint64(b, h.stale)
}

// decode decodes the head of a journal in a store with the given number of blocks. The store once held all records from
// stale to first at the same time, each in at least one block, so there cannot be more records than blocks.
func (h *head) decode(b []byte, blocks int) error {
	r := wire.NewReader(b)
	*h = head{half: r.Uint8(), first: r.Uint64(), stale: r.Uint64()}
	r.Fail(h.half <= 1 && h.stale <= h.first && h.first-h.stale <= uint64(blocks))
	if err := r.End(); err != nil {
		return fmt.Errorf("%w: its head: %w", ErrCorrupt, err)
	}
	return nil
}
