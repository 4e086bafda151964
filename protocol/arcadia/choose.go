package arcadia

import (
	"errors"
	"fmt"
	"slices"
)

// choice is the log that a recovery restores.
type choice struct {
	from    int // the copy that has all records
	super   superline
	records []found // from super.start on; a record that is cleaned up in any copy is cleaned up here
}

// end returns the LSN of the last record.
func (c *choice) end() uint64 { return c.super.start + uint64(len(c.records)) - 1 }

func isForeign(err error) bool { return errors.Is(err, ErrForeign) }

// choose determines the log from its copies (4.2). Only copies with the largest epoch count. Any R copies and any W
// copies share a copy, so every record that a write quorum acknowledged is in one of R copies. The copies that count do
// not contradict each other: each has a part of the records of one primary. So the log is their union.
//
// The result is nil, without error, if there is no log yet. The error wraps ErrUnavailable or ErrCorrupt.
func choose(copies []copyState, read int, created bool) (*choice, error) {
	n := func(kinds ...copyKind) int {
		return len(copies) - len(slices.DeleteFunc(slices.Clone(copies), func(c copyState) bool { return slices.Contains(kinds, c.kind) }))
	}
	readable := n(whole)
	if !created {
		readable = n(whole, blank)
	}
	switch {
	case readable >= read:
	case n(whole, blank, corrupt) >= read:
		return nil, fmt.Errorf("%w: %d of %d copies are undamaged; %d are needed", ErrCorrupt, readable, len(copies), read)
	default:
		return nil, fmt.Errorf("%w: %d of %d copies can be read; %d are needed", ErrUnavailable, readable, len(copies), read)
	}
	epoch := uint64(0)
	for i := range copies {
		if copies[i].kind == whole {
			epoch = max(epoch, copies[i].super.epoch)
		}
	}
	if epoch == 0 {
		return nil, nil
	}
	return merge(copies, epoch), nil
}

// merge combines the copies of one epoch.
func merge(copies []copyState, epoch uint64) *choice {
	out := choice{from: -1}
	for i := len(copies) - 1; i >= 0; i-- { // the copy of this host is the cheapest to read
		c := &copies[i]
		if !c.counts(epoch) {
			continue
		}
		if out.from < 0 || c.end() > copies[out.from].end() {
			out.from = i
		}
		if out.super.epoch == 0 || c.super.start > out.super.start {
			out.super = c.super
		}
	}
	best := &copies[out.from]
	cleaned := min(out.super.start-best.super.start, uint64(len(best.records)))
	out.records = slices.Clone(best.records[cleaned:])
	for i := range out.records {
		r := &out.records[i]
		if !r.cleaned && slices.ContainsFunc(copies, func(c copyState) bool {
			x := c.record(r.lsn)
			return c.counts(epoch) && x != nil && x.cleaned
		}) {
			r.cleaned, r.sum = true, ^r.sum
		}
	}
	out.super.head = 0
	if len(out.records) > 0 {
		out.super.head = out.records[0].at
	}
	return &out
}

// lacks returns the LSN of the first record of the log that is missing from a whole copy, or differs there.
func (c *choice) lacks(x *copyState) uint64 {
	for _, r := range c.records {
		if has := x.record(r.lsn); has == nil || *has != r {
			return r.lsn
		}
	}
	return c.end() + 1
}

// trimmed returns the superline with which a whole copy counts during its repair. It keeps the epoch of the copy, begins
// after the records that the log has cleaned up, and no longer promises the records that are about to be overwritten.
func (c *choice) trimmed(x *copyState) superline {
	s := x.super
	s.start, s.head, s.since = c.super.start, c.super.head, min(s.since, c.lacks(x))
	return s
}

// spans calls f with the ranges of the ring that hold the records from an LSN on.
func (c *choice) spans(from uint64, f func(off, n int) error) error {
	for i := int(from - c.super.start); i < len(c.records); {
		first, last := c.records[i], c.records[i]
		for i++; i < len(c.records) && c.records[i].at > first.at; i++ {
			last = c.records[i]
		}
		if err := f(ringAt+first.at, last.at+footprint(last.size)-first.at); err != nil {
			return err
		}
	}
	return nil
}

// counts reports whether a copy is whole and has this epoch.
func (c *copyState) counts(epoch uint64) bool { return c.kind == whole && c.super.epoch == epoch }

// record returns the record with an LSN; nil if the copy has none.
func (c *copyState) record(lsn uint64) *found {
	if c.kind != whole || lsn < c.super.start || lsn > c.end() {
		return nil
	}
	return &c.records[lsn-c.super.start]
}
