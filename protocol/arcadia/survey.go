package arcadia

import (
	"fmt"

	"github.com/verbatim-rdma/verbatim/host"
)

// copyState is the result of reading one copy.
type copyState struct {
	kind    copyKind
	super   superline
	at      int     // the index of the superline that counts
	records []found // from super.start on
}

type copyKind uint8

const (
	absent  copyKind = iota // out of reach, or failed
	blank                   // without superline
	corrupt                 // damaged
	whole                   // with a superline, and all records with which its epoch began
)

// end returns the LSN of the last record.
func (c *copyState) end() uint64 { return c.super.start + uint64(len(c.records)) - 1 }

// snapshot is the image of a copy in local memory.
type snapshot []byte

// Load implements Store.
func (m snapshot) Load(off int, p []byte) error { copy(p, m[off:]); return nil }

// Store implements Store.
func (m snapshot) Store(off int, p []byte) { copy(m[off:], p) }

// Force implements Store.
func (m snapshot) Force(int, int) error { return nil }

// survey reads all copies within reach (4.2), one after the other. The copy of this host is the last, unless
// RemoteOnly is set. The error wraps ErrForeign, or ErrCorrupt if this host cannot read its own copy.
func (l *Log) survey(r *Replicas, created bool) ([]copyState, error) {
	var out []copyState
	buf := make(snapshot, r.cfg.Size)
	for _, x := range r.backups {
		var c copyState
		if x.conn.Err == nil && r.readImage(x, buf) == nil {
			var err error
			if c, err = l.judge(buf, created); err != nil {
				return nil, fmt.Errorf("the copy of %s: %w", x.conn.Peer, err)
			}
		}
		out = append(out, c)
	}
	if r.cfg.RemoteOnly {
		return out, nil
	}
	if err := host.TryLoad(r.mem.Region, 0, buf); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	c, err := l.judge(buf, created)
	if err != nil {
		return nil, fmt.Errorf("the copy of this host: %w", err)
	}
	return append(out, c), nil
}

// readImage reads the copy of a backup with one-sided Reads (5.4).
func (r *Replicas) readImage(x *replica, m snapshot) error {
	for off := 0; off < len(m); off += r.scratch.Region.Len() {
		p := m[off:min(off+r.scratch.Region.Len(), len(m))]
		if err := r.read(x, r.scratch, 0, off, len(p)); err != nil {
			return err
		}
		r.scratch.Region.Load(0, p)
	}
	return nil
}

// judge classifies a copy. The error wraps ErrForeign.
func (l *Log) judge(m snapshot, created bool) (c copyState, err error) {
	s, at, none, err := readSuperlines(m, l.id, len(m))
	switch {
	case none || !created && l.halfMade(m):
		if n, err := checkEmpty(m, ringAt, l.size); err != nil && !created {
			return c, fmt.Errorf("%w: it has no superline, but byte %d is not zero", err, n)
		}
		return copyState{kind: blank}, nil
	case isForeign(err):
		return c, err
	case err != nil:
		return copyState{kind: corrupt}, nil
	}
	c = copyState{kind: whole, super: s, at: at}
	walk(m, &s, func(f found) { c.records = append(c.records, f) })
	if c.end()+1 < s.since { // the recovery that began the epoch had all records before since
		c.kind = corrupt
	}
	return c, nil
}

// halfMade reports whether the superlines are those of an interrupted creation, in any epoch.
func (l *Log) halfMade(m snapshot) bool {
	for i := range 2 {
		b := m[i*superSize:][:superSize]
		if _, whole := getSuperline(b); whole {
			return false
		}
		s := first(l.id, l.size)
		var all [superSize]byte
		s.put(all[:])
		for w := 0; w < 40; w += 8 {
			if got := [8]byte(b[w:]); got != [8]byte{} && got != [8]byte(all[w:]) {
				return false
			}
		}
	}
	return true
}
