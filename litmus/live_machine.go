package litmus

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/fingerprint"
	"github.com/verbatim-rdma/verbatim/host"
)

// liveMachine is the machine of real hosts.
type liveMachine struct{ l *Live }

func (m liveMachine) Strike(k faults.Kind, hosts ...string) error {
	if m.l.cfg.Strike == nil {
		return fmt.Errorf("%w: the fault %v on real hosts", errors.ErrUnsupported, k)
	}
	m.l.struck.Store(true)
	return m.l.cfg.Strike(k, hosts...)
}

func (m liveMachine) Heal(a, b string) {
	if m.l.cfg.Heal == nil {
		return
	}
	if err := m.l.cfg.Heal(a, b); err != nil {
		m.l.r.broken(err)
	}
}

// Abandon excludes the run.
func (m liveMachine) Abandon() {
	m.l.left.Store(true)
	m.l.over.Store(true)
}

// Fail ends the run: the other threads stop waiting.
func (m liveMachine) Fail(error) { m.l.over.Store(true) }

// Remember is for searches.
func (m liveMachine) Remember(fingerprint.Print) {}

// Alive is true: hosts never fail here.
func (m liveMachine) Alive(host.Host) bool { return true }

// Step counts, and pauses.
func (m liveMachine) Step(t *threadProg) {
	m.l.waits[t.idx] = waiting{}
	if m.l.cfg.Pause != nil {
		m.l.cfg.Pause(t.idx)
	}
	m.l.steps.Add(1)
}

// Patience is a small part of the total, so that waiting threads soon notice that the
// run is over.
func (m liveMachine) Patience() time.Duration { return max(m.l.cfg.Patience/50, time.Millisecond) }

// Again is false if no thread has made progress for too long.
func (m liveMachine) Again(t *threadProg) bool {
	if m.l.over.Load() {
		return false
	}
	runtime.Gosched()
	w := &m.l.waits[t.idx]
	now, saw := m.l.hosts[0].Now(), m.l.steps.Load()+1
	if w.saw != saw {
		*w = waiting{saw, now}
	}
	return now-w.since < m.l.cfg.Patience
}
