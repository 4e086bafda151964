package arcadiacheck

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/model"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// spec is the table form of an explore.Scenario of one log.
type spec struct {
	name, doc, faults, bounds string
	profile                   string // empty: strong
	load                      workload
	meets                     []string
}

// workload is the workload of the application.
type workload struct {
	room   int // in the ring, in records of 8 bytes
	lives  int
	window int // the largest loss that is allowed; 0: any
	// script uses the log that a life has opened. The last life only opens the log.
	script func(r *run)
	copies *copies // nil: only the copy of the application's host
}

// Conditions that a search should meet.
const (
	sawLost      = "a record that was complete but not forced was lost"
	sawEvicted   = "a record that was not forced was recovered"
	sawSix       = "six records were lost at once"
	sawWindow    = "six records were complete and not durable"
	sawWindowTwo = "four records were complete and not durable"
	sawTwo       = "two records were lost at once"
	sawFull      = "the log was full"
	sawMiddle    = "a record was cleaned up before an earlier record"
	sawBack      = "a record reappeared, since a crash cut its cleanup off"
	sawOld       = "the old value was read after a write was cut off"
	sawNew       = "the new value was read after a write was cut off"
	sawDetected  = "damage was detected"
)

// seeded reports whether the log is older than the run.
func (w *workload) seeded() bool {
	return w.copies != nil && w.copies.past != none && w.copies.past != promised
}

// recordSize is the size of all payloads.
const recordSize = 8

func build(s spec) *explore.Scenario {
	return &explore.Scenario{
		Name: "arcadia/" + s.name, Doc: s.doc, Profile: cmp.Or(s.profile, "strong"), Faults: s.faults, Bounds: s.bounds, Sometimes: s.meets,
		Build: func(c *explore.Case) (sim.Config, error) {
			a := &app{Kit: scenario.New(c), load: s.load}
			a.told, a.Lives = a.Journal(), a.Kit.Lives(s.load.lives, nil)
			a.Remember(a.reset, a.remembered)
			cfg := a.World(a.Lives.Node("app", a.main))
			if s.load.copies != nil {
				s.load.copies.join(a, &cfg)
			}
			return cfg, nil
		},
	}
}

// app is the application, and the memory of the checks.
type app struct {
	*scenario.Kit
	*scenario.Lives
	told *scenario.Journal
	load workload
	log  model.RecordLog
	next int // the number of the next content
	// For a replicated log: the last life that recovered it, and the last LSN that this life found.
	owner    int
	found    uint64
	recalled bool // the model knows the past
	opened   bool // a recovery has succeeded
	// For counted: the number of complete records, and the last durable record.
	complete, durable int
}

func (a *app) reset() {
	a.log.Reset()
	a.log.Window, a.next, a.owner, a.found, a.recalled, a.opened, a.complete, a.durable = a.load.window, 0, 0, 0, false, a.load.seeded(), 0, 0
}

func (a *app) remembered() fingerprint.Print {
	return a.log.Hash().Int(a.next).Int(a.owner).Uint(a.found).Bool(a.opened).Int(a.complete).Int(a.durable)
}

// run is one life of the application.
type run struct {
	*app
	h    host.Host
	life int
	log  *arcadia.Log
	cuts bool // it has cut links
}

func (a *app) config(h host.Host) arcadia.Config {
	c := arcadia.Config{Name: "log", Size: 128 + 32*a.load.room}
	if a.load.copies != nil {
		a.load.copies.configure(h, &c)
	}
	return c
}

func (a *app) main(h host.Host, life int) {
	r := &run{app: a, h: h, life: life}
	if a.load.copies != nil && a.load.copies.before != nil {
		a.load.copies.before(r)
	}
	if r.open() && (!a.Last(life) || life == 0) {
		a.load.script(r)
	}
}

