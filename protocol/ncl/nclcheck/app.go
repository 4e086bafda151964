package nclcheck

import (
	"errors"
	"fmt"

	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/model"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
)

// app is the application and the memory of the checks: its writes, the acknowledged
// ones, and the results of recoveries.
type app struct {
	*scenario.Kit
	*scenario.Lives
	told  *scenario.Journal
	load  workload
	peers []string
	files []*logFile
	trail []string
	open  bool // to faults
	// Of instances: the latest that has begun, and whether the controller has expired a
	// session.
	inside  int
	expired bool
	ended   bool // a life finished: the file could not be created, or was released
}

// logFile is one file of the application.
type logFile struct {
	app, name string
	model     model.LogFile
	// pend holds the one write that was issued but not acknowledged.
	pend     write
	pendNum  int
	pendData []byte
	next     int // the number of the next write
	got      []byte
	created  bool
	released bool // Release was called
	opened   int  // the life that owns the file
	found    int  // the unacknowledged write that the last recovery returned as a whole
}

func newApp(k *scenario.Kit, load workload) *app {
	a := &app{Kit: k, load: load, told: k.Journal(), files: []*logFile{{app: "app", name: "log"}}}
	a.Lives = k.Lives(len(load.lives), func() bool { return a.ended })
	if load.second {
		a.files = append(a.files, &logFile{app: "other", name: "log"})
	}
	for _, f := range a.files {
		f.got = make([]byte, load.size)
	}
	return a
}

func (a *app) reset() {
	for _, f := range a.files {
		f.model.Reset()
		f.pend, f.pendNum, f.next = write{}, 0, 0
		f.created, f.released, f.opened, f.found = false, false, 0, 0
	}
	a.trail, a.ended, a.open = a.trail[:0], false, false
	a.inside, a.expired = 0, false
}

// gate permits faults: according to the script, or links are cut in the first life and heal
// in the last. With lateCrash, the application crashes late.
func (a *app) gate() scenario.Gate {
	var gates []scenario.Gate
	if a.load.lateCrash {
		gates = append(gates, scenario.Strikes(faults.Crash, func() bool { return a.files[0].next > 1 }))
	}
	switch {
	case a.load.exposed:
		gates = append(gates, scenario.When(func() bool { return a.open }))
	case a.load.cutBetween, a.load.lateCrash:
		gates = append(gates, scenario.Strikes(faults.Partition, func() bool { return a.Latest() == 0 }),
			scenario.Heals(func() bool { return a.Last(a.Latest()) }))
	}
	return scenario.All(gates...)
}

// run is one life of the application. A life that is believed dead may run together
// with the next one.
type run struct {
	*app
	h    host.Host
	life int
	file *logFile
	// closing: a log line now reports a failed Close.
	closing bool
}

func (a *app) main(h host.Host, life int) {
	r := &run{app: a, h: h, life: life, file: a.files[0]}
	r.h = &watched{h, r}
	if a.load.script != nil {
		a.load.script(r)
		return
	}
	if f := r.open(); f != nil {
		r.writeAll(f)
	}
}

// writes returns the writes of this life.
func (r *run) writes() []write { return r.load.lives[min(r.life, len(r.load.lives)-1)] }

func (r *run) writeAll(f log) bool {
	for _, w := range r.writes() {
		if !r.record(f, w) {
			return false
		}
	}
	return true
}

// last reports whether this life only observes.
func (r *run) last() bool { return r.Last(r.life) }

// zombie reports whether this life is believed dead.
func (r *run) zombie() bool { return r.Zombie(r.life) }

func (r *run) config() ncl.Config {
	return ncl.Config{App: r.file.app, Peers: r.peers, F: r.load.f, Coord: scenario.Dial(r.h),
		QueueDepth: r.load.queue, CompletionTimeout: r.load.patience}
}

// open creates the file in the first life and recovers it in the others.
func (r *run) open() *ncl.File {
	if r.life == 0 {
		return r.create()
	}
	return r.recover()
}

func (r *run) create() *ncl.File {
	f, err := ncl.Create(r.h, r.config(), r.file.name, r.load.size)
	switch {
	case err == nil:
		r.file.created = true
		r.History()
		return f
	case r.load.second || r.load.intact: // only the application can fail
		r.Fail(unavailable(err))
	case !r.zombie():
		r.giveUp("not created")
	}
	return nil
}

func (r *run) recover() *ncl.File {
	op := r.begins(told{})
	f, err := ncl.Recover(r.h, r.config(), r.file.name)
	switch {
	case errors.Is(err, ncl.ErrNotFound) && !r.file.created:
		r.Meet(sawUnfinished)
		r.giveUp("never existed")
		return nil
	case errors.Is(err, ncl.ErrNotFound) && r.file.released:
		r.Meet(sawReleasing)
		r.giveUp("released")
		return nil
	case errors.Is(err, ncl.ErrUnavailable) && r.load.beyond:
		r.giveUp("unavailable")
		return nil
	case err != nil:
		if !r.zombie() {
			r.Fail(unavailable(err))
		}
		return nil
	}
	r.recovered(f, op)
	return f
}

