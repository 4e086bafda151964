package model

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/verbatim-rdma/verbatim/fingerprint"
)

// The promises of [RecordLog], for errors.Is.
var (
	// ErrLostRecord: a recovery lacks a record that was durable (4.2), or that an earlier
	// recovery returned.
	ErrLostRecord = errors.New("lost durable record")
	// ErrRecordGap: a record is there, or durable, and one before it is not (4.3, 4.4).
	ErrRecordGap = errors.New("gap in the log")
	// ErrForeignRecord: a recovery returned bytes that nobody completed under this LSN, or a
	// record that an earlier recovery had not returned (4.3).
	ErrForeignRecord = errors.New("record never completed")
	// ErrRecordBack: a recovery returned a record that had been cleaned up.
	ErrRecordBack = errors.New("record came back")
	// ErrRecordTwice: one LSN was allotted twice.
	ErrRecordTwice = errors.New("LSN allotted twice")
	// ErrWindow: a recovery lacks more completed records than may be lost (4.4).
	ErrWindow = errors.New("more lost than the window")
)

// ErrRecordUse: an operation names a record that does not exist in that state. It is a mistake of the
// harness.
var ErrRecordUse = errors.New("model: no such record")

// recordClasses are the classes of a [RecordViolation].
var recordClasses = map[error]string{
	ErrLostRecord: "lost-durable-record", ErrRecordGap: "record-gap", ErrForeignRecord: "record-never-completed",
	ErrRecordBack: "record-came-back", ErrRecordTwice: "lsn-twice", ErrWindow: "window-exceeded",
}

// RecordViolation reports which promise a log of records broke, and at which record. It unwraps to one of
// the errors above.
type RecordViolation struct {
	LSN  uint64
	Text string
	kind error
}

// Class returns the stable name of the broken promise.
func (v *RecordViolation) Class() string { return recordClasses[v.kind] }

// Unwrap returns the promise.
func (v *RecordViolation) Unwrap() error { return v.kind }

func (v *RecordViolation) Error() string {
	return fmt.Sprintf("%v: record %d %s", v.kind, v.LSN, v.Text)
}

// Found is a record that a recovery returned.
type Found struct {
	LSN  uint64
	Data []byte
}

// RecordLog checks what a log of numbered records recovers (Arcadia, 4.1 to 4.4). Its promises:
//
//   - A record is durable once it was forced, and so are all before it; every recovery returns
//     them until they are cleaned up (4.2, 4.3).
//   - What a recovery returns has no gaps, except where records were cleaned up (4.3, 4.4).
//   - A recovered record was completed with exactly these bytes (4.3).
//   - A record that was complete and not forced is recovered or not; from then on every recovery returns
//     the same (4.2). If it was not recovered, its LSN is free again.
//   - At most Window of those are lost at once, and a record is durable once one is reserved whose LSN is larger
//     by more than Window (4.4).
//   - A cleaned-up record does not come back.
//
// Report an operation when it begins, if a failure can leave its effect, and when it has returned,
// if its return is a promise. Tasks may report in any order what they do at the same time. The zero
// value is an empty log whose first LSN is 1. It belongs to one goroutine.
type RecordLog struct {
	// Window is how many completed records may be lost at once, F*T for the policy Frequency; 0: any number.
	Window int

	first   uint64 // the LSN of records[0], less 1
	records []logRecord
	durable uint64 // records up to this LSN are
	all     bool   // all records are being cleaned up
	lost    int
	maxLost int
}

type logRecord struct {
	stage             recordStage
	cleaning, cleaned bool
	all               bool // it was there when all began to be cleaned up
	data              []byte
}

type recordStage uint8

const (
	unreserved recordStage = iota // a task has reserved a later one, and another has yet to report this one
	reserved
	completing
	completed
)

// passedOver reports whether there may never be a record with this LSN, since one was being cleaned up when a
// recovery did not find it.
func (r *logRecord) passedOver() bool { return r.stage == unreserved && r.cleaning }

// at returns the record with an LSN, or nil if it does not exist.
func (l *RecordLog) at(lsn uint64) *logRecord {
	if i := lsn - l.first - 1; lsn > l.first && i < uint64(len(l.records)) && l.records[i].stage > unreserved {
		return &l.records[i]
	}
	return nil
}

func misuse(what string, lsn uint64) error { return fmt.Errorf("%w: %s %d", ErrRecordUse, what, lsn) }

func breaks(kind error, lsn uint64, text string) error {
	return &RecordViolation{LSN: lsn, Text: text, kind: kind}
}

// maxAhead is how many records other tasks may have reserved, and have yet to report.
const maxAhead = 1 << 10

