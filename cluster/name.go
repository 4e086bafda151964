package cluster

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/host"
)

// namesPrefix holds the name and address of each live machine, in a session of its own.
// Otherwise two machines could use the same name.
const namesPrefix = "names/"

// NameHeartbeat is the longest interval at which a machine asks about the session of
// its name. Nothing waits for the answer.
const NameHeartbeat = 5 * time.Second

// closeWait is how long [Name.Close] waits for the controller.
const closeWait = time.Second

// ErrTaken: a live machine at another address holds the name, or one started later at
// the same address.
var ErrTaken = errors.New("the name is taken")

// NameConfig is a name, and where calls to it arrive.
type NameConfig struct {
	// Coord is the controller. It identifies the caller by the same name, so a
	// restarted machine may close the session of its earlier life.
	Coord coord.Client
	// Name and Addr are the machine's, without spaces.
	Name, Addr string
	// Wait is how long to wait for the session of an earlier holder at another address.
	Wait time.Duration
	// Lost is called once if a heartbeat finds that another machine has the name by
	// now: then this machine can no longer be found. The error wraps [ErrTaken].
	Lost func(error)
}

// Validate checks c. Its error wraps [ErrConfig].
func (c *NameConfig) Validate() error {
	switch {
	case c.Coord == nil || c.Lost == nil:
		return fmt.Errorf("%w: a name needs Coord and Lost", ErrConfig)
	case c.Name == "" || c.Addr == "" || strings.Contains(c.Name+c.Addr, " "):
		return fmt.Errorf("%w: the name %q at address %q", ErrConfig, c.Name, c.Addr)
	case c.Wait < 0:
		return fmt.Errorf("%w: a wait of %v", ErrConfig, c.Wait)
	}
	return nil
}

// Name is a machine's right to its name.
type Name struct {
	h   host.Host
	cfg NameConfig
	// tried are the sessions in which this machine has tried to claim the name: one
	// whose answer was lost may hold it.
	tried []coord.Session
	every time.Duration

	mu      host.Mutex
	session coord.Session // which holds the name
	closed  bool
}

// Hold claims the name, and waits for the session of an earlier holder to expire. A
// holder at the same address is dead, since calls now arrive here: Hold closes its
// session. The error wraps [ErrTaken] if another machine holds the name.
func Hold(h host.Host, cfg NameConfig) (*Name, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	ttl, err := sessionTTL(cfg.Coord)
	if err != nil {
		return nil, err
	}
	n := &Name{h: h, cfg: cfg, every: period(ttl, NameHeartbeat), mu: h.NewMutex()}
	err = onceOver(h, ttl, cfg.Wait, ErrTaken, func() error { return n.take(n.dead) }, func() {
		h.Logf("another peer %s is running, or died recently: waiting up to %v for its session to expire", cfg.Name, cfg.Wait)
	})
	if err != nil {
		return nil, err
	}
	h.Go("name", n.beat)
	return n, nil
}

// holder is the entry of a name: the address of its holder, and its session.
type holder struct {
	addr    string
	session coord.Session
}

func (x holder) encode() []byte {
	return []byte(x.addr + " " + strconv.FormatUint(uint64(x.session), 10))
}

// decodeHolder returns an unknown session for a malformed entry.
func decodeHolder(b []byte) holder {
	addr, number, _ := strings.Cut(string(b), " ")
	s, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		s = uint64(coord.NoSession)
	}
	return holder{addr, coord.Session(s)}
}

// dead reports whether x is an earlier life of this machine.
func (n *Name) dead(x holder) bool { return x.addr == n.cfg.Addr && x.session != coord.NoSession }

// mine reports whether x is an entry that this life created without learning of it.
func (n *Name) mine(x holder) bool { return slices.Contains(n.tried, x.session) }

// take enters the name, in a new session, and the address. over reports whether the
// session of a holder may be closed.
func (n *Name) take(over func(holder) bool) error {
	s, err := n.cfg.Coord.NewSession()
	if err != nil {
		return err
	}
	n.tried = append(n.tried, s)
	if err = n.enter(s, over); err == nil {
		err = publish(n.cfg.Coord, n.cfg.Name, n.cfg.Addr)
	}
	if err == nil {
		err = n.has(s)
	}
	if err != nil {
		return errors.Join(err, n.cfg.Coord.CloseSession(s))
	}
	n.tried = n.tried[:0]
	return nil
}

// has records the session that holds the name, unless the name is being released.
func (n *Name) has(s coord.Session) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return coord.ErrSessionExpired
	}
	n.session = s
	return nil
}

// enter creates the key of the name in session s. It closes the session of an earlier
// holder rather than delete its key: a key with the same version may by then belong to
// another machine.
func (n *Name) enter(s coord.Session, over func(holder) bool) error {
	c, key := n.cfg.Coord, namesPrefix+n.cfg.Name
	for {
		err := c.Create(key, holder{n.cfg.Addr, s}.encode(), s)
		if !errors.Is(err, coord.ErrExists) {
			return err
		}
		value, _, err := c.Get(key)
		x := decodeHolder(value)
		switch {
		case errors.Is(err, coord.ErrNotFound):
			continue
		case err != nil:
			return err
		case !over(x):
			return fmt.Errorf("%w: a peer %s lives at %s, and this one is at %s", ErrTaken, n.cfg.Name, x.addr, n.cfg.Addr)
		}
		if err := c.CloseSession(x.session); err != nil && !errors.Is(err, coord.ErrSessionExpired) {
			return err
		}
	}
}

// beat asks about the session until the name is released or lost.
func (n *Name) beat() {
	for {
		n.h.Sleep(n.every)
		if n.finished() {
			return
		}
		switch again, err := n.renew(); {
		case errors.Is(err, ErrTaken):
			n.cfg.Lost(fmt.Errorf("the session of this peer expired, and now %w: other processes can no longer find this peer", err))
			return
		case again:
			n.h.Logf("the controller had lost the registration of this peer, and has its name and address again; if the coordinator was restarted, it lists this peer only after a restart of the peer")
			if ttl, err := sessionTTL(n.cfg.Coord); err == nil { // it may have restarted with sessions of another length
				n.every = period(ttl, NameHeartbeat)
			}
		}
	}
}

func (n *Name) finished() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.closed
}

// renew asks about the session. If it has expired, because this machine or the
// controller was stopped or restarted, renew claims the name again. Otherwise it
// corrects the address: a machine that lost the name unknowingly may have entered its
// own.
func (n *Name) renew() (again bool, err error) {
	n.mu.Lock()
	s := n.session
	n.mu.Unlock()
	err = n.cfg.Coord.CheckSession(s)
	switch {
	case err == nil:
		return false, publish(n.cfg.Coord, n.cfg.Name, n.cfg.Addr)
	case !errors.Is(err, coord.ErrSessionExpired):
		return false, err
	}
	err = n.take(n.mine)
	return err == nil, err
}

// Close releases the name, if the controller answers within a second; otherwise the
// session expires by itself.
func (n *Name) Close() {
	n.mu.Lock()
	n.closed = true
	s := n.session
	n.mu.Unlock()
	atMost(n.h, closeWait, func() { _ = n.cfg.Coord.CloseSession(s) })
}
