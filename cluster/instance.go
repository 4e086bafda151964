package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/host"
)

// DefaultHeartbeat is the longest interval at which an instance asks about its session.
// It bounds how late an idle instance learns of the expiry.
const DefaultHeartbeat = 500 * time.Millisecond

// ErrOver: the session of an instance has expired. It wraps coord.ErrSessionExpired.
var ErrOver = fmt.Errorf("the session of this instance is over: it expired, or the controller closed it; "+
	"another instance may own its files now: restart to recover the acknowledged data: %w", coord.ErrSessionExpired)

// ErrConfig: a configuration exceeds the limits.
var ErrConfig = errors.New("cluster: bad configuration")

// Right is the right to be the only instance of an application, in a session: an
// *ncl.Instance.
type Right interface {
	// Check returns nil if the caller held the right at some moment during the call.
	// The error wraps coord.ErrSessionExpired if the session has expired.
	Check() error
	// Close releases the right.
	Close() error
}

// InstanceConfig describes the application, and how long to wait for its previous
// instance.
type InstanceConfig struct {
	// Coord is the controller.
	Coord coord.Client
	// Claim acquires the right, as ncl.Start does. Its error wraps coord.ErrExists if
	// another instance holds the right.
	Claim func() (Right, error)
	// Wait is how long to retry while another instance holds the right.
	Wait time.Duration
	// Heartbeat is the longest interval between questions about the session; it is
	// shorter if sessions are short. Default [DefaultHeartbeat].
	Heartbeat time.Duration
}

// Validate checks c. Its error wraps [ErrConfig].
func (c *InstanceConfig) Validate() error {
	switch {
	case c.Coord == nil || c.Claim == nil:
		return fmt.Errorf("%w: an instance needs Coord and Claim", ErrConfig)
	case c.Wait < 0 || c.Heartbeat < 0:
		return fmt.Errorf("%w: a wait of %v, a heartbeat every %v", ErrConfig, c.Wait, c.Heartbeat)
	}
	return nil
}

// Instance is the one process of an application that may use its files, as long as its
// session lives. Any task may call its methods.
type Instance struct {
	h     host.Host
	right Right
	every time.Duration // how often to ask about the session

	mu     host.Mutex
	over   bool // the session is known to have expired
	closed bool
}

// Start claims the application, and waits for an earlier instance to be gone. If it is
// still there, the error is that of cfg.Claim, which wraps coord.ErrExists.
func Start(h host.Host, cfg InstanceConfig) (*Instance, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg.Heartbeat = cmp.Or(cfg.Heartbeat, DefaultHeartbeat)
	ttl, err := sessionTTL(cfg.Coord)
	if err != nil {
		return nil, err
	}
	i := &Instance{h: h, every: period(ttl, cfg.Heartbeat), mu: h.NewMutex()}
	err = onceOver(h, ttl, cfg.Wait, coord.ErrExists, func() (err error) {
		i.right, err = cfg.Claim()
		return err
	}, func() {
		h.Logf("another instance is running, or died recently: waiting up to %v for its session to expire", cfg.Wait)
	})
	if err != nil {
		return nil, err
	}
	h.Go("heartbeat", i.beat)
	return i, nil
}

// beat asks about the session until it has expired, and reports that at once: an
// instance that writes nothing would not learn of it for a long time.
func (i *Instance) beat() {
	for {
		i.h.Sleep(i.every)
		if i.finished() {
			return
		}
		if i.learn() {
			i.h.Logf("%v", ErrOver)
		}
	}
}

// finished reports whether heartbeats are no longer needed.
func (i *Instance) finished() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.closed || i.over
}

// learn asks the controller, and reports whether it finds the session expired for the
// first time. A session that was closed in the meantime does not count.
func (i *Instance) learn() bool {
	expired := errors.Is(i.right.Check(), coord.ErrSessionExpired)
	i.mu.Lock()
	defer i.mu.Unlock()
	if !expired || i.closed || i.over {
		return false
	}
	i.over = true
	return true
}

// Close releases the application, so that the next instance can start at once. If the
// controller does not answer, the session expires by itself.
func (i *Instance) Close() {
	i.mu.Lock()
	i.closed = true
	i.mu.Unlock()
	_ = i.right.Close()
}

// Check returns [ErrOver] if the last heartbeat found the session expired. It sends
// nothing: see the package comment for its limits.
func (i *Instance) Check() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.over {
		return ErrOver
	}
	return nil
}

// Ask asks the controller first, and falls back to Check if there is no answer. The
// session can expire between the answer and the operation that follows.
func (i *Instance) Ask() error {
	if err := i.Check(); err != nil {
		return err
	}
	i.learn()
	return i.Check()
}

// Explain adds [ErrOver] to the error of an operation if the session has expired.
func (i *Instance) Explain(err error) error {
	if err == nil || errors.Is(err, ErrOver) {
		return err
	}
	if over := i.Ask(); over != nil {
		return fmt.Errorf("%w (%w)", over, err)
	}
	return err
}
