package table1check

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/model"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia/arcadiacheck"
)

// Unavailable is the class of a recovery that fails although records were forced. Mixed is the class of a log
// whose records differ from the records that two tasks have forced at the same time.
const (
	Unavailable = "forced-data-unavailable"
	Mixed       = "mixed-records"
)

// Conditions that a search should meet.
const (
	sawWhole  = "a record whose append was cut off was recovered"
	sawNone   = "a record whose append was cut off was not recovered"
	sawForced = "a forced record was recovered" // otherwise a verdict "survives" would be empty
	sawBack   = "a forced record was recovered after the host of a copy had failed"
)

// app is the application of one scenario, and the memory of the checks. It may move to another host.
type app struct {
	*scenario.Kit
	design
	told   *scenario.Journal
	forced model.RecordLog
	cut    int  // the number of the record whose append is in progress or was interrupted by a failure; 0: none
	failed bool // the host of a copy has failed; this follows from its lives, so it is not in the hash
}

func newApp(c *explore.Case, d design) *app {
	a := &app{Kit: scenario.New(c), design: d}
	a.told = a.Journal()
	a.Remember(func() { a.forced.Reset(); a.cut, a.failed = 0, false }, func() fingerprint.Print { return a.forced.Hash().Int(a.cut) })
	return a
}

// promised reports whether a record has been forced.
func (a *app) promised() bool { return a.forced.Durable(1) }

// recover opens the log of a host, and passes its content to the checks. It returns nil if the recovery has failed:
// then this life is finished.
func (a *app) recover(h host.Host) (l log, found [][]byte) { return a.recoverBy(h, a.open) }

func (a *app) recoverBy(h host.Host, open func(h host.Host, again bool) (log, error)) (l log, found [][]byte) {
	e := a.told.Begin(h.Name(), "recover")
	a.Look()
	l, found, err := a.opened(h, open)
	if errors.Is(err, arcadia.ErrUnavailable) && a.mustWait() && a.reachesAll(h) { // now, and no other failure is left
		l, found, err = a.opened(h, open)
	} else if errors.Is(err, arcadia.ErrUnavailable) && a.mustWait() {
		e.End(err)
		return nil, nil
	}
	if err != nil {
		e.End(err)
		if a.Look(); a.promised() {
			a.Failf(Unavailable, "records were forced, but the recovery fails: %v", err)
		}
		return nil, nil // no record was forced
	}
	e.End(fmt.Sprint(len(found), " records"))
	promised := a.promised()
	if !a.returned(found) {
		return nil, nil
	}
	if promised {
		a.Meet(sawForced)
		if a.mustWait() {
			a.Meet(sawBack)
		}
	}
	return l, found
}

// copyFails returns the Again of a host with a copy. It may start again, or stay down.
func (a *app) copyFails(_ int, crashed bool) bool {
	a.failed = a.failed || crashed
	return crashed
}

// mustWait reports whether a recovery may have found too few copies, and may have to be tried again later.
func (a *app) mustWait() bool {
	if !a.mayWait {
		return false
	}
	for _, name := range a.copies {
		a.LookAtLives(name)
	}
	return a.failed
}

// reachesAll reports whether all copies are within reach now.
func (a *app) reachesAll(h host.Host) bool {
	return !slices.ContainsFunc(a.copies, func(name string) bool { return !arcadiacheck.Reaches(h, name) })
}

// opened opens a log and reads it. With copies it opens the log again if a record was damaged after the recovery, as an application
// would: the second recovery repairs the record. Each failure of the budget happens once.
func (a *app) opened(h host.Host, open func(h host.Host, again bool) (log, error)) (l log, found [][]byte, err error) {
	for range 3 {
		if l, err = open(h, !a.promised()); err == nil {
			found, err = l.records()
		}
		if len(a.copies) == 0 || !errors.Is(err, arcadia.ErrCorrupt) {
			break
		}
	}
	return l, found, err
}

// returned checks the result of a recovery.
func (a *app) returned(found [][]byte) bool {
	var list []model.Found
	for i, data := range found {
		list = append(list, model.Found{LSN: uint64(i + 1), Data: data})
	}
	a.Look()
	switch {
	case a.cut > 0 && len(found) >= a.cut:
		a.Meet(sawWhole)
	case a.cut > 0:
		a.Meet(sawNone)
	}
	if !a.Check(a.forced.Recovered(list)) {
		return false
	}
	a.cut = 0
	a.History()
	return true
}

// force appends a record that contains its number, and forces it. It reports whether the log is still usable.
func (a *app) force(h host.Host, l log, number int) bool {
	lsn, data := uint64(number), content(number)
	e := a.told.Begin(h.Name(), fmt.Sprint("append ", number))
	a.Check(a.forced.Reserve(lsn))
	a.Check(a.forced.Completing(lsn, data))
	a.cut = number
	a.History()
	if err := l.append(data); err != nil {
		e.End(err)
		return false // the record is not acknowledged
	}
	e.End("durable")
	a.Check(a.forced.Completed(lsn))
	a.Check(a.forced.Forced(lsn))
	a.cut = 0
	a.History()
	return true
}

// content is the content of a record: it differs in each byte from all others.
func content(number int) []byte { return bytes.Repeat([]byte{byte('a' + number - 1)}, recordSize) }
