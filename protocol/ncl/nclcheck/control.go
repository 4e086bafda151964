package nclcheck

import (
	"errors"
	"fmt"
	"slices"

	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
)

// The scripts of the control-plane scenarios.

// replacing writes, and replaces peers as soon as it notices that they have failed.
func replacing(r *run) {
	f := r.open()
	if f == nil {
		return
	}
	for i, w := range r.writes() {
		if !r.record(f, w) || i == 0 && !r.repair(f) {
			return
		}
	}
}

// keeping replaces a failed peer, and makes the others look for leaked regions.
func keeping(r *run) {
	f := r.open()
	if f == nil || r.last() {
		return
	}
	if r.inject(faults.Revoke, "peer1") && r.writeAll(f) && r.repair(f) {
		r.checkLeaks(f)
	}
}

// persisting keeps writing: peer2 is cut off after the first write, with the data it
// has by then, and peer1 crashes. When writing stops it replaces peers, and then the
// writes are acknowledged.
func persisting(r *run) {
	f := r.open()
	if f == nil {
		return
	}
	x := r.file
	for i, w := range r.writes() {
		if i > 0 && r.life == 0 {
			if !r.inject(faults.Partition, "app", "peer2") || !r.inject(faults.Crash, "peer1") {
				return
			}
		}
		data := x.data(w)
		n, err := r.begin(w, data)
		if err == nil {
			err = f.Record(w.off, data)
		}
		if errors.Is(err, ncl.ErrUnavailable) {
			r.Meet(sawStopped)
			if err = f.Repair(); errors.Is(err, ncl.ErrTooFew) && !errors.Is(err, ncl.ErrUnavailable) {
				err = f.Record(w.off, data) // with f+1 peers again
			}
			if err == nil {
				r.Meet(sawRevived)
			}
		}
		switch {
		case errors.Is(err, ncl.ErrUnavailable):
			r.note("unavailable")
			return
		case err == nil:
			err = x.model.Ack(n)
		}
		if err != nil {
			r.Fail(err)
			return
		}
		x.pend = write{}
		r.History()
	}
}

// inject makes a fault happen now.
func (r *run) inject(k faults.Kind, hosts ...string) bool {
	err := r.Inject(k, hosts...)
	if err != nil {
		r.Fail(err)
	}
	return err == nil
}

// repair replaces the failed peers, if others are available.
func (r *run) repair(f *ncl.File) bool {
	if f.Alive() == len(f.Peers()) {
		return true
	}
	switch err := f.Repair(); {
	case err == nil:
		r.Meet(sawReplaced)
		if f.Alive() < len(f.Peers()) {
			r.Fail(unavailable(errors.New("a Repair has succeeded, but peers are missing")))
			return false
		}
	case r.load.spare:
		r.Fail(unavailable(err))
		return false
	case errors.Is(err, ncl.ErrUnavailable) && r.load.beyond:
		r.note("unavailable")
		return false
	case !errors.Is(err, ncl.ErrTooFew) || errors.Is(err, ncl.ErrUnavailable):
		r.Fail(unavailable(err))
		return false
	}
	return true
}

// claiming is an instance that runs only as long as no other does, according to the
// controller (4.7).
func claiming(r *run) {
	if !r.claim() {
		return
	}
	f := r.open()
	if r.life == 0 && !r.inject(faults.Suspect, "app") {
		return
	}
	if f != nil {
		r.writeAll(f)
	}
}

// claim waits for the sessions of earlier instances to expire; one of the sessions may just
// have begun.
func (r *run) claim() bool {
	for {
		if r.life > 0 {
			if !r.Check(scenario.Expire(r.h, "app")) {
				return false
			}
		}
		_, err := ncl.Start(r.config())
		switch {
		case err == nil:
			return true
		case r.zombie():
			return false
		case !errors.Is(err, ncl.ErrRunning):
			r.Fail(err)
			return false
		}
	}
}

// creating creates the file; the last life looks for leaks.
func creating(r *run) {
	f := r.open()
	if f == nil && r.life == 0 {
		return
	}
	if !r.last() || !r.listed(f != nil) {
		return
	}
	if f == nil || r.whole(f) {
		r.checkLeaks(f)
	}
}

// listed reports whether the application's list of files includes its file exactly if
// it exists.
func (r *run) listed(there bool) bool {
	names, err := ncl.Files(r.config().Coord, r.file.app)
	if err == nil && slices.Contains(names, r.file.name) != there {
		err = fmt.Errorf("the application has the files %q", names)
	}
	if err != nil {
		r.Fail(unavailable(err))
	}
	return err == nil
}

// releasing deletes the file after its writes.
func releasing(r *run) {
	f := r.open()
	if f != nil && !r.last() {
		r.file.released = true
		r.History()
		if err := f.Release(); err != nil {
			r.Fail(unavailable(err))
			return
		}
		r.note("deleted")
	}
	if r.last() {
		r.checkLeaks(f)
	}
}

