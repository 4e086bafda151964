package coord

import (
	"slices"

	"github.com/verbatim-rdma/verbatim/fingerprint"
)

func (s *Store) newSession(from string) []byte {
	s.last++
	info := SessionInfo{ID: s.last, Host: from}
	s.sessions = append(s.sessions, info)
	s.sum = s.sum.Plus(hashSession(info))
	return respondNum(uint64(s.last), 0)
}

// findSession searches from the end: most requests are about a young session.
func (s *Store) findSession(id Session) int {
	i := len(s.sessions) - 1
	for i >= 0 && s.sessions[i].ID != id {
		i--
	}
	return i
}

// owns reports whether id is a live session of host from. ZooKeeper ties a session to a
// connection, so no protocol may rely on using another's.
func (s *Store) owns(from string, id Session) bool {
	i := s.findSession(id)
	return i >= 0 && s.sessions[i].Host == from
}

// ExpireSession expires a session, removes its keys, and reports whether it existed.
func (s *Store) ExpireSession(id Session) bool {
	i := s.findSession(id)
	if i < 0 {
		return false
	}
	s.sum = minus(s.sum, hashSession(s.sessions[i]))
	s.sessions = slices.Delete(s.sessions, i, i+1)
	s.removeKeys(id)
	return true
}

// ExpireHost expires every session that host name has opened, also in earlier
// incarnations, and reports whether there was one.
func (s *Store) ExpireHost(name string) bool {
	any := false
	for i := len(s.sessions) - 1; i >= 0; i-- {
		if s.sessions[i].Host == name {
			any = s.ExpireSession(s.sessions[i].ID)
		}
	}
	return any
}

// removeKeys moves the keys of session id past the end; the others keep their order.
// Swapping keeps every buffer in one element only.
func (s *Store) removeKeys(id Session) {
	kept := 0
	for i := range s.entries {
		if s.entries[i].session == id {
			s.sum = minus(s.sum, s.entries[i].hash)
			continue
		}
		if i != kept {
			s.entries[i], s.entries[kept] = s.entries[kept], s.entries[i]
		}
		kept++
	}
	s.entries = s.entries[:kept]
}

// The fingerprint is a sum over the elements, so a change of one element updates it
// without reading the others.

func hashEntry(e *entry) fingerprint.Print {
	return fingerprint.Print{}.String(e.key).Uint(e.version).Uint(uint64(e.session)).Bytes(e.value)
}

func hashSession(i SessionInfo) fingerprint.Print {
	return fingerprint.Print{}.Uint(uint64(i.ID)).String(i.Host)
}

// minus subtracts x from the sum p.
func minus(p, x fingerprint.Print) fingerprint.Print {
	return fingerprint.Print{A: p.A - x.A, B: p.B - x.B}
}
