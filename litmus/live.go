package litmus

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/litmus/lang"
)

// Live runs a test on real hosts, any number of times: with the simulator's
// interpreter, and with threads that run concurrently. Package litmus/device compares
// the results with a profile.
//
// A thread is blocked if it waits for a completion or a message, and no thread has
// begun a statement for LiveConfig.Patience. An until that has waited that long
// excludes the run, and so does an assume that does not hold, as in the simulator.
type Live struct {
	cfg      LiveConfig
	hosts    []host.Host
	r        *runner
	controls bool // the program changes queue pairs or registrations
	probes   []private
	clean    bool // the next run can reuse what the last one left
	steps    atomic.Uint64
	waits    []waiting // by thread
	over     atomic.Bool
	left     atomic.Bool // the run is excluded
	struck   atomic.Bool // by a fault
}

// waiting is since when a thread has observed no progress.
type waiting struct {
	saw   uint64 // steps, and 1
	since time.Duration
}

// LiveConfig configures runs on real hosts.
type LiveConfig struct {
	// Patience is how long nothing must happen before nothing more is expected. It must
	// exceed the time in which a card gives up on a peer.
	Patience time.Duration
	// Pause is called by each thread before each of its statements. May be nil.
	Pause func(thread int)
	// Strike and Heal carry out faults. Without Strike faults are refused.
	Strike func(k faults.Kind, hosts ...string) error
	Heal   func(a, b string) error
}

// ErrLeftOut: a loop of the run gave up, so the run has no outcome.
var ErrLeftOut = errors.New("litmus: a loop gave up")

// Late reports whether threads of the last run stopped waiting for completions, all of which
// arrived later, when the end of the run posted more requests. A lost completion never arrives.
func (l *Live) Late() (late bool) {
	for _, v := range l.r.vain {
		if v.cq != nil && !v.came {
			return false
		}
		late = late || v.came
	}
	return late
}

// Strike makes a fault happen now, during a run.
func (l *Live) Strike(k faults.Kind, hosts ...string) error {
	return liveMachine{l}.Strike(k, hosts...)
}

// NewLive prepares a test. hosts are those of the test, in its order; their cards must
// reach each other. Close releases their resources.
func NewLive(t *lang.Test, hosts []host.Host, cfg LiveConfig) (*Live, error) {
	p, err := resolve(t)
	if err != nil {
		return nil, err
	}
	if len(hosts) != len(p.hosts) || cfg.Patience <= 0 {
		return nil, fmt.Errorf("litmus: %s has %d hosts and got %d, and the patience %v must be more than 0", t.Name, len(p.hosts), len(hosts), cfg.Patience)
	}
	for _, g := range p.regs {
		g.asked = false // there is no search, so nothing must be remembered
	}
	l := &Live{cfg: cfg, hosts: hosts, waits: make([]waiting, len(p.threads))}
	for _, x := range p.threads {
		x.asked = false
		walk(x.spec.Body, func(s lang.Stmt) {
			switch s.(type) {
			case lang.Modify, lang.Destroy, lang.Connect, lang.Dereg:
				l.controls = true
			}
		})
	}
	l.r = newRunner(p, liveMachine{l})
	return l, nil
}

// Run runs the test once and returns its final state, formatted as by a search. The
// error wraps ErrLeftOut if the run has none, and ErrRefused if something failed that
// must succeed.
func (l *Live) Run() (string, error) {
	if err := l.renew(); err != nil {
		return "", err
	}
	m := l.r
	var ended sync.WaitGroup
	var atStart atomic.Int64
	n := int64(0)
	for _, t := range m.p.threads {
		if t.spec.Recover {
			continue
		}
		n++
		l.waits[t.idx] = waiting{}
		m.started[t.idx] = m.lives[t.host.idx][0]
	}
	ended.Add(int(n))
	for _, t := range m.p.threads {
		if t.spec.Recover {
			continue
		}
		h := l.hosts[t.host.idx]
		h.Go(t.spec.Name, func() {
			defer ended.Done()
			for atStart.Add(1); atStart.Load() < n; {
				runtime.Gosched()
			}
			m.thread(t, h, m.started[t.idx])
		})
	}
	ended.Wait()
	if m.refused != nil {
		l.clean = false
		return "", fmt.Errorf("%w: %w", ErrRefused, m.refused)
	}
	l.clean = l.drain() && !l.controls && !l.struck.Load()
	if l.left.Load() {
		return "", ErrLeftOut
	}
	m.finish(func(_ host.Host, r host.Region, off, n int) []byte {
		b := make([]byte, n)
		r.Load(off, b)
		return b
	})
	return m.final(), nil
}
