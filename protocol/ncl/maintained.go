package ncl

import (
	"errors"
	"time"
)

// Maintained is a File that replaces failed peers by itself (4.5.2, "Maintaining FT
// Level"): after the write that detects a failure, before that write returns. The paper
// does it in the background; a handle here belongs to one task.
type Maintained struct {
	*File
	// Every is how long to wait after a failed [File.Repair] as long as enough peers
	// remain, or ten times the duration of that Repair if that is longer, because
	// writes wait for it. 0: the latter.
	Every time.Duration
	// Told is called with the result of each Repair; may be nil.
	Told func(error)

	next time.Duration // no Repair before, unless it is necessary
}

// Record is [File.Record]. With too many failed peers it fails only if they cannot be
// replaced.
func (m *Maintained) Record(off int, data []byte) error {
	err := m.File.Record(off, data)
	switch {
	case err == nil && m.alive() == m.size():
		return nil
	case err == nil:
		m.Maintain()
		return nil // whatever the result of the Repair: f+1 peers have the write
	case !errors.Is(err, ErrUnavailable):
		return err
	}
	if again := m.repair(); again != nil && (!errors.Is(again, ErrTooFew) || errors.Is(again, ErrUnavailable)) {
		return errors.Join(err, again)
	}
	return m.File.Record(off, data) // again, with the same bytes: the first may not have begun
}

// Maintain replaces failed peers, unless there are none or the last try was too recent.
// Its result does not matter: with more than f failed peers the next Record reports it.
func (m *Maintained) Maintain() {
	if m.alive() < m.size() && m.h.Now() >= m.next {
		_ = m.repair() // Told gets the error
	}
}

func (m *Maintained) repair() error {
	began := m.h.Now()
	err := m.Repair()
	if m.next = 0; err != nil {
		now := m.h.Now()
		m.next = now + max(m.Every, 10*(now-began))
	}
	if m.Told != nil {
		m.Told(err)
	}
	return err
}
