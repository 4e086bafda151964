package ncl

import (
	"errors"
	"fmt"
	"slices"

	"github.com/verbatim-rdma/verbatim/host"
	ctrl "github.com/verbatim-rdma/verbatim/kit/entry"
	"github.com/verbatim-rdma/verbatim/kit/lend"
)

// Recover opens a file after a crash of the application: the paper's recover() (4.5.1).
// The file has all acknowledged writes, and possibly some unacknowledged ones. When
// Recover returns, f+1 peers hold exactly the same content.
func Recover(h host.Host, cfg Config, name string) (*File, error) {
	cfg, err := cfg.complete(name)
	if err != nil {
		return nil, err
	}
	e, held, err := takeOver(cfg, name)
	if err != nil {
		return nil, fmt.Errorf("ncl: recover %q: %w", name, err)
	}
	f, err := newFile(h, cfg, name, e)
	if err == nil {
		f.held = held
		err = f.recover()
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("ncl: recover %q: %w", name, err)
	}
	return f, nil
}

// takeOver looks up the file in the ap-map and begins a new epoch there, before it
// contacts any peer: one of two concurrent recoveries fails here. A peer that was about
// to join can no longer join. takeOver removes an unfinished creation. If an earlier
// instance replaces a peer at the same time, takeOver starts again: `ncl/cling`.
func takeOver(cfg Config, name string) (entry, *ctrl.Entry, error) {
	e, held, err := loadEntry(cfg.Coord, cfg.App, name)
	switch {
	case err != nil:
		return entry{}, nil, err
	case !e.created():
		err = held.Delete()
		if errors.Is(err, ctrl.ErrTaken) {
			return takeOver(cfg, name) // the creation has finished
		}
		return entry{}, nil, errors.Join(fmt.Errorf("%w: its creation did not finish", ErrNotFound), err)
	case e.epoch == MaxEpoch:
		return entry{}, nil, fmt.Errorf("%w: epoch %d", ErrExhausted, e.epoch)
	}
	e.epoch++
	e.joining, e.copying = nil, true
	err = held.Set(e.encode())
	if errors.Is(err, ctrl.ErrTaken) {
		if now, _, again := loadEntry(cfg.Coord, cfg.App, name); again == nil && !now.copying {
			return takeOver(cfg, name)
		}
	}
	return e, held, stale(err)
}

// recovery is the state of a recovery while it contacts peers.
type recovery struct {
	f       *File
	calls   host.Gather
	stamps  []Stamp // the stamps of the peers' regions, indexed like f.links
	known   []bool  // stamps[i] was read
	heard   []bool  // links[i] has answered or failed
	said    int     // number of peers that have answered
	latest  Stamp   // the largest stamp
	scratch *lend.Memory
	ids     uint64 // number of requests posted
}

func (f *File) recover() error {
	n := len(f.links)
	r := &recovery{f: f, stamps: make([]Stamp, n), known: make([]bool, n), heard: make([]bool, n)}
	var err error
	if r.scratch, err = f.group.Register(stampSize * n); err != nil {
		return err
	}
	err = r.run()
	f.note(r.scratch.Free())
	if err != nil {
		return err
	}
	return f.leaveBehind()
}

func (r *recovery) run() error {
	f := r.f
	r.calls = f.ask(opRecover, f.links)
	if err := r.fetchLatest(); err != nil {
		return err
	}
	if !r.allHeard() {
		r.hear(len(f.links)) // the other peers are caught up as well
	}
	r.catchUp()
	return f.switchOver()
}

// fetchLatest reads the stamps of any f+1 peers, chooses the largest, and reads the
// region of that peer, the recovery peer, into the local buffer. An acknowledged write
// is on f+1 peers; the two sets share a peer, so at least one of the stamps covers it.
// Peers that fail meanwhile are replaced by others.
func (r *recovery) fetchLatest() error {
	f := r.f
	for {
		if missing := f.quorum() - r.readable(); missing <= 0 {
			if best := r.recoveryPeer(); best != nil && r.fetch(best) {
				return nil
			}
		} else if r.allHeard() {
			return f.unavailable()
		} else {
			r.hear(r.said + missing)
			r.readStamps()
		}
	}
}

// hear waits until need peers have answered, and connects to those that are new.
func (r *recovery) hear(need int) {
	answers := r.calls.Wait(need)
	var heard []*link
	for i, l := range r.f.links {
		if !r.heard[i] && !answers[i].Pending() {
			heard = append(heard, l)
		}
	}
	for l := range r.f.group.Each(heard) {
		i := slices.Index(r.f.links, l)
		r.heard[i] = true
		if answers[i].Err == nil {
			r.said++
		}
		if err := accept(l, &answers[i], opRecover, r.f.entry.size); err != nil {
			r.f.group.Fail(l, err)
		}
	}
}

func (r *recovery) allHeard() bool {
	for _, h := range r.heard {
		if !h {
			return false
		}
	}
	return true
}