// Reserve records that the log has allotted an LSN.
func (l *RecordLog) Reserve(lsn uint64) error {
	switch last := l.first + uint64(len(l.records)); {
	case lsn <= l.first || l.at(lsn) != nil:
		return breaks(ErrRecordTwice, lsn, "exists")
	case lsn > last+maxAhead:
		return breaks(ErrRecordGap, lsn, fmt.Sprintf("was allotted after record %d", last))
	}
	for l.first+uint64(len(l.records)) < lsn {
		l.records = append(l.records, logRecord{})
	}
	after := l.records[lsn-l.first-1:]
	after[0] = logRecord{stage: reserved}
	for i := range after {
		after[i].cleaning = after[i].cleaning && after[i].stage > unreserved // these are no longer passed over
	}
	after[0].cleaning = l.all // it may be cleaned up with the others, or come too late
	if w := uint64(l.Window); w > 0 && lsn > l.first+w+1 {
		return l.becomesDurable(lsn-w-1, ErrWindow, fmt.Sprintf("is further than %d from record %d, which is reserved", w, lsn))
	}
	return nil
}

// becomesDurable makes the records up to one durable, unless one of them is not complete.
func (l *RecordLog) becomesDurable(lsn uint64, kind error, text string) error {
	for i := range l.records[:lsn-l.first] {
		if r := &l.records[i]; r.stage < completing && !r.passedOver() {
			return breaks(kind, lsn, fmt.Sprintf("%s, and record %d is not complete", text, l.first+1+uint64(i)))
		}
	}
	l.durable = max(l.durable, lsn)
	return nil
}

// Completing records that the application begins to complete a record with these bytes.
func (l *RecordLog) Completing(lsn uint64, data []byte) error {
	r := l.at(lsn)
	if r == nil || r.stage != reserved {
		return misuse("completing", lsn)
	}
	r.stage, r.data = completing, bytes.Clone(data)
	return nil
}

// Completed records that the record is complete.
func (l *RecordLog) Completed(lsn uint64) error {
	r := l.at(lsn)
	switch {
	case lsn <= l.first && lsn > 0:
		return nil // another task has cleaned it up
	case r == nil || r.stage < completing:
		return misuse("completed", lsn)
	}
	r.stage = completed
	return nil
}

// Forced records that the log reported a record as durable. The error wraps ErrRecordGap if the
// completion of an earlier record has not even begun.
func (l *RecordLog) Forced(lsn uint64) error {
	if lsn <= l.first {
		return nil
	}
	if l.at(lsn) == nil {
		return misuse("forced", lsn)
	}
	return l.becomesDurable(lsn, ErrRecordGap, "was forced")
}

// Cleaning records that the cleanup of a record has begun: from now on the record may be missing.
func (l *RecordLog) Cleaning(lsn uint64) error {
	r := l.at(lsn)
	if r == nil || r.stage < completing {
		return misuse("cleaning", lsn)
	}
	r.cleaning = true
	return nil
}

// Cleaned records that the cleanup of a record has returned: recoveries no longer return the record.
func (l *RecordLog) Cleaned(lsn uint64) error {
	r := l.at(lsn)
	switch {
	case lsn <= l.first && lsn > 0:
		return nil
	case r == nil || !r.cleaning:
		return misuse("cleaned", lsn)
	}
	r.cleaned = true
	l.trim()
	return nil
}

// CleaningAll records that all records begin to be cleaned up. What is reserved until CleanedAll may be
// cleaned up with them.
func (l *RecordLog) CleaningAll() {
	l.all = true
	for i := range l.records {
		r := &l.records[i]
		r.all = r.stage > unreserved
		r.cleaning = r.cleaning || r.all
	}
}

// CleanedAll records that all records present at CleaningAll were cleaned up.
func (l *RecordLog) CleanedAll() {
	l.all = false
	for i := range l.records {
		r := &l.records[i]
		r.cleaned, r.all = r.cleaned || r.all, false
	}
	l.trim()
}

// trim forgets the records that were cleaned up from the first on.
func (l *RecordLog) trim() {
	n := 0
	for n < len(l.records) && l.records[n].cleaned {
		n++
	}
	l.first += uint64(n)
	l.records = slices.Delete(l.records, 0, n)
}

