package nclcheck

import (
	"errors"
	"fmt"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/model"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
)

const fileName = "log"

// app is the application and the memory of the checks: what it wrote, what was
// acknowledged, and what recoveries returned.
type app struct {
	c     *explore.Case
	load  workload
	peers []string
	file  model.LogFile
	// pend holds the one write that was issued and not acknowledged.
	pend     write
	pendNum  int
	pendData []byte
	next     int // the number of the next write
	got      []byte
	trail    []string
	told     []told
	created  bool
	life     int
	ended    bool // a life ended because the file could not be created
}

func newApp(c *explore.Case, load workload) *app {
	return &app{c: c, load: load, got: make([]byte, load.size)}
}

func (a *app) reset() {
	a.file.Reset()
	a.pend, a.pendNum, a.next = write{}, 0, 0
	a.trail, a.told = a.trail[:0], a.told[:0]
	a.created, a.ended, a.life = false, false, 0
}

// again: a crashed application starts again; one that ended goes on to its next
// life, until the last has read the file back.
func (a *app) again(life int, crashed bool) bool {
	return crashed || !a.ended && life < len(a.load.lives)-1
}

// immortal: the last life only looks at what is there; a crash of it would be
// one of an observer.
func (a *app) immortal(life int) bool { return life >= len(a.load.lives)-1 }

// gate lets links be cut in the first life and heal in the last.
func (a *app) gate(k faults.Kind, heal bool) bool {
	switch {
	case heal:
		return a.life >= len(a.load.lives)-1
	case k == faults.Partition:
		return a.life == 0
	}
	return true
}

func (a *app) main(h host.Host, life int) {
	a.life = life
	cfg := ncl.Config{App: "app", Peers: a.peers, F: a.load.f, Coord: coord.NewClient(h, "coord", "coord")}
	f := a.open(h, cfg, life)
	if f == nil {
		return
	}
	for _, w := range a.load.lives[min(life, len(a.load.lives)-1)] {
		if !a.record(f, w) {
			return
		}
	}
}

// open creates the file in the first life and recovers it in the others.
func (a *app) open(h host.Host, cfg ncl.Config, life int) *ncl.File {
	if life == 0 {
		f, err := ncl.Create(h, cfg, fileName, a.load.size)
		if err != nil {
			a.giveUp("not created")
			return nil
		}
		a.created = true
		return f
	}
	a.begins(told{})
	f, err := ncl.Recover(h, cfg, fileName)
	switch {
	case errors.Is(err, ncl.ErrNotFound) && !a.created:
		a.giveUp("never existed")
		return nil
	case err != nil:
		a.c.Fail(&unavailable{err})
		return nil
	}
	a.recovered(f)
	return f
}

func (a *app) giveUp(why string) {
	a.ended = true
	a.note(why)
}

// record makes one write and tells the model about it.
func (a *app) record(f *ncl.File, w write) bool { return a.issue(f, w, a.data(w)) }

func (a *app) issue(f *ncl.File, w write, data []byte) bool {
	n, err := a.file.Begin(int64(w.off), data)
	if err != nil {
		a.c.Fail(err)
		return false
	}
	a.pend, a.pendNum, a.pendData = w, n, data
	a.begins(told{num: n, w: w, data: data})
	a.history()
	if err := f.Record(w.off, data); err != nil {
		a.c.Fail(&unavailable{err})
		return false
	}
	if err := a.file.Ack(n); err != nil {
		a.c.Fail(err)
		return false
	}
	a.pend = write{}
	a.ends("")
	if f.Alive() < 2*a.load.f+1 {
		a.c.Sometimes(sawRejected)
	}
	a.history()
	return true
}

// data is what the next write writes: a letter of its own.
func (a *app) data(w write) []byte {
	data := make([]byte, w.size)
	for i := range data {
		data[i] = byte('a' + a.next%26)
	}
	a.next++
	return data
}

// recovered checks what a recovery returned.
func (a *app) recovered(f *ncl.File) {
	if _, err := f.ReadAt(a.got, 0); err != nil {
		a.c.Fail(err)
		return
	}
	a.ends(string(a.got[:min(len(a.got), 256)]))
	a.conditions()
	if err := a.file.Recovered(a.got); err != nil {
		a.c.Fail(err)
		return
	}
	a.pend = write{}
	if len(a.got) <= 256 {
		a.note(fmt.Sprintf("%q", a.got))
	}
}

// conditions notes what became of the write that was not acknowledged.
func (a *app) conditions() {
	if a.pend.size == 0 {
		return
	}
	n := 0
	for i, b := range a.got[a.pend.off : a.pend.off+a.pend.size] {
		if b == a.pendData[i] {
			n++
		}
	}
	switch n {
	case 0:
		a.c.Sometimes(sawBehind)
	case a.pend.size:
		a.c.Sometimes(sawUnacked)
	default:
		a.c.Sometimes(sawTorn)
	}
}

func (a *app) note(s string) {
	a.trail = append(a.trail, s)
	a.c.Outcome(fmt.Sprint(a.trail))
	a.history()
}

// history tells the checker what the checks remember.
func (a *app) history() {
	h := a.file.Hash()
	h = h*31 + uint64(a.next)
	h = h*31 + uint64(a.pend.off)<<20 + uint64(a.pend.size)
	if a.created {
		h++
	}
	for _, s := range a.trail {
		for i := range len(s) {
			h = (h ^ uint64(s[i])) * 1099511628211
		}
		h *= 31
	}
	a.c.History(h)
}

// unavailable: the file could not be used although no more than f peers failed.
type unavailable struct{ err error }

func (e *unavailable) Error() string {
	return "no more than f peers have failed and the file is unavailable: " + e.err.Error()
}

func (e *unavailable) Unwrap() error { return e.err }

// Class is the class of the violation.
func (e *unavailable) Class() string { return "unavailable" }
