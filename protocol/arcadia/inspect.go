package arcadia

import "fmt"

// Summary describes one copy of a log.
type Summary struct {
	Empty       bool   // no log has been created there
	Superlines  int    // the number of whole superlines, of two; one is enough
	Epoch       uint64 // of the last recovery
	Since       uint64 // LSN of the first record of that epoch
	First, Last uint64 // LSNs of the records; Last is First-1 if there are none
	CleanedUp   int    // records between them that were cleaned up
	Bytes, Size int    // taken by records, and of the ring
	// Short: the last recovery found more records than are left, so some are damaged.
	Short bool
	// Remains: there is a part of the next record, which was cut off by a failure or is damaged.
	Remains bool
}

// Inspect reads one copy of the log called name without changing it. It cannot distinguish a record that was cut off from
// a damaged record; only other copies could show the difference. The error wraps ErrCorrupt or ErrForeign.
func Inspect(m Store, name string, size int) (*Summary, error) {
	cfg := Config{Name: name, Size: size}
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	s, _, none, err := readSuperlines(m, identity(name), size)
	if err != nil {
		return nil, err
	}
	if none {
		if n, err := checkEmpty(m, ringAt, size-ringAt); err != nil {
			return nil, fmt.Errorf("%w: it has no superline, but byte %d is not zero", err, n)
		}
		return &Summary{Empty: true, Size: size - ringAt}, nil
	}
	out := &Summary{Epoch: s.epoch, First: s.start, Last: s.start - 1, Size: size - ringAt, Since: s.since}
	for i := range 2 {
		var b [superSize]byte
		if m.Load(i*superSize, b[:]) == nil {
			if _, whole := getSuperline(b[:]); whole {
				out.Superlines++
			}
		}
	}
	next, wrapped := s.head, false
	walk(m, &s, func(f found) {
		out.Last = f.lsn
		if f.cleaned {
			out.CleanedUp++
		}
		out.Bytes += footprint(f.size)
		wrapped = wrapped || f.at < s.head
		next = f.at + footprint(f.size)
	})
	out.Short = out.Last+1 < s.since
	for _, at := range []int{next, 0} {
		var b [headerSize]byte
		if roomAt(&s, at, wrapped || at < s.head) < headerSize {
			continue
		}
		err := m.Load(ringAt+at, b[:])
		h := getHeader(b[:])
		out.Remains = out.Remains || err != nil || h.lsn == out.Last+1 && (h.epoch == s.epoch || out.Short)
	}
	return out, nil
}
