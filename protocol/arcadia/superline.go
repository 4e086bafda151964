package arcadia

import (
	"fmt"
)

// Superlines are written by the atomicity primitive (4.3), with a volatile index: the later of the two that
// are whole counts. The paper replaces one of the two, and then reuses the space that this frees. If a media error
// then damages the new superline, the old one counts again. It begins where records have been overwritten, so the
// log is lost. Therefore both superlines are replaced, one after the other, before the space is reused.
func putSuperlines(m Store, s *superline, newest int) error {
	var b [superSize]byte
	s.put(b[:])
	for _, i := range [2]int{1 - newest, newest} {
		m.Store(i*superSize, b[:])
		if err := m.Force(i*superSize, superSize); err != nil {
			return err
		}
	}
	return nil
}

// first is the superline of an empty log.
func first(id uint64, ring int) superline {
	return superline{id: id, ring: ring, start: 1, epoch: 1, since: 1}
}

// begun reports whether each word of b is zero or the word of s there: the creation was cut off, or is complete.
func begun(b []byte, s superline) bool {
	var all [superSize]byte
	s.put(all[:])
	for i := 0; i < superSize; i += 8 {
		if w := [8]byte(b[i:]); w != [8]byte{} && w != [8]byte(all[i:]) {
			return false
		}
	}
	return true
}

// readSuperlines returns the current superline, and its index. none means that there is no log yet, or that its
// creation was cut off: a creation writes superline 1 before superline 0.
func readSuperlines(m Store, id uint64, size int) (s superline, at int, none bool, err error) {
	var whole, create [2]bool
	var lines [2]superline
	for i := range lines {
		var b [superSize]byte
		if m.Load(i*superSize, b[:]) == nil {
			lines[i], whole[i] = getSuperline(b[:])
			create[i] = begun(b[:], first(id, size-ringAt)) && (i == 1 || b == [superSize]byte{})
		}
	}
	switch {
	case whole[0] && (!whole[1] || !lines[1].later(&lines[0])):
	case whole[1]:
		at = 1
	case create[0] && create[1]:
		return s, 0, true, nil
	default:
		return s, 0, false, fmt.Errorf("%w: no superline is whole", ErrCorrupt)
	}
	switch s = lines[at]; {
	case s.id != id:
		return s, at, false, fmt.Errorf("%w: it has the identity %#x, but the identity of this name is %#x", ErrForeign, s.id, id)
	case s.ring != size-ringAt:
		return s, at, false, fmt.Errorf("%w: its ring has %d bytes, but Size %d needs a ring of %d", ErrForeign, s.ring, size, size-ringAt)
	}
	return s, at, false, nil
}
