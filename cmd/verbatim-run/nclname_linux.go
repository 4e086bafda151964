package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/verbatim-rdma/verbatim/coord"
)

// namesPrefix is where a peer that lives has its name, with its address, in a session of
// its own: two that have been given one name would be taken for one.
const namesPrefix = "names/"

// nameHeartbeat is how often a peer asks for its session: nobody waits for the answer.
const nameHeartbeat = 5 * time.Second

// errNameTaken: a peer of the same name lives at another address.
var errNameTaken = errors.New("the name is taken")

// heldName is a peer's right to its name.
type heldName struct {
	c          coord.Client
	name, addr string
	session    coord.Session
	end, done  chan struct{}
}

// holdName takes the name for a peer at addr, and waits for the session of an earlier one
// to end. lost hears if the name goes to another one later.
func holdName(c coord.Client, name, addr string, wait time.Duration, logf func(format string, args ...any), lost func(error)) (*heldName, error) {
	ttl, err := sessionTTL(c)
	if err != nil {
		return nil, err
	}
	n := &heldName{c: c, name: name, addr: addr, end: make(chan struct{}), done: make(chan struct{})}
	err = onceOver(ttl, wait, errNameTaken, n.take, func() {
		logf("another peer %s lives, or died a moment ago: waiting up to %v for its session to end", name, wait)
	})
	switch {
	case errors.Is(err, errNameTaken):
		return nil, fmt.Errorf("%w. Give one of them another --name, or end the other one; one that was killed keeps its name until its session ends, which --wait (%v) waits for", err, wait)
	case err != nil:
		return nil, err
	}
	go n.beat(asksEvery(ttl, nameHeartbeat), logf, lost)
	return n, nil
}

// take enters the name, in a new session, and the address.
func (n *heldName) take() error {
	s, err := n.c.NewSession()
	if err != nil {
		return err
	}
	if err = n.enter(s); err == nil {
		err = publish(n.c, n.name, n.addr)
	}
	if err != nil {
		return errors.Join(err, n.c.CloseSession(s))
	}
	n.session = s
	return nil
}

func (n *heldName) enter(s coord.Session) error {
	for {
		err := n.c.Create(namesPrefix+n.name, []byte(n.addr), s)
		if !errors.Is(err, coord.ErrExists) {
			return err
		}
		other, version, err := n.c.Get(namesPrefix + n.name)
		if err == nil && string(other) != n.addr {
			return fmt.Errorf("%w: a peer %s lives at %s, and this one is at %s", errNameTaken, n.name, other, n.addr)
		}
		if err == nil { // it was here, where this one takes calls now: it is dead
			err = n.c.Delete(namesPrefix+n.name, version)
		}
		if err != nil && !errors.Is(err, coord.ErrNotFound) && !errors.Is(err, coord.ErrVersion) {
			return err
		}
	}
}

// beat asks for the session until the name is given back or lost.
func (n *heldName) beat(every time.Duration, logf func(format string, args ...any), lost func(error)) {
	defer close(n.done)
	for {
		select {
		case <-n.end:
			return
		case <-time.After(every):
		}
		switch again, err := n.renew(); {
		case errors.Is(err, errNameTaken):
			lost(fmt.Errorf("the session of this peer was over, and now %w: nobody finds this one any more", err))
			return
		case again:
			logf("the controller had lost sight of this peer, and has its name and address again; a coordinator that began anew lists it once it is started again")
			if ttl, err := sessionTTL(n.c); err == nil { // it may have begun anew with other sessions
				every = asksEvery(ttl, nameHeartbeat)
			}
		}
	}
}

// renew asks for the session. If that is over, because the peer or the controller stood
// still or began anew, it takes the name again.
func (n *heldName) renew() (again bool, err error) {
	if err := n.c.CheckSession(n.session); !errors.Is(err, coord.ErrSessionExpired) {
		return false, err
	}
	err = n.take()
	return err == nil, err
}

// close gives the name back, if the controller answers soon; else the session ends by
// itself.
func (n *heldName) close() {
	close(n.end)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		<-n.done
		_ = n.c.CloseSession(n.session)
	}()
	select {
	case <-gone:
	case <-time.After(time.Second):
	}
}