// readable counts the peers with a known stamp and a readable region.
func (r *recovery) readable() int {
	n := 0
	for i, l := range r.f.links {
		if r.known[i] && l.Err == nil {
			n++
		}
	}
	return n
}

// readStamps reads the stamps of the peers that have answered. It asks all at once; the
// order of their answers does not matter.
func (r *recovery) readStamps() {
	var asked []*link
	for i, l := range r.f.links {
		if r.heard[i] && !r.known[i] && r.postStampRead(i, l) {
			asked = append(asked, l)
		}
	}
	r.f.group.AwaitAll(asked)
	for i, l := range r.f.links {
		if slices.Contains(asked, l) && l.Err == nil {
			r.stamps[i], r.known[i] = Stamp(r.scratch.Region.Load64(stampSize*i)), true
		}
	}
}

// recoveryPeer returns the peer with the largest stamp. Peers with the same stamp may
// hold different data, because the data of the next write may have arrived without its
// stamp. Any of them will do; it chooses the first to complete a second read. It
// returns nil if none is left.
func (r *recovery) recoveryPeer() *link {
	r.latest = 0
	for i, l := range r.f.links {
		if r.known[i] && l.Err == nil {
			r.latest = max(r.latest, r.stamps[i])
		}
	}
	var best []*link
	for i, l := range r.f.links {
		if r.isLatest(i) {
			best = append(best, l)
		}
	}
	if len(best) == 1 {
		return best[0]
	}
	for i, l := range r.f.links {
		if r.isLatest(i) {
			r.postStampRead(i, l)
		}
	}
	return r.firstToAnswer()
}

func (r *recovery) isLatest(i int) bool {
	return r.known[i] && r.f.links[i].Err == nil && r.stamps[i] == r.latest
}

// firstToAnswer returns the first of the peers with the largest stamp to complete a
// Read. Completions of the others stay in their queues; await skips them.
func (r *recovery) firstToAnswer() *link {
	f := r.f
	for {
		waiting := false
		for i := range f.links {
			waiting = waiting || r.isLatest(i)
		}
		if !waiting {
			return nil
		}
		l, err := f.group.Next(f.links)
		if err != nil {
			r.failLatest(err)
			return nil
		}
		if i := slices.Index(f.links, l); i >= 0 && r.isLatest(i) {
			return l
		}
	}
}

func (r *recovery) failLatest(cause error) {
	var latest []*link
	for i, l := range r.f.links {
		if r.isLatest(i) {
			latest = append(latest, l)
		}
	}
	for l := range r.f.group.Each(latest) {
		r.f.group.Fail(l, cause)
	}
}

// catchUp writes the content of the local buffer, with a stamp of the new epoch, to the
// fresh regions. All peers get the whole content, even those with the same stamp: their
// data may differ (4.5.1).
func (r *recovery) catchUp() {
	f := r.f
	f.stamp = MakeStamp(f.entry.epoch, r.latest.Seq())
	f.buf.Region.Store64(0, uint64(f.stamp))
	f.copyTo(f.working())
}

// copyTo copies the content of the local buffer to links that have nothing yet.
func (f *File) copyTo(links []*link) {
	f.group.RoomAll(links, len(f.wrs))
	for _, l := range links {
		f.post(l, 0, f.entry.size)
	}
	f.group.AwaitAll(links)
}

// switchOver makes the peers with the copy point their mr-map to it. If fewer than f+1
// do, the recovery must not return: the next one could find something else (4.5.1).
func (f *File) switchOver() error {
	caughtUp := f.working()
	if len(caughtUp) < f.quorum() {
		return f.unavailable()
	}
	f.switchTo(caughtUp)
	if f.alive() < f.quorum() {
		return f.unavailable()
	}
	return nil
}

// leaveBehind lets the peers that did not switch free their fresh regions, which no recovery
// will fill any more: finding 7. The file is open even if the controller is unreachable;
// then the next change of the entry releases these regions.
func (f *File) leaveBehind() error {
	if f.alive() == len(f.links) {
		return nil
	}
	e := f.entry
	e.copying = false
	err := f.save(e)
	if errors.Is(err, ErrStale) {
		return err
	}
	if err != nil {
		f.h.Logf("the ap-map still marks file %q as being recovered: %v", f.name, err)
	}
	return nil
}

// switchTo makes the peers of links point their mr-map to the copy (4.5.1).
func (f *File) switchTo(links []*link) {
	answers := f.ask(opSwitch, links).Wait(len(links))
	errs := map[*link]error{}
	var failed []*link
	for i, l := range links {
		if errs[l] = answered(l, &answers[i], opSwitch); errs[l] != nil {
			failed = append(failed, l)
		}
	}
	for l := range f.group.Each(failed) {
		f.group.Fail(l, errs[l])
	}
}

// working returns the links whose peers have not failed.
func (f *File) working() []*link { return lend.Alive(f.links) }