// recreating deletes the file. The next life finds the state that the first life has left,
// and creates the file again under the same name. The last life reads back.
func recreating(r *run) {
	x := r.file
	r.expose(false)
	r.healAll()
	if r.last() {
		r.checkLeaks(r.open())
		return
	}
	if r.life > 0 && x.released && x.created && !slices.Contains(r.trail, "deleted") {
		r.Meet(sawReleasing)
	}
	f := r.open()
	if f != nil && r.life == 0 && !r.writeAll(f) {
		return
	}
	if f != nil {
		x.released = true
		r.expose(true)
		if err := f.Release(); err != nil {
			r.Fail(unavailable(err))
			return
		}
		r.expose(false)
		r.healAll()
	}
	if r.life == 0 {
		r.note("deleted")
		return
	}
	// From now on no data of the earlier file may reappear.
	x.model.Reset()
	x.pend, x.created, r.ended = write{}, false, false
	r.note("again")
	if f = r.create(); f != nil {
		x.released = false
		r.History()
		r.writeAll(f)
	}
}

// duelling recovers the file while an earlier instance, whose session has expired, recovers
// it too. Either may take the file from the other; the loser has to start again.
func duelling(r *run) {
	if !r.claim() {
		return
	}
	switch r.life {
	case 0:
		if f := r.open(); f != nil {
			r.writeAll(f)
		}
		return
	case 1:
		if !r.inject(faults.Suspect, "app") {
			return
		}
	}
	const tries = 3 // the other instance tries once, and takes the file once
	for try := 1; ; try++ {
		op := r.begins(told{})
		f, err := ncl.Recover(r.h, r.config(), r.file.name)
		switch {
		case err == nil:
			r.recovered(f, op)
			return
		case r.zombie():
			r.Meet(sawFenced)
			return
		case try == tries, !errors.Is(err, ncl.ErrStale) && !errors.Is(err, ncl.ErrUnavailable):
			r.Fail(unavailable(err))
			return
		}
		r.Meet(sawDuel)
	}
}

// several opens all files, and writes to them in turn.
func several(r *run) {
	var open []*ncl.File
	for _, x := range r.files {
		r.file = x
		open = append(open, r.open())
	}
	for _, w := range r.writes() {
		for i, f := range open {
			if r.file = r.files[i]; f != nil && !r.record(f, w) {
				return
			}
		}
	}
}

// checkLeaks makes the peers collect, and checks the memory that they lend: one region for
// the file, if it exists and they are its peers. A peer that did not fail must not have lost
// the region.
func (r *run) checkLeaks(f *ncl.File) {
	var claimed []string
	if f != nil {
		claimed = f.Peers()
	}
	for _, name := range r.load.names() {
		n, err := ncl.Collect(r.h, name, ncl.DefaultCallTimeout)
		if errors.Is(err, host.ErrUnreachable) || errors.Is(err, host.ErrTimeout) {
			continue
		}
		want := r.region(claimed, name)
		if err != nil || n > want {
			r.Fail(lends(name, n, want, err))
			return
		}
		if r.load.intact && name != r.load.loses && n < want {
			r.Fail(unavailable(fmt.Errorf("peer %s has freed a region that the file claims", name)))
			return
		}
		if r.load.registered && !r.figure(name, n, 2) {
			return
		}
	}
}

// figure compares the controller's figure for a peer with the peer's loans. A request of
// an earlier life may arrive in between: then the peer looks for leaked regions again.
func (r *run) figure(name string, lent, tries int) bool {
	peers, err := ncl.Peers(r.config().Coord)
	i := slices.IndexFunc(peers, func(p ncl.Registered) bool { return p.Name == name })
	switch {
	case err != nil:
	case i < 0:
		err = fmt.Errorf("the controller does not list peer %s", name)
	case peers[i].Left == r.load.memory(name)-2*lent: // as much again for a copy
		return true
	case tries > 1:
		if lent, err = ncl.Collect(r.h, name, ncl.DefaultCallTimeout); err == nil {
			return r.figure(name, lent, tries-1)
		}
	default:
		err = fmt.Errorf("the controller lists %d bytes left for peer %s, which lends %d of %d", peers[i].Left, name, lent, r.load.memory(name))
	}
	r.Fail(leaked(err))
	return false
}

// region returns the number of bytes that a peer may lend if claimed are the peers of the file.
func (r *run) region(claimed []string, peer string) int {
	if slices.Contains(claimed, peer) {
		return r.load.size + 8
	}
	return 0
}

func lends(peer string, n, want int, err error) error {
	return leaked(errors.Join(fmt.Errorf("peer %s lends %d bytes, but %d are claimed", peer, n, want), err))
}

// leaked: a region that no file claims stays after a collection.
func leaked(err error) error { return scenario.Failed("leaked-memory", "memory leaked: %w", err) }
