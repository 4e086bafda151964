package coord

import (
	"encoding/binary"
	"slices"
	"sort"

	"github.com/verbatim-rdma/verbatim/fingerprint"
)

// Store is the coordination service as a pure state machine: the same calls in the same
// order return the same answers and the same [Store.Hash]. The zero Store is empty. It
// is not safe for concurrent use.
//
// The checker runs it millions of times: it keeps its memory over a Reset, and updates
// the fingerprint incrementally.
type Store struct {
	// entries are sorted by key. The elements between len and cap are not in the store;
	// they keep their buffers for the next key. No two elements share a buffer.
	entries  []entry
	sessions []SessionInfo     // sorted by ID
	last     Session           // the newest
	sum      fingerprint.Print // of the hashes of entries and sessions
}

type entry struct {
	key     string
	value   []byte
	version uint64
	session Session
	hash    fingerprint.Print
}

// SessionInfo is a live session and the host that opened it.
type SessionInfo struct {
	ID   Session
	Host string
}

// Reset empties the store.
func (s *Store) Reset() {
	s.entries = s.entries[:0]
	s.sessions = s.sessions[:0]
	s.last, s.sum = 0, fingerprint.Print{}
}

// Forget makes the store as empty as that of a service that restarts without its data.
// Session numbers are not reused, so no host takes another's session for its own.
func (s *Store) Forget() {
	s.entries = s.entries[:0]
	s.sessions = s.sessions[:0]
	s.sum = fingerprint.Print{}
}

// Hash returns a fingerprint of the whole state: equal states have equal hashes, on every
// machine and in every run. It is cheap.
func (s *Store) Hash() fingerprint.Print { return s.sum.Uint(uint64(s.last)) }

// Sessions appends the live sessions to dst, oldest first.
func (s *Store) Sessions(dst []SessionInfo) []SessionInfo { return append(dst, s.sessions...) }

// Apply carries out a request of host from. It retains no part of req, and the caller
// owns the response. A malformed request changes nothing and is answered with an error.
func (s *Store) Apply(from string, req []byte) (resp []byte) {
	r, ok := decodeRequest(req)
	if !ok {
		return respond(codeInvalid)
	}
	switch r.op {
	case opGet:
		return s.get(r.key)
	case opCreate:
		return respond(s.create(from, &r))
	case opSet:
		return s.set(&r)
	case opDelete:
		return respond(s.delete(&r))
	case opList:
		return s.list(r.key)
	case opNewSession:
		return s.newSession(from)
	}
	if !s.owns(from, Session(r.num)) {
		return respond(codeExpired)
	}
	if r.op == opCloseSession {
		s.ExpireSession(Session(r.num))
	}
	return respond(codeOK)
}

func respond(c code) []byte { return []byte{byte(c)} }

func respondNum(n uint64, more int) []byte {
	return binary.LittleEndian.AppendUint64(make([]byte, 1, 1+8+more), n)
}

// find returns the index of key, or where to insert it.
func (s *Store) find(key []byte) (i int, found bool) {
	// string(key) does not allocate in a comparison.
	i = sort.Search(len(s.entries), func(i int) bool { return s.entries[i].key >= string(key) })
	return i, i < len(s.entries) && s.entries[i].key == string(key)
}

// findVersion is find for an operation that requires an existing key with a version.
func (s *Store) findVersion(r *request) (int, code) {
	i, found := s.find(r.key)
	switch {
	case !found:
		return i, codeNotFound
	case r.num != AnyVersion && r.num != s.entries[i].version:
		return i, codeVersion
	}
	return i, codeOK
}

func (s *Store) get(key []byte) []byte {
	i, found := s.find(key)
	if !found {
		return respond(codeNotFound)
	}
	e := &s.entries[i]
	return append(respondNum(e.version, len(e.value)), e.value...)
}

func (s *Store) create(from string, r *request) code {
	owner := Session(r.num)
	if owner != NoSession && !s.owns(from, owner) {
		return codeExpired
	}
	i, found := s.find(r.key)
	if found {
		return codeExists
	}
	e := s.insert(i)
	// After a Reset the slot often holds the same key from the previous run.
	if e.key != string(r.key) {
		e.key = string(r.key)
	}
	e.value = append(e.value[:0], r.value...)
	e.version, e.session = FirstVersion, owner
	e.hash = hashEntry(e)
	s.sum = s.sum.Plus(e.hash)
	return codeOK
}

// insert makes room at i. The new element reuses the buffers of a discarded one.
func (s *Store) insert(i int) *entry {
	n := len(s.entries)
	if n == cap(s.entries) {
		s.entries = slices.Grow(s.entries, 1)
	}
	s.entries = s.entries[:n+1]
	spare := s.entries[n]
	copy(s.entries[i+1:], s.entries[i:n])
	s.entries[i] = spare
	return &s.entries[i]
}

func (s *Store) set(r *request) []byte {
	i, c := s.findVersion(r)
	if c != codeOK {
		return respond(c)
	}
	e := &s.entries[i]
	s.sum = minus(s.sum, e.hash)
	e.value = append(e.value[:0], r.value...)
	e.version++
	e.hash = hashEntry(e)
	s.sum = s.sum.Plus(e.hash)
	return respondNum(e.version, 0)
}

func (s *Store) delete(r *request) code {
	i, c := s.findVersion(r)
	if c != codeOK {
		return c
	}
	removed := s.entries[i]
	s.sum = minus(s.sum, removed.hash)
	n := len(s.entries) - 1
	copy(s.entries[i:], s.entries[i+1:])
	s.entries[n] = removed
	s.entries = s.entries[:n]
	return codeOK
}

func (s *Store) list(prefix []byte) []byte {
	from, _ := s.find(prefix)
	to, size := from, 1
	for to < len(s.entries) && hasBytePrefix(s.entries[to].key, prefix) {
		size += 1 + len(s.entries[to].key)
		to++
	}
	resp := make([]byte, 1, size)
	for i := from; i < to; i++ {
		resp = append(resp, byte(len(s.entries[i].key)))
		resp = append(resp, s.entries[i].key...)
	}
	return resp
}

func hasBytePrefix(s string, prefix []byte) bool {
	return len(s) >= len(prefix) && s[:len(prefix)] == string(prefix)
}
