package coord

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/verbatim-rdma/verbatim/codec/wire"
)

// ErrSnapshot: the bytes are not a snapshot of a [Store].
var ErrSnapshot = errors.New("coord: malformed snapshot")

// AppendSnapshot appends the whole state to dst, for a service that keeps it elsewhere. Stores with equal hashes append
// the same bytes, as package wire encodes them: the number of the newest session (8 bytes); how many are alive (4 bytes),
// each with its number (8 bytes) and its host; how many keys there are (4 bytes), each with its version (8 bytes), its
// session (8 bytes) and its value (4 bytes for its length). Names of hosts have at most [wire.MaxString] bytes.
func (s *Store) AppendSnapshot(dst []byte) []byte {
	big := binary.BigEndian
	dst = big.AppendUint64(dst, uint64(s.last))
	dst = big.AppendUint32(dst, uint32(len(s.sessions)))
	for _, x := range s.sessions {
		dst = wire.AppendString(big.AppendUint64(dst, uint64(x.ID)), x.Host)
	}
	dst = big.AppendUint32(dst, uint32(len(s.entries)))
	for i := range s.entries {
		e := &s.entries[i]
		dst = big.AppendUint64(wire.AppendString(dst, e.key), e.version)
		dst = big.AppendUint64(dst, uint64(e.session))
		dst = append(big.AppendUint32(dst, uint32(len(e.value))), e.value...)
	}
	return dst
}

// Restore replaces the state with a snapshot's. It does not retain the argument. If it fails, the store is empty and the
// error wraps [ErrSnapshot].
func (s *Store) Restore(snapshot []byte) error {
	s.Reset()
	r := wire.NewReader(snapshot)
	s.last = Session(r.Uint64())
	for n := r.Uint32(); n > 0 && s.restoreSession(r); n-- {
	}
	for n := r.Uint32(); n > 0 && s.restoreEntry(r); n-- {
	}
	if err := r.End(); err != nil {
		s.Reset()
		return fmt.Errorf("%w of %d bytes: %w", ErrSnapshot, len(snapshot), err)
	}
	return nil
}

// restoreSession reads the next session, and reports whether it is valid. Numbers of sessions increase.
func (s *Store) restoreSession(r *wire.Reader) bool {
	x := SessionInfo{ID: Session(r.Uint64()), Host: r.String(0, wire.MaxString)}
	n := len(s.sessions)
	ok := x.ID != NoSession && x.ID <= s.last && (n == 0 || x.ID > s.sessions[n-1].ID)
	if r.Fail(ok); !ok {
		return false
	}
	s.sessions = append(s.sessions, x)
	s.sum = s.sum.Plus(hashSession(x))
	return true
}

// restoreEntry reads the next key, and reports whether it is valid. Keys are in byte order.
func (s *Store) restoreEntry(r *wire.Reader) bool {
	e := entry{key: r.String(1, MaxKey), version: r.Uint64(), session: Session(r.Uint64())}
	size := r.Uint32()
	r.Fail(size <= MaxValue)
	e.value = slices.Clone(r.Take(int(size)))
	n := len(s.entries)
	ok := e.key != "" && e.version >= FirstVersion && (n == 0 || e.key > s.entries[n-1].key) &&
		(e.session == NoSession || s.findSession(e.session) >= 0)
	if r.Fail(ok); !ok {
		return false
	}
	e.hash = hashEntry(&e)
	s.entries = append(s.entries, e)
	s.sum = s.sum.Plus(e.hash)
	return true
}
