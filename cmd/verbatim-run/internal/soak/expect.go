package soak

import (
	"bytes"
	"fmt"
)

// expectation is the content that the next recovery of a file may return.
type expectation struct {
	// known are the records that the last recovery returned: they must stay.
	known [][]byte
	// acked is the number of records acknowledged to the next writer, and fed returns
	// the i-th record that it was given, from 1. A writer reads a record only after it
	// has printed the acknowledgement of the record before.
	acked int
	fed   func(i int) []byte
}

// check compares the result of a recovery with e. Its error wraps [ErrLost].
func (e *expectation) check(got [][]byte) error {
	least := len(e.known) + e.acked
	for i, r := range got {
		if want := e.want(i); i > least || !bytes.Equal(r, want) {
			return e.wrong(i, r, least)
		}
	}
	if len(got) < least {
		return fmt.Errorf("%w: record %d was acknowledged, but only the first %d were recovered", ErrLost, least, len(got))
	}
	return nil
}

// want returns the i-th record of the file, from 0.
func (e *expectation) want(i int) []byte {
	if i < len(e.known) {
		return e.known[i]
	}
	return e.fed(i - len(e.known) + 1)
}

func (e *expectation) wrong(i int, got []byte, least int) error {
	if i > least {
		return fmt.Errorf("%w: %d records were acknowledged, and only one was in progress, but %d or more were recovered", ErrLost, least, i+1)
	}
	what := "was acknowledged"
	switch {
	case i < len(e.known):
		what = "had been returned by the previous recovery"
	case i == least:
		what = "was not acknowledged, so it may be missing, but not differ"
	}
	return fmt.Errorf("%w: record %d of %d bytes, which %s, was recovered as %d bytes: %.32x, want %.32x", ErrLost, i+1, len(e.want(i)), what,
		len(got), got, e.want(i))
}

// returned records the result of a recovery.
func (e *expectation) returned(got [][]byte, fed func(i int) []byte) {
	e.known, e.acked, e.fed = got, 0, fed
}
