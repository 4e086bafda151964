package cluster

import (
	"errors"
	"fmt"
	"time"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/host"
)

// LeastTTL is the shortest length of a session at [Serve]. A busy machine now and then
// stops a process for a part of that time, and four heartbeats must still fit.
const LeastTTL = 400 * time.Millisecond

// ttlKey is where a coordinator announces the length of its sessions.
const ttlKey = "session-ttl"

// ErrTTL: the controller announces an invalid length of sessions.
var ErrTTL = errors.New("cluster: invalid session length")

// sessionTTL returns the length of sessions at the controller c if they need our heartbeats,
// otherwise 0: the client of etcd sends its own.
func sessionTTL(c coord.Client) (time.Duration, error) {
	text, _, err := c.Get(ttlKey)
	if errors.Is(err, coord.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	ttl, err := time.ParseDuration(string(text))
	if err != nil || ttl < LeastTTL {
		return 0, fmt.Errorf("%w: the controller announces the session length %q: is it a 'verbatim-run ncl coord' of this release?",
			ErrTTL, text)
	}
	return ttl, nil
}

// period returns the interval at which to ask about a session of length ttl, at most most.
func period(ttl, most time.Duration) time.Duration {
	if ttl == 0 {
		return most
	}
	return min(ttl/4, most)
}

// onceOver retries until the session of an earlier holder has expired, at most for
// wait. taken is the error of a try that found an earlier holder. onceOver calls waits
// before it starts to wait.
func onceOver(h host.Host, ttl, wait time.Duration, taken error, try func() error, waits func()) error {
	pause := period(ttl/2, 200*time.Millisecond)
	err := try()
	if !errors.Is(err, taken) || wait < pause {
		return err
	}
	waits()
	for until := h.Now() + wait; errors.Is(err, taken) && h.Now()+pause <= until; {
		h.Sleep(pause)
		err = try()
	}
	return err
}

// atMost runs f in its own task, and waits until it has returned, or for limit. It
// polls at growing intervals: a host has no wait with a timeout for its own tasks.
func atMost(h host.Host, limit time.Duration, f func()) {
	mu, done := h.NewMutex(), false
	h.Go("at-most", func() {
		f()
		mu.Lock()
		done = true
		mu.Unlock()
	})
	for pause := time.Millisecond; pause < limit; pause *= 2 {
		h.Sleep(pause)
		mu.Lock()
		over := done
		mu.Unlock()
		if over {
			return
		}
	}
}
