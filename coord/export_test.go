package coord

import "github.com/verbatim-rdma/verbatim/fingerprint"

// SlowHash is the specification of Hash: computed from the whole state.
func (s *Store) SlowHash() fingerprint.Print {
	fresh := Store{last: s.last}
	for i := range s.entries {
		fresh.sum = fresh.sum.Plus(hashEntry(&s.entries[i]))
	}
	for _, info := range s.sessions {
		fresh.sum = fresh.sum.Plus(hashSession(info))
	}
	return fresh.Hash()
}

// Reencode decodes a request and encodes it again.
func Reencode(req []byte) (again []byte, ok bool) {
	r, ok := decodeRequest(req)
	if !ok {
		return nil, false
	}
	return encodeRequest(r.op, string(r.key), r.num, r.value), true
}
