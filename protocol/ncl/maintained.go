package ncl

import (
	"errors"
	"time"
)

// Maintained is a File that replaces failed peers by itself (4.5.2, "Maintaining FT
// Level"): right after the write that noticed a failure, and before that write
// returns. The paper does it in the background; a handle here is for one task.
type Maintained struct {
	*File
	// Every is how long to wait after a [File.Repair] that failed, while enough peers
	// are left to go on without it, or ten times as long as the Repair took if that is
	// more: writes wait for it. 0: the latter.
	Every time.Duration
	// Told hears how each Repair ended; may be nil.
	Told func(error)

	next time.Duration // no Repair before, unless it must be
}

// Record is [File.Record]. With too many peers gone it fails only if they cannot be
// replaced.
func (m *Maintained) Record(off int, data []byte) error {
	err := m.File.Record(off, data)
	switch {
	case err == nil && m.alive() == m.size():
		return nil
	case err == nil:
		m.Maintain()
		return nil // whatever became of the Repair: f+1 peers have the write
	case !errors.Is(err, ErrUnavailable):
		return err
	}
	if again := m.repair(); again != nil && (!errors.Is(again, ErrTooFew) || errors.Is(again, ErrUnavailable)) {
		return errors.Join(err, again)
	}
	return m.File.Record(off, data) // again, for the first may not have begun: the same bytes
}

// Maintain replaces failed peers, if there are any and the last try is not too recent.
// Nothing depends on it: with more than f peers gone the next Record says so.
func (m *Maintained) Maintain() {
	if m.alive() < m.size() && m.h.Now() >= m.next {
		_ = m.repair() // Told has heard
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
