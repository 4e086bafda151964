package coord

import (
	"encoding/binary"
	"slices"
)

func (s *Store) newSession(from string) []byte {
	s.last++
	info := SessionInfo{ID: s.last, Host: from}
	s.sessions = append(s.sessions, info)
	s.sum += hashSession(info)
	return respondNum(uint64(s.last), 0)
}

// findSession searches from the end: it is mostly a young one that is asked for.
func (s *Store) findSession(id Session) int {
	i := len(s.sessions) - 1
	for i >= 0 && s.sessions[i].ID != id {
		i--
	}
	return i
}

// owns reports whether id is a live session of host from. ZooKeeper ties a
// session to a connection, so no protocol may count on using another's.
func (s *Store) owns(from string, id Session) bool {
	i := s.findSession(id)
	return i >= 0 && s.sessions[i].Host == from
}

// ExpireSession ends a session and removes its keys, and reports whether there
// was one.
func (s *Store) ExpireSession(id Session) bool {
	i := s.findSession(id)
	if i < 0 {
		return false
	}
	s.sum -= hashSession(s.sessions[i])
	s.sessions = slices.Delete(s.sessions, i, i+1)
	s.removeKeys(id)
	return true
}

// ExpireHost ends every session that host name has opened, those of its earlier
// incarnations included, and reports whether there was one.
func (s *Store) ExpireHost(name string) bool {
	any := false
	for i := len(s.sessions) - 1; i >= 0; i-- {
		if s.sessions[i].Host == name {
			any = s.ExpireSession(s.sessions[i].ID)
		}
	}
	return any
}

// removeKeys moves the keys of session id behind the end, the others keep their
// order. Swapping keeps every buffer in one element only.
func (s *Store) removeKeys(id Session) {
	kept := 0
	for i := range s.entries {
		if s.entries[i].session == id {
			s.sum -= s.entries[i].hash
			continue
		}
		if i != kept {
			s.entries[i], s.entries[kept] = s.entries[kept], s.entries[i]
		}
		kept++
	}
	s.entries = s.entries[:kept]
}

// The fingerprint is a sum over the elements, so that it can follow a change
// without looking at the others. Each element's hash is mixed well before it is
// added. It need not withstand an adversary.

const hashPrime = 0x9E3779B97F4A7C15

func hashEntry(e *entry) uint64 {
	h := hashString(1, e.key)
	h = hashWord(h, e.version)
	h = hashWord(h, uint64(e.session))
	return mix(hashBytes(h, e.value))
}

func hashSession(i SessionInfo) uint64 {
	return mix(hashWord(hashString(2, i.Host), uint64(i.ID)))
}

func hashWord(h, w uint64) uint64 {
	h = (h ^ w) * hashPrime
	return h ^ h>>29
}

func hashString(h uint64, s string) uint64 {
	h = hashWord(h, uint64(len(s)))
	for i := 0; i < len(s); i++ {
		h = hashWord(h, uint64(s[i]))
	}
	return h
}

// hashBytes takes eight bytes at a time, for values are the long part.
func hashBytes(h uint64, b []byte) uint64 {
	h = hashWord(h, uint64(len(b)))
	for ; len(b) >= 8; b = b[8:] {
		h = hashWord(h, binary.LittleEndian.Uint64(b))
	}
	for _, c := range b {
		h = hashWord(h, uint64(c))
	}
	return h
}

// mix spreads every bit over all others (the finalizer of splitmix64).
func mix(h uint64) uint64 {
	h = (h ^ h>>30) * 0xBF58476D1CE4E5B9
	h = (h ^ h>>27) * 0x94D049BB133111EB
	return h ^ h>>31
}
