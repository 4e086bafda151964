package coord

// SlowHash is what Hash must be: computed anew from the whole state.
func (s *Store) SlowHash() uint64 {
	fresh := Store{last: s.last}
	for i := range s.entries {
		fresh.sum += hashEntry(&s.entries[i])
	}
	for _, info := range s.sessions {
		fresh.sum += hashSession(info)
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
