package model

import (
	"fmt"
	"slices"
	"strings"
)

// AppendLog is a log of entries, numbered from 0. It grows at its end and may be
// trimmed at its start.
type AppendLog struct{}

// Operations of an [AppendLog] and their outputs.
type (
	// LogAppend answers LogIndex with the entry's number, or Done.
	LogAppend struct{ Data string }
	// LogRead answers LogEntries: the entries from number From, at most Max of them
	// unless Max is 0, and none past the end. If From has been trimmed it answers
	// LogTrimmed.
	LogRead struct{ From, Max int }
	// LogTrim removes the entries before number Before, at most all of them. It answers
	// Done.
	LogTrim struct{ Before int }

	// LogIndex is the number of an entry.
	LogIndex struct{ Index int }
	// LogEntries holds the entries that a read returned.
	LogEntries struct{ Entries []string }
	// LogTrimmed reports that First is the number of the first remaining entry.
	LogTrimmed struct{ First int }
)

func (o LogAppend) String() string { return fmt.Sprintf("append(%q)", o.Data) }
func (o LogRead) String() string {
	if o.Max == 0 {
		return fmt.Sprintf("read(%d)", o.From)
	}
	return fmt.Sprintf("read(%d, max %d)", o.From, o.Max)
}
func (o LogTrim) String() string    { return fmt.Sprintf("trim(%d)", o.Before) }
func (o LogIndex) String() string   { return fmt.Sprintf("index %d", o.Index) }
func (o LogEntries) String() string { return quoteAll(o.Entries) }
func (o LogTrimmed) String() string { return fmt.Sprintf("trimmed up to %d", o.First) }

func quoteAll(entries []string) string {
	quoted := make([]string, len(entries))
	for i, e := range entries {
		quoted[i] = fmt.Sprintf("%q", e)
	}
	return "[" + strings.Join(quoted, " ") + "]"
}

// logState is the log between two operations. Entries are shared between
// states and never changed.
type logState struct {
	first   int // number of entries[0]
	entries []string
	bytes   int    // of all entries
	sum     uint64 // of one hash per entry and position: an append or trim changes it in one place
}

func (s logState) end() int { return s.first + len(s.entries) }

func (s logState) append(data string) logState {
	s.sum += entryHash(s.end(), data)
	s.bytes += len(data)
	s.entries = append(s.entries[:len(s.entries):len(s.entries)], data)
	return s
}

func (s logState) trim(before int) logState {
	for len(s.entries) > 0 && s.first < before {
		s.sum -= entryHash(s.first, s.entries[0])
		s.bytes -= len(s.entries[0])
		s.entries = s.entries[1:]
		s.first++
	}
	return s
}

func (s logState) read(in LogRead) []string {
	if in.From >= s.end() {
		return nil
	}
	found := s.entries[in.From-s.first:]
	if in.Max > 0 && len(found) > in.Max {
		found = found[:in.Max]
	}
	return found
}

func entryHash(index int, data string) uint64 {
	return combine(mix64(uint64(index)), hashBytes(data))
}

// Name implements Spec.
func (AppendLog) Name() string { return "append-log" }

// Init implements Spec: the log is empty.
func (AppendLog) Init() any { return logState{} }

// Step implements Spec.
func (l AppendLog) Step(state, input, output any) (bool, any) {
	s, ok := state.(logState)
	if !ok || l.Validate(input, output) != nil {
		return false, state
	}
	switch in := input.(type) {
	case LogAppend:
		// Check the answer first: most orders that the search tries have the wrong
		// number, and then no new state is needed.
		if at, numbered := output.(LogIndex); numbered && at.Index != s.end() {
			return false, state
		}
		return true, s.append(in.Data)
	case LogRead:
		return readMatches(s, in, output), state
	case LogTrim:
		return true, s.trim(in.Before)
	}
	return false, state
}

func readMatches(s logState, in LogRead, output any) bool {
	switch out := output.(type) {
	case NoReply:
		return true
	case LogTrimmed:
		return in.From < s.first && out.First == s.first
	case LogEntries:
		return in.From >= s.first && slices.Equal(out.Entries, s.read(in))
	}
	return false
}

// Validate implements Spec.
func (l AppendLog) Validate(input, output any) error {
	fits := isNoReply(output)
	switch in := input.(type) {
	case LogAppend:
		switch output.(type) {
		case LogIndex, Done:
			fits = true
		}
	case LogRead:
		switch output.(type) {
		case LogEntries, LogTrimmed:
			fits = true
		}
		fits = fits && in.From >= 0 && in.Max >= 0
	case LogTrim:
		if _, done := output.(Done); done {
			fits = true
		}
		fits = fits && in.Before >= 0
	default:
		fits = false
	}
	if !fits {
		return badOperation(l.Name(), input, output)
	}
	return nil
}

// Equal implements Spec.
func (AppendLog) Equal(a, b any) bool {
	x, _ := a.(logState)
	y, _ := b.(logState)
	return x.first == y.first && x.sum == y.sum && slices.Equal(x.entries, y.entries)
}

// Hash implements Spec.
func (AppendLog) Hash(state any) uint64 {
	s, _ := state.(logState)
	return combine(mix64(uint64(s.first)), s.sum)
}

// Size implements Spec.
func (AppendLog) Size(state any) int {
	s, _ := state.(logState)
	return 48 + 16*len(s.entries) + s.bytes
}

// Key implements Spec: a log does not split.
func (AppendLog) Key(any) string { return "" }

// ReadOnly implements Spec.
func (AppendLog) ReadOnly(input any) bool {
	_, ok := input.(LogRead)
	return ok
}

// DescribeOperation implements Spec.
func (AppendLog) DescribeOperation(input, output any) string { return describe(input, output) }

// DescribeState implements Spec.
func (AppendLog) DescribeState(state any) string {
	s, _ := state.(logState)
	if s.first == 0 {
		return quoteAll(s.entries)
	}
	return fmt.Sprintf("%s from %d", quoteAll(s.entries), s.first)
}
