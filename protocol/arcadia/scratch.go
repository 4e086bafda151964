package arcadia

import (
	"errors"

	"github.com/verbatim-rdma/verbatim/host"
)

// scratch is the state of a record in DRAM until it is durable or cleaned up.
type scratch struct {
	buf []byte // for the checksum
	// The word at off of words holds the record's LSN once the record is complete. The valid flag has the same meaning, but
	// lies in persistent memory: a media error there would make Force wait forever, or force an incomplete record.
	words host.Region
	off   int
}

// scratches is the number of scratches that are allocated at a time.
const scratches = 16

// take returns an unused scratch. The caller holds the mutex.
func (l *Log) take() (*scratch, error) {
	if len(l.idle) == 0 {
		words, err := l.h.Alloc(8 * scratches)
		if err != nil {
			return nil, err
		}
		l.words = append(l.words, words)
		for i := range scratches {
			l.idle = append(l.idle, &scratch{words: words, off: 8 * (scratches - 1 - i)})
		}
	}
	s := l.idle[len(l.idle)-1]
	l.idle = l.idle[:len(l.idle)-1]
	if s.buf == nil {
		s.buf = make([]byte, chunk)
	}
	return s, nil
}

// recycle reclaims the scratches of records that are durable or cleaned up. The caller holds the mutex.
func (l *Log) recycle(records []*Record) {
	for _, r := range records {
		if r.scratch != nil {
			l.idle, r.scratch = append(l.idle, r.scratch), nil
		}
	}
}

// complete reports whether Complete has returned, or is about to. The caller holds the mutex.
func (r *Record) complete() bool {
	return r.scratch == nil || r.scratch.words.Load64(r.scratch.off) == r.lsn
}

// freeWords frees the memory of all scratches.
func (l *Log) freeWords() (err error) {
	for _, w := range l.words {
		err = errors.Join(err, w.Free())
	}
	return err
}