// open opens the log, and reports its content to the model.
func (r *run) open() bool {
	e := r.told.Begin("app", "open")
	l, err := r.recovers()
	if r.excused(err) {
		return false
	}
	if err != nil {
		r.Failf(Unavailable, "%v", err)
		return false
	}
	var found []model.Found
	err = l.Each(func(x *arcadia.Record, data []byte) error {
		found = append(found, model.Found{LSN: x.LSN(), Data: append([]byte(nil), data...)})
		return nil
	})
	if err != nil {
		r.Failf(Corrupt, "%v", err)
		return false
	}
	r.log = l
	if r.replaced() {
		return false
	}
	r.meets(found)
	if !r.Check(r.app.log.Recovered(found)) {
		return false
	}
	r.owns(found)
	r.opened = true
	e.End(fmt.Sprint(len(found), " records"))
	switch r.app.log.Lost() {
	case 2:
		r.Meet(sawTwo)
	case 6:
		r.Meet(sawSix)
	}
	if r.app.log.Lost() > 0 {
		r.Meet(sawLost)
	}
	r.History()
	return true
}

// Unavailable is the class of a log that cannot be opened, and Corrupt the class of a log with a record that
// cannot be read.
const (
	Unavailable = "unavailable"
	Corrupt     = "corrupt-record"
)

// reserve reserves a record, and reports it to the model.
func (r *run) reserve() (*arcadia.Record, error) { return r.reserveSized(recordSize) }

func (r *run) reserveSized(size int) (*arcadia.Record, error) {
	x, err := r.log.Reserve(size)
	if err != nil {
		return nil, err
	}
	if !r.replaced() {
		r.Check(r.app.log.Reserve(x.LSN()))
		r.History()
	}
	return x, nil
}

// fill stores the content of a record, by itself or by Copy, and completes it.
func (r *run) fill(x *arcadia.Record, byCopy bool) bool {
	data := r.content(x.Size())
	e := r.told.Begin("app", filling{x.LSN(), data})
	if !r.replaced() {
		r.Check(r.app.log.Completing(x.LSN(), data))
		r.History()
	}
	var err error
	if byCopy {
		err = x.Copy(0, data)
	} else {
		region, off := x.Place()
		region.Store(off, data)
	}
	if err == nil {
		err = x.Complete()
	}
	if !r.Check(err) {
		return false
	}
	e.End("complete")
	if !r.replaced() {
		r.Check(r.app.log.Completed(x.LSN()))
		r.History()
	}
	return true
}

// filling is the call that stores the content of a record, for viewers.
type filling struct {
	lsn  uint64
	data []byte
}

func (f filling) String() string { return fmt.Sprintf("record %d: %q", f.lsn, f.data) }

// content returns the payload of the next record.
func (r *run) content(size int) []byte {
	r.next++
	data := make([]byte, size)
	for i := range data {
		data[i] = byte('a' + r.next - 1)
	}
	return data
}

// put reserves, fills and completes a record.
func (r *run) put() *arcadia.Record { return r.sized(recordSize) }

func (r *run) sized(size int) *arcadia.Record {
	x, err := r.reserveSized(size)
	if !r.Check(err) || !r.fill(x, true) {
		return nil
	}
	return x
}

// force makes a record durable, or fails the run.
func (r *run) force(x *arcadia.Record) bool {
	e := r.told.Begin("app", fmt.Sprint("force ", x.LSN()))
	err := x.Force(1)
	if r.excused(err) || !r.Check(err) {
		return false
	}
	e.End("durable")
	if r.acknowledged(x); !r.replaced() {
		r.Check(r.app.log.Forced(x.LSN()))
		r.History()
	}
	return true
}

// cleanup cleans a record up.
func (r *run) cleanup(x *arcadia.Record) bool {
	r.Check(r.app.log.Cleaning(x.LSN()))
	r.History()
	err := r.log.Cleanup(x)
	if r.excused(err) || !r.Check(err) {
		return false
	}
	r.Check(r.app.log.Cleaned(x.LSN()))
	r.History()
	return true
}

// full reports whether an error means that the log is full.
func full(err error) bool { return errors.Is(err, arcadia.ErrFull) }

// meets records the conditions that a recovery meets, before the recovery is reported to the model.
func (r *run) meets(found []model.Found) {
	if r.life == 0 {
		return
	}
	for _, f := range found {
		switch {
		case r.app.log.BeingCleaned(f.LSN):
			r.Meet(sawBack)
		case !r.app.log.Durable(f.LSN):
			r.Meet(sawEvicted)
		}
	}
}