// expose permits faults from now on, or forbids them.
func (a *app) expose(open bool) {
	a.open = open
	a.History()
}

// giveUp finishes all lives of an application with one file.
func (r *run) giveUp(why string) {
	r.ended = len(r.files) == 1
	r.note(why)
}

// begin reports a write to the model.
func (r *run) begin(w write, data []byte) (int, error) {
	x := r.file
	n, err := x.model.Begin(int64(w.off), data)
	if err == nil {
		x.pend, x.pendNum, x.pendData = w, n, data
		r.History()
	}
	return n, err
}

// log is a file for writing: an ncl.File, or one that replaces peers by itself.
type log interface {
	Record(off int, data []byte) error
	Alive() int
}

// record makes one write and reports it to the model.
func (r *run) record(f log, w write) bool { return r.issue(f, w, r.file.data(w)) }

func (r *run) issue(f log, w write, data []byte) bool {
	x := r.file
	op := r.begins(told{w: w, data: data})
	if r.life < x.opened { // the model no longer follows this life
		r.History() // data has changed x.next
		if f.Record(w.off, data) == nil {
			op.ends("")
			r.Fail(zombieAcked())
		}
		return false
	}
	n, err := r.begin(w, data)
	if err != nil {
		r.Fail(err)
		return false
	}
	op.num = n
	err = f.Record(w.off, data)
	if err == nil {
		op.ends("")
	}
	left := f.Alive()
	switch {
	case err != nil && r.zombie():
		r.Meet(sawFenced)
		return false
	case errors.Is(err, ncl.ErrUnavailable) && r.load.beyond:
		r.note("unavailable")
		return false
	case err != nil:
		r.Fail(unavailable(err))
		return false
	case r.life < x.opened: // the recovery may have returned the write, or not
		if x.found != n {
			r.Fail(zombieAcked())
		}
		return false
	}
	if err := x.model.Ack(n); err != nil {
		r.Fail(err)
		return false
	}
	if left < r.load.f+1 {
		r.Fail(tooFew(left))
		return false
	}
	x.pend = write{}
	if r.zombie() {
		r.Meet(sawLate)
	}
	if left < 2*r.load.f+1 {
		r.Meet(sawRejected)
	}
	r.History()
	return true
}

// data returns the content of the next write: a letter of its own.
func (x *logFile) data(w write) []byte {
	data := make([]byte, w.size)
	for i := range data {
		data[i] = byte('a' + x.next%26)
	}
	x.next++
	return data
}

// recovered checks the result of a recovery.
func (r *run) recovered(f *ncl.File, op *told) {
	x := r.file
	if _, err := f.ReadAt(x.got, 0); err != nil {
		r.Fail(err)
		return
	}
	op.ends(string(x.got[:min(len(x.got), 256)]))
	if r.life < x.opened {
		return
	}
	x.found = r.conditions()
	if err := x.model.Recovered(x.got); err != nil {
		r.Fail(err)
		return
	}
	x.pend, x.opened = write{}, r.life
	if len(x.got) <= 256 {
		r.note(fmt.Sprintf("%q", x.got))
	} else {
		r.History()
	}
}

// conditions records the fate of the unacknowledged write. It returns its number if it
// was recovered whole.
func (r *run) conditions() int {
	x := r.file
	if x.pend.size == 0 {
		return 0
	}
	n := 0
	for i, b := range x.got[x.pend.off : x.pend.off+x.pend.size] {
		if b == x.pendData[i] {
			n++
		}
	}
	switch n {
	case 0:
		r.Meet(sawBehind)
	case x.pend.size:
		r.Meet(sawUnacked)
		return x.pendNum
	default:
		r.Meet(sawTorn)
	}
	return 0
}

func (a *app) note(s string) {
	a.trail = append(a.trail, s)
	a.Outcome(fmt.Sprint(a.trail))
	a.History()
}

// remembered returns the fingerprint of the memory of the checks.
func (a *app) remembered() fingerprint.Print {
	var p fingerprint.Print
	for _, x := range a.files {
		p = p.Print(x.model.Hash()).Int(x.next).Int(x.pend.off).Int(x.pend.size).Int(x.opened).Int(x.found).
			Bool(x.created).Bool(x.released)
		if x.pend.size > 0 {
			p = p.Int(x.pendNum)
		}
	}
	p = p.Bool(a.ended).Bool(a.open).Int(a.inside).Bool(a.expired).Int(len(a.trail))
	for _, s := range a.trail {
		p = p.String(s)
	}
	return p
}

// unavailable: the file could not be used although at most f peers had failed.
func unavailable(err error) error {
	return scenario.Failed("unavailable", "no more than f peers have failed, but the file is unavailable: %w", err)
}

// tooFew: a write was acknowledged although fewer than f+1 peers were left.
func tooFew(left int) error {
	return scenario.Failed(model.ClassLostWrite, "a write was acknowledged with %d peers left", left)
}

// zombieAcked: a write was acknowledged to an instance after another instance had
// recovered its file without that write.
func zombieAcked() error {
	return scenario.Failed(model.ClassLostWrite, "a write was acknowledged to an earlier instance, but the recovery of a later instance did not return it")
}
