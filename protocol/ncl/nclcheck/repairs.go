package nclcheck

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
)

// The scripts of the scenarios in which peers fail one after another.

// wearing writes. Before every write but the first a peer of the file crashes, unless the
// last crashed peer has not been replaced yet.
func wearing(r *run) {
	f := r.open()
	if f == nil {
		return
	}
	lost := ""
	for i, w := range r.writes() {
		if i > 0 && !slices.Contains(f.Peers(), lost) {
			lost = r.lose(f)
		}
		if !r.record(f, w) || !r.repair(f) {
			return
		}
	}
}

// lose crashes one of the file's peers, and returns its name.
func (r *run) lose(f *ncl.File) string {
	peers := f.Peers()
	name := peers[r.h.Rand(len(peers))]
	r.inject(faults.Crash, name)
	return name
}

// maintaining uses Maintained: one peer revokes its memory before the second write, and
// two others before the third, so that writing must stop and resume.
func maintaining(r *run) {
	f := r.open()
	if f == nil || r.last() {
		return
	}
	m := r.maintained(f)
	for i, w := range r.writes() {
		for _, name := range r.load.leaves[i] {
			if !r.revoke(name) {
				return
			}
		}
		if !r.record(m, w) || i == 1 && !r.whole(f) {
			return
		}
	}
	m.Maintain()
	r.whole(f)
}

// maintained replaces failed peers of f by itself, and records that it did.
func (r *run) maintained(f *ncl.File) *ncl.Maintained {
	return &ncl.Maintained{File: f, Told: func(err error) {
		if err == nil {
			r.Meet(sawReplaced)
		}
	}}
}

// idling writes once, and then nothing. A peer crashes; when the watch has had time to
// replace it, another peer crashes.
func idling(r *run) {
	f := r.open()
	if f == nil || r.last() {
		return
	}
	m := r.maintained(f)
	m.Watch(time.Second)
	if !r.record(m, r.writes()[0]) || !r.inject(faults.Crash, "peer1") {
		return
	}
	r.h.Sleep(5 * time.Second / 2) // the first check finds a write
	if r.whole(m) {
		r.inject(faults.Crash, "peer2")
	}
}

// guarding writes, and writes again while another task maintains the file.
func guarding(r *run) {
	if r.expose(false); r.last() {
		r.open()
		return
	}
	f := r.open()
	if f == nil {
		return
	}
	m := r.maintained(f)
	m.Watch(time.Second)
	w := r.writes()
	if !r.record(m, w[0]) {
		return
	}
	r.h.Sleep(3 * time.Second / 2) // the next check finds no write since the last one, unless it is late
	r.expose(true)
	r.record(m, w[1])
}

// starving uses Maintained without spare peers: a write fails, or f+1 peers have it.
func starving(r *run) {
	f := r.open()
	if f == nil {
		return
	}
	var told error
	m := &ncl.Maintained{File: f, Told: func(err error) { told = err }}
	for i, w := range r.writes() {
		if i > 0 && !r.inject(faults.Crash, fmt.Sprint("peer", i)) {
			return
		}
		if !r.record(m, w) {
			if r.Meet(sawStopped); !errors.Is(told, ncl.ErrTooFew) {
				r.Fail(unavailable(fmt.Errorf("a write failed, but the Repair before it did not: %w", told)))
			}
			return
		}
	}
}

// whole reports whether every peer known to have failed is replaced.
func (r *run) whole(f interface {
	Alive() int
	Peers() []string
}) bool {
	if f.Alive() < len(f.Peers()) {
		r.Fail(unavailable(errors.New("a peer that has failed was not replaced")))
		return false
	}
	return true
}

// pairing replaces two peers at once.
func pairing(r *run) {
	f := r.open()
	if f == nil || r.last() {
		return
	}
	peers := f.Peers()
	i := r.h.Rand(len(peers))
	if r.revoke(peers[i]) && r.revoke(peers[(i+1)%len(peers)]) && r.writeAll(f) {
		r.repair(f)
	}
}

// revoke makes a peer revoke its memory.
func (r *run) revoke(peer string) bool {
	err := ncl.Revoke(r.h, peer, ncl.DefaultCallTimeout)
	n := 0
	if err == nil && !r.load.collects {
		n, err = ncl.Collect(r.h, peer, ncl.DefaultCallTimeout)
	}
	if err != nil || n > 0 {
		r.Fail(lends(peer, n, 0, err))
		return false
	}
	return true
}

// clinging is an instance that is believed dead, and replaces a failed peer while the
// next instance recovers the file.
func clinging(r *run) {
	if !r.claim() {
		return
	}
	f := r.open()
	if f == nil || r.life > 0 {
		return
	}
	if !r.inject(faults.Suspect, "app") || !r.inject(faults.Revoke, "peer1") {
		return
	}
	for _, w := range r.writes() {
		if !r.record(f, w) {
			return
		}
		switch err := f.Repair(); {
		case err == nil:
			r.Meet(sawReplaced)
		case r.zombie():
			r.Meet(sawFenced)
			return
		default:
			r.Fail(unavailable(err))
			return
		}
	}
}

// cuttingShort leaves a write on one peer only, and permits cut links during the next
// recovery.
func cuttingShort(r *run) {
	switch r.life {
	case 0:
		f := r.open()
		if f == nil || !r.inject(faults.Partition, "app", "peer1") || !r.inject(faults.Partition, "app", "peer2") {
			return
		}
		r.writeAll(f)
	case 1:
		r.healAll()
		r.expose(true)
		r.open()
		r.expose(false)
	default:
		r.healAll()
		r.open()
	}
}
