package raftr

// machine is the state machine: a key-value store, and for each session the number of its last
// write, so that a write that a client repeats is carried out once.
type machine struct {
	values   map[string]string
	sessions map[uint64]uint64
}

func newMachine() machine {
	return machine{values: map[string]string{}, sessions: map[uint64]uint64{}}
}

// apply carries out the command of the entry at index. known is false if its session was never opened.
func (s *machine) apply(index uint64, x *command) (known bool) {
	switch x.op {
	case opOpen:
		s.sessions[index] = 0
	case opPut:
		if x.session != 0 {
			last, ok := s.sessions[x.session]
			if !ok {
				return false
			}
			if x.seq <= last {
				return true // it was carried out before
			}
			s.sessions[x.session] = x.seq
		}
		s.values[x.key] = x.value
	}
	return true
}

func (s *machine) get(key string) (string, bool) {
	v, ok := s.values[key]
	return v, ok
}
