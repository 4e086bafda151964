package nclcheck

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
)

// The scripts of the scenarios about memory.

// leaving recovers the file, heals all links, and looks for leaks.
func leaving(r *run) {
	r.expose(r.last())
	f := r.open()
	if f == nil || !r.last() {
		return
	}
	r.expose(false)
	if f.Alive() < len(f.Peers()) {
		r.Meet(sawLeftBehind)
	}
	r.healAll()
	r.checkLeaks(f)
}

// outlasting recovers the file, and repeats the recovery if it failed because it did not
// wait for answers. Then it looks for leaks.
func outlasting(r *run) {
	r.expose(r.last())
	f := r.open()
	if f == nil && r.last() && slices.Contains(r.trail, "unavailable") {
		r.expose(false)
		r.Meet(sawAnew)
		f = r.recover()
	}
	r.expose(false)
	if f == nil || !r.last() {
		return
	}
	if f.Alive() < len(f.Peers()) {
		r.Meet(sawLeftBehind)
	}
	r.checkLeaks(f)
}

// stranding makes a recovery crash, and the next one fail because f+1 peers are
// unreachable. The first recovery has left a region of an earlier epoch at one of these
// peers.
func stranding(r *run) {
	r.expose(r.life == 1)
	if !r.last() {
		r.open()
		return
	}
	if !r.inject(faults.Partition, "app", "peer1") || !r.inject(faults.Partition, "app", "peer2") {
		return
	}
	if f := r.recover(); f != nil {
		r.Fail(errors.New("f+1 peers are out of reach, but the file was recovered"))
		return
	}
	r.healAll()
	n, err := ncl.Collect(r.h, "peer1", ncl.DefaultCallTimeout)
	if want := r.region([]string{"peer1"}, "peer1"); err != nil || n != want {
		r.Fail(lends("peer1", n, want, err))
	}
}

// rejoining asks a peer that was unreachable to join the file again. It may become
// unreachable again meanwhile.
func rejoining(r *run) {
	f := r.open()
	if f == nil {
		return
	}
	if !r.inject(faults.Partition, "app", "peer1") || !r.writeAll(f) {
		return
	}
	r.healAll()
	r.expose(true)
	if !r.repair(f) {
		return
	}
	r.expose(false)
	r.healAll()
	r.checkLeaks(f)
}

// joining replaces a peer that has revoked its memory. The last life looks for leaks.
func joining(r *run) {
	f := r.open()
	if f == nil {
		return
	}
	if r.last() {
		r.checkLeaks(f)
		return
	}
	if r.inject(faults.Revoke, r.load.loses) && r.writeAll(f) && r.repair(f) {
		r.tidy(f)
	}
}

// measuring checks after each operation how much the peers lend. There are no collections,
// so every operation must free its memory itself.
func measuring(r *run) {
	f := r.open()
	if f == nil || !r.measure(f.Peers()) {
		return
	}
	if !r.last() {
		if r.revoke(r.load.loses) && r.writeAll(f) && r.repair(f) && r.measure(f.Peers()) {
			r.tidy(f)
		}
		return
	}
	r.file.released = true
	r.History()
	if err := f.Release(); err != nil {
		r.Fail(unavailable(err))
		return
	}
	r.measure(nil)
}

// tidy closes the file. Close must release all resources on this host.
func (r *run) tidy(f *ncl.File) {
	r.closing = true
	f.Close()
	r.closing = false
}

// watched is a host whose log is read while a file is closed.
type watched struct {
	host.Host
	r *run
}

func (h *watched) Logf(format string, args ...any) {
	h.Host.Logf(format, args...)
	if h.r.closing {
		h.r.Fail(leaked(fmt.Errorf(format, args...)))
	}
}

// fitting creates a file where there is memory for one file only. Every other request for
// memory is rejected, and the file's region stays.
func fitting(r *run) {
	cfg := r.config()
	cfg.Peers = r.load.names()
	only := cfg.Peers[0]
	stays := func(want int) bool { // a peer updates the controller soon, by itself
		r.h.Sleep(time.Second)
		return r.figure(only, want, 1)
	}
	f, err := ncl.Create(r.h, cfg, r.file.name, r.load.size)
	if !r.done(err) || !stays(r.region(cfg.Peers, only)) || !r.writeAll(f) || !r.done(f.Release()) || !stays(0) {
		return
	}
	// The peer updates the controller after it has answered a release, so the figure may be out of date.
	if f, err = ncl.Create(r.h, r.config(), r.file.name, r.load.size); !r.done(err) || !r.done(f.Release()) {
		return
	}
	if f, err = ncl.Create(r.h, r.config(), r.file.name, r.load.size); !r.done(err) {
		return
	}
	rejected := func(what string, err error, of error) bool {
		return r.expect(fmt.Sprintf("%s without memory: %v", what, err), errors.Is(err, of) && errors.Is(err, ncl.ErrRejected)) &&
			r.measure(cfg.Peers)
	}
	_, err = ncl.Create(r.h, cfg, "more", 1)
	_, unasked := ncl.Create(r.h, r.config(), "more", 1)
	if !rejected("a file", err, ncl.ErrTooFew) || !rejected("a file for which nobody is asked", unasked, ncl.ErrTooFew) || !r.inject(faults.Partition, "app", only) {
		return
	}
	failed := f.Record(0, make([]byte, r.load.size))
	r.healAll()
	if !r.expect("a write without peers", errors.Is(failed, ncl.ErrUnavailable)) || !r.done(f.Repair()) || !r.measure(cfg.Peers) {
		return
	}
	f.Close()
	if f, err = ncl.Recover(r.h, cfg, r.file.name); r.done(err) && r.measure(cfg.Peers) {
		f.Close()
	}
}

// overlooking writes to a peer that the recovery does not reach. The next recovery
// reaches it, and must return the same content.
func overlooking(r *run) {
	r.healAll()
	switch r.life {
	case 0:
		f := r.open()
		if f == nil || !r.record(f, r.writes()[0]) || !r.inject(faults.Partition, "app", "peer1") || !r.inject(faults.Partition, "app", "peer2") {
			return
		}
		r.record(f, r.writes()[1])
	case 1:
		if r.inject(faults.Partition, "app", "peer3") {
			r.open()
		}
	default:
		r.open()
	}
}

// measure compares the loans of the peers with one region for each peer of the file. A
// peer that has revoked its memory has no region if the application did not notice that.
func (r *run) measure(claimed []string) bool {
	for _, name := range r.load.names() {
		n, err := ncl.Collect(r.h, name, ncl.DefaultCallTimeout)
		if err != nil && name == r.load.garbles {
			n, err = ncl.Collect(r.h, name, ncl.DefaultCallTimeout) // answers with this error once
		}
		if want := r.region(claimed, name); err != nil || n != want && (n > 0 || name != r.load.loses) {
			r.Fail(lends(name, n, want, err))
			return false
		}
	}
	return true
}

// healAll heals all links of the application to peers.
func (r *run) healAll() {
	for _, name := range r.load.names() {
		r.Heal("app", name)
	}
}
