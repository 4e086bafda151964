package ncl

import (
	"errors"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
)

// Maintained is a File that replaces failed peers by itself (4.5.2, "Maintaining FT
// Level"). A write that detects a failure replaces the peer before it returns. With
// [Maintained.Watch], peers are also replaced while nothing is written. The paper replaces
// all peers in the background. With Watch several tasks may use the handle; without it
// only one may, as with any File.
type Maintained struct {
	*File
	// Every is the pause after a failed [File.Repair] while enough peers remain. The
	// pause is at least ten times the duration of that Repair, because writes wait for
	// it. 0: ten times the duration.
	Every time.Duration
	// Told, if not nil, is called with the result of each Repair. It must not call
	// methods of Maintained, since the handle is in use.
	Told func(error)

	next time.Duration // the earliest time of the next Repair, unless too few peers remain
	mu   host.Mutex    // nil unless there is a task of Watch
	lost bool          // another instance has the file
	seen Stamp         // at the last check: if it has changed, a write has checked the peers
}

// Watch starts a task that checks the peers once in each period, and replaces those that
// have failed. So a failed peer is replaced even if nothing is written. This takes at most
// two periods, the time until the card reports the failure, and the time of a Repair; a
// write at that moment waits for the last two. A period must be longer than 0. Call Watch
// at most once, before other tasks use the handle. The task terminates after
// [Maintained.Close] or [Maintained.Release], or when another instance has the file.
func (m *Maintained) Watch(period time.Duration) {
	if period <= 0 || m.mu != nil {
		panic("ncl: Watch needs a period longer than 0, and may be called only once")
	}
	m.mu = m.h.NewMutex()
	m.h.Go("watch "+m.name, func() {
		for m.h.Sleep(period); m.look(); m.h.Sleep(period) {
		}
	})
}

// look is one check of the watching task. It reports whether the task continues.
func (m *Maintained) look() bool {
	m.lock()
	defer m.unlock()
	if m.closed || m.lost {
		return false
	}
	if m.stamp == m.seen {
		m.probe()
	}
	m.seen = m.stamp
	m.maintain()
	return !m.lost
}

// probe detects failed peers without a write: it writes the last stamp once more, which
// changes nothing, and waits until each peer has it or has failed.
func (f *File) probe() {
	f.makeRoom()
	for _, l := range f.working() {
		f.postStamp(l)
	}
	f.group.RoomAll(f.links, f.cfg.QueueDepth)
}

func (m *Maintained) lock() {
	if m.mu != nil {
		m.mu.Lock()
	}
}

func (m *Maintained) unlock() {
	if m.mu != nil {
		m.mu.Unlock()
	}
}

// Record is [File.Record]. With too many failed peers it fails only if they cannot be
// replaced.
func (m *Maintained) Record(off int, data []byte) error {
	m.lock()
	defer m.unlock()
	err := m.File.Record(off, data)
	switch {
	case err == nil && m.alive() == m.size():
		return nil
	case err == nil:
		m.maintain()
		return nil // whatever the result of the Repair: f+1 peers have the write
	case !errors.Is(err, ErrUnavailable):
		return err
	}
	if again := m.repair(); again != nil && (!errors.Is(again, ErrTooFew) || errors.Is(again, ErrUnavailable)) {
		return errors.Join(err, again)
	}
	return m.File.Record(off, data) // again, with the same bytes: the first Record may not have begun
}

// Maintain replaces failed peers, unless there are none or the last try was too recent.
// Its result does not matter: with more than f failed peers the next Record reports it.
func (m *Maintained) Maintain() {
	m.lock()
	defer m.unlock()
	m.maintain()
}

func (m *Maintained) maintain() {
	if m.alive() < m.size() && m.h.Now() >= m.next {
		_ = m.repair() // Told gets the error
	}
}

func (m *Maintained) repair() error {
	began := m.h.Now()
	err := m.File.Repair()
	if m.next = 0; err != nil {
		now := m.h.Now()
		m.next = now + max(m.Every, 10*(now-began))
	}
	m.lost = errors.Is(err, ErrStale)
	if m.Told != nil {
		m.Told(err)
	}
	return err
}

// Repair is [File.Repair].
func (m *Maintained) Repair() error {
	m.lock()
	defer m.unlock()
	return m.File.Repair()
}

// ReadAt is [File.ReadAt].
func (m *Maintained) ReadAt(p []byte, off int) (int, error) {
	m.lock()
	defer m.unlock()
	return m.File.ReadAt(p, off)
}

// Release is [File.Release].
func (m *Maintained) Release() error {
	m.lock()
	defer m.unlock()
	return m.File.Release()
}

// Close is [File.Close].
func (m *Maintained) Close() {
	m.lock()
	defer m.unlock()
	m.File.Close()
}

// Stamp is [File.Stamp].
func (m *Maintained) Stamp() Stamp {
	m.lock()
	defer m.unlock()
	return m.File.Stamp()
}

// Size is [File.Size].
func (m *Maintained) Size() int {
	m.lock()
	defer m.unlock()
	return m.File.Size()
}

// Alive is [File.Alive].
func (m *Maintained) Alive() int {
	m.lock()
	defer m.unlock()
	return m.File.Alive()
}

// Peers is [File.Peers].
func (m *Maintained) Peers() []string {
	m.lock()
	defer m.unlock()
	return m.File.Peers()
}

// AlivePeers is [File.AlivePeers].
func (m *Maintained) AlivePeers() []string {
	m.lock()
	defer m.unlock()
	return m.File.AlivePeers()
}
