package nclcheck

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
)

// watchPeriod is the period of Watch in the script tending.
const watchPeriod = time.Second

// clocked is a host that checks that its own tasks sleep for exactly a watchPeriod.
type clocked struct {
	host.Host
	r *run
}

func (h *clocked) Sleep(d time.Duration) {
	h.r.expect(fmt.Sprintf("a watch that sleeps for %v", d), d == watchPeriod)
	h.Host.Sleep(d)
}

// tending writes once. Then the watch maintains the file, a peer revokes its memory, and the watch is
// dismissed. The first check finds a write; later checks must detect failures by themselves.
func tending(r *run) {
	use := &scenario.Short{Host: r.h, Once: &scenario.Once{Failed: true}} // fails nothing, and counts the resources
	f, err := ncl.Create(&clocked{use, r}, r.config(), r.file.name, r.load.size)
	if !r.done(err) {
		return
	}
	var told []error
	m := &ncl.Maintained{File: f, Told: func(err error) { told = append(told, err) }}
	if !r.expect("a watch without pauses", panics(func() { m.Watch(0) })) {
		return
	}
	m.Watch(watchPeriod)
	if !r.record(m, r.writes()[0]) {
		return
	}
	r.h.Sleep(2*watchPeriod + watchPeriod/2)
	if !r.expect(fmt.Sprint("a replacement although no peer has failed: ", told), len(told) == 0) || !r.revoke("peer1") {
		return
	}
	r.h.Sleep(2*watchPeriod + watchPeriod/4) // the two periods of Watch's promise, and time to replace a peer
	if !r.expect(fmt.Sprintf("a file that was not maintained: peers %v, repairs %v", m.Peers(), told),
		len(told) == 1 && told[0] == nil && !slices.Contains(m.Peers(), "peer1") && m.Alive() == len(m.Peers())) {
		return
	}
	if r.h.Rand(2) == 1 {
		if !r.done(m.Release()) || !r.measure(nil) {
			return
		}
	} else {
		m.Close()
	}
	r.h.Sleep(2 * watchPeriod)
	r.dismissed(m)
	if err := use.InUse(); err != nil {
		r.Fail(leaked(err))
	}
}

// dismissed uses a file that is closed, and whose watch terminates: nothing waits for that.
func (r *run) dismissed(m *ncl.Maintained) {
	_, read := m.ReadAt(nil, 0)
	for _, err := range []error{m.Record(0, make([]byte, 8)), m.Repair(), m.Release(), read} {
		r.expect(fmt.Sprintf("the use of a closed file: %v", err), errors.Is(err, ncl.ErrClosed))
	}
	m.Maintain()
	m.Close()
	r.expect("the properties of a closed file", m.Size() == r.load.size && m.Stamp().Seq() == 1 && len(m.AlivePeers()) == len(m.Peers()))
}

// panics reports whether f panics with a message.
func panics(f func()) (yes bool) {
	defer func() { _, yes = recover().(string) }()
	f()
	return false
}