// Recovered records that a recovery returned these records, in this order. It returns nil or a
// [*RecordViolation]. After nil the records found are durable, and the others are gone, so that their
// LSNs can be allotted again.
func (l *RecordLog) Recovered(found []Found) error {
	end := l.first // the last LSN that is settled
	for _, f := range found {
		if f.LSN <= end && f.LSN > l.first {
			return breaks(ErrRecordGap, f.LSN, fmt.Sprintf("comes after record %d", end))
		}
		if err := l.fits(f); err != nil {
			return err
		}
		if err := l.missing(end, f.LSN, f.LSN); err != nil {
			return err
		}
		end = f.LSN
	}
	lost := 0
	for lsn := end + 1; lsn <= l.first+uint64(len(l.records)); lsn++ {
		r := &l.records[lsn-l.first-1]
		if !r.cleaning && lsn <= l.durable {
			return breaks(ErrLostRecord, lsn, "was durable, and is not there")
		}
		if !r.cleaning && r.stage == completed {
			lost++
		}
	}
	if l.Window > 0 && lost > l.Window {
		return breaks(ErrWindow, end, fmt.Sprintf("is the last, and %d were complete after it; at most %d may be lost", lost, l.Window))
	}
	l.settle(found, end)
	l.lost, l.maxLost = lost, max(l.maxLost, lost)
	return nil
}

// fits reports whether a record that was found can be one of the log.
func (l *RecordLog) fits(f Found) error {
	r := l.at(f.LSN)
	switch {
	case f.LSN <= l.first && f.LSN > 0, r != nil && r.cleaned:
		return breaks(ErrRecordBack, f.LSN, "was cleaned up")
	case r == nil || r.stage < completing:
		return breaks(ErrForeignRecord, f.LSN, fmt.Sprintf("was not completed; it was found as %q", f.Data))
	case !bytes.Equal(r.data, f.Data):
		return breaks(ErrForeignRecord, f.LSN, fmt.Sprintf("was completed as %q and found as %q", r.data, f.Data))
	}
	return nil
}

// missing reports whether the records between two may be missing before one that is there.
func (l *RecordLog) missing(after, before, there uint64) error {
	for lsn := after + 1; lsn < before; lsn++ {
		r := &l.records[lsn-l.first-1]
		switch {
		case r.cleaning:
		case lsn <= l.durable:
			return breaks(ErrLostRecord, lsn, "was durable, and is not there")
		default:
			return breaks(ErrRecordGap, there, fmt.Sprintf("is there, and record %d is not", lsn))
		}
	}
	return nil
}

// settle makes the recovered records the log.
func (l *RecordLog) settle(found []Found, end uint64) {
	end = max(end, l.durable) // those between were being cleaned up, and their LSNs are not allotted again
	for lsn := l.first + 1; lsn <= end; lsn++ {
		r := &l.records[lsn-l.first-1]
		there := contains(found, lsn)
		r.stage, r.cleaned, r.all = completed, !there, false
		r.cleaning = r.cleaning && !there // its cleanup was cut off, so now it stays
	}
	l.all = false
	// The next LSN shows whether the head had moved past the records that were being cleaned up.
	n := int(end - l.first)
	for n < len(l.records) && l.records[n].cleaning {
		l.records[n] = logRecord{cleaning: true}
		n++
	}
	l.records = slices.Delete(l.records, n, len(l.records))
	l.durable = max(l.durable, end)
	l.trim()
}

func contains(found []Found, lsn uint64) bool {
	_, ok := slices.BinarySearchFunc(found, lsn, func(f Found, lsn uint64) int {
		switch {
		case f.LSN < lsn:
			return -1
		case f.LSN > lsn:
			return 1
		}
		return 0
	})
	return ok
}

// Durable reports whether a record must be there at the next recovery.
func (l *RecordLog) Durable(lsn uint64) bool {
	r := l.at(lsn)
	return r != nil && lsn <= l.durable && !r.cleaning
}

// BeingCleaned reports whether the cleanup of a record has begun, so that it may be missing.
func (l *RecordLog) BeingCleaned(lsn uint64) bool {
	r := l.at(lsn)
	return r != nil && r.cleaning
}

// Lost returns how many completed records the last recovery lacked, and MaxLost the most that any did.
func (l *RecordLog) Lost() int { return l.lost }

// MaxLost returns the most that any recovery lacked.
func (l *RecordLog) MaxLost() int { return l.maxLost }

// Hash returns a fingerprint of everything that matters for later verdicts: logs with the same futures have the same,
// whatever their history.
func (l *RecordLog) Hash() fingerprint.Print {
	h := fingerprint.Print{}.Uint(l.first).Uint(max(l.durable, l.first) - l.first).Bool(l.all)
	for i := range l.records {
		r := &l.records[i]
		h = h.Int(int(r.stage)).Bool(r.cleaning).Bool(r.cleaned).Bool(r.all).Bytes(r.data)
	}
	return h
}

// Clone returns an independent copy.
func (l *RecordLog) Clone() *RecordLog {
	c := *l
	c.records = slices.Clone(l.records) // contents do not change
	return &c
}

// Reset makes l an empty log again, and keeps its Window.
func (l *RecordLog) Reset() {
	*l = RecordLog{Window: l.Window, records: l.records[:0]}
}
