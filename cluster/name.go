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

// namesPrefix is where a machine that lives has its name, in a session of its own, with its
// address: two that were given one name would be taken for one.
const namesPrefix = "names/"

// NameHeartbeat is how often a machine asks for the session of its name at most. Nobody waits
// for the answer.
const NameHeartbeat = 5 * time.Second

// closeWait is how long [Name.Close] waits for the controller.
const closeWait = time.Second

// ErrTaken: a machine of the same name lives at another address, or began at the same one later.
var ErrTaken = errors.New("the name is taken")

// NameConfig says which name, and where calls to it arrive.
type NameConfig struct {
	// Coord is the controller. It knows the caller by the name itself: a machine that starts
	// again may end the session of its life before.
	Coord coord.Client
	// Name and Addr are the machine's, neither with a space in it.
	Name, Addr string
	// Wait is how long to wait for the session of an earlier holder at another address.
	Wait time.Duration
	// Lost is called, once, by the heartbeat if the name goes to another machine later: nobody
	// finds this one any more. Its error wraps [ErrTaken].
	Lost func(error)
}

// Validate checks c. Its error wraps [ErrConfig].
func (c *NameConfig) Validate() error {
	switch {
	case c.Coord == nil || c.Lost == nil:
		return fmt.Errorf("%w: a name takes a controller, and somebody who learns that it is lost", ErrConfig)
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
	// tried are the sessions in which this machine has tried to take the name: one whose answer
	// was lost may have it.
	tried []coord.Session
	every time.Duration

	mu      host.Mutex
	session coord.Session // that has the name
	closed  bool
}

// Hold takes the name, and waits for the session of an earlier holder to be over. A holder at
// the same address is dead, since calls arrive here now: its session is ended. Its error wraps
// [ErrTaken] if another machine has the name.
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
		h.Logf("another peer %s lives, or died a moment ago: waiting up to %v for its session to end", cfg.Name, cfg.Wait)
	})
	if err != nil {
		return nil, err
	}
	h.Go("name", n.beat)
	return n, nil
}

// holder is an entry of a name: where its holder is, and its session.
type holder struct {
	addr    string
	session coord.Session
}

func (x holder) encode() []byte {
	return []byte(x.addr + " " + strconv.FormatUint(uint64(x.session), 10))
}

// decodeHolder takes an entry that makes no sense for one whose session nobody knows.
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

// mine reports whether x is an entry that this life has made without learning it.
func (n *Name) mine(x holder) bool { return slices.Contains(n.tried, x.session) }

// take enters the name, in a new session, and the address. over says whose session may be ended.
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

// has notes the session that has the name, unless the name is to be given back.
func (n *Name) has(s coord.Session) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return coord.ErrSessionExpired
	}
	n.session = s
	return nil
}

// enter makes the key of the name in session s. It ends the session of an earlier holder and
// leaves its key alone: a key of the same version may be another machine's by then.
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

// beat asks for the session until the name is given back or lost.
func (n *Name) beat() {
	for {
		n.h.Sleep(n.every)
		if n.finished() {
			return
		}
		switch again, err := n.renew(); {
		case errors.Is(err, ErrTaken):
			n.cfg.Lost(fmt.Errorf("the session of this peer was over, and now %w: nobody finds this one any more", err))
			return
		case again:
			n.h.Logf("the controller had lost sight of this peer, and has its name and address again; a coordinator that began anew lists it once it is started again")
			if ttl, err := sessionTTL(n.cfg.Coord); err == nil { // it may have begun anew with other sessions
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

// renew asks for the session. If that is over, because this machine or the controller stood
// still or began anew, it takes the name again. If not, it sets its address right: one that has
// lost the name without knowing it may have entered its own.
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

// Close gives the name back, if the controller answers within a second; else the session ends
// by itself.
func (n *Name) Close() {
	n.mu.Lock()
	n.closed = true
	s := n.session
	n.mu.Unlock()
	atMost(n.h, closeWait, func() { _ = n.cfg.Coord.CloseSession(s) })
}
