package wal

import "slices"

// Log is a part of the log without a gap: the entries First, First+1 and so on. An empty
// one has First 1.
type Log struct {
	First   uint64
	Entries []Entry
}

// Last is the index of the last entry, 0 if there is none.
func (l *Log) Last() uint64 { return l.First + uint64(len(l.Entries)) - 1 }

// At returns the entry with an index, or nil.
func (l *Log) At(index uint64) *Entry {
	if index < l.First || index > l.Last() {
		return nil
	}
	return &l.Entries[index-l.First]
}

// Parse returns the log that a log zone holds, and all entries in it, by index: what is
// not part of the log was left by a coordinator that has failed.
func (s Shape) Parse(zone []byte) (Log, []Entry) {
	var all []Entry
	for i := range s.Slots {
		slot := zone[i*s.SlotSize() : (i+1)*s.SlotSize()]
		if e, ok := s.Decode(slot); ok && s.At(e.Index) == i*s.SlotSize() {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b Entry) int {
		if a.Index < b.Index {
			return -1
		}
		return 1 // no two slots hold the same index
	})
	return run(all), all
}

// run returns the entries without a gap that end with the latest.
func run(all []Entry) Log {
	last := -1
	for i := range all {
		if last < 0 || all[i].Term >= all[last].Term {
			last = i
		}
	}
	if last < 0 {
		return Log{First: 1}
	}
	first := last
	for first > 0 && all[first-1].Index == all[first].Index-1 {
		first--
	}
	return Log{First: all[first].Index, Entries: all[first : last+1]}
}
