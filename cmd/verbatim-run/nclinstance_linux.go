package main

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
	"github.com/verbatim-rdma/verbatim/splitfs"
)

// heartbeat is how often an instance asks for its session, which keeps it alive at
// `verbatim-run ncl coord`; more often if sessions are short there.
const heartbeat = 500 * time.Millisecond

// instance is the one process of an application that may use its files, as long as
// its session lives.
type instance struct {
	claim *ncl.Instance
	every time.Duration // how often to ask for the session
	over  atomic.Bool
	end   chan struct{}
	logf  func(format string, args ...any)
}

// start claims the application, and waits for an earlier instance to end.
func start(cfg ncl.Config, wait time.Duration, logf func(format string, args ...any)) (*instance, error) {
	ttl, err := sessionTTL(cfg.Coord)
	if err != nil {
		return nil, err
	}
	every := asksEvery(ttl, heartbeat)
	i := &instance{every: every, end: make(chan struct{}), logf: logf}
	err = onceOver(ttl, wait, ncl.ErrRunning, func() (err error) {
		i.claim, err = ncl.Start(cfg)
		return err
	}, func() {
		logf("another instance runs, or died a moment ago: waiting up to %v for its session to end", wait)
	})
	switch {
	case errors.Is(err, ncl.ErrRunning):
		return nil, fmt.Errorf("%w; it did not end in %v (--wait). One that was killed is in its session for some time yet; a name of its own (--app) keeps another application apart",
			err, wait)
	case err != nil:
		return nil, err
	}
	go i.beat()
	return i, nil
}

// onceOver tries until another one's session is over, of which the error taken speaks, at
// most for wait. waits is called if it has to.
func onceOver(ttl, wait time.Duration, taken error, try func() error, waits func()) error {
	pause := asksEvery(ttl/2, 200*time.Millisecond)
	for first, until := true, time.Now().Add(wait); ; first = false {
		err := try()
		if !errors.Is(err, taken) || time.Now().Add(pause).After(until) {
			return err
		}
		if first {
			waits()
		}
		time.Sleep(pause)
	}
}

// beat asks for the session until it is over, and says so at once: an instance with
// nothing to write would not learn of it for a long time.
func (i *instance) beat() {
	for {
		select {
		case <-i.end:
			return
		case <-time.After(i.every):
		}
		if errors.Is(i.claim.Check(), coord.ErrSessionExpired) {
			select {
			case <-i.end: // it was given back
				return
			default:
			}
			if !i.over.Swap(true) {
				i.logf("%v", errOver)
			}
			return
		}
	}
}

// close lets the next instance begin at once.
func (i *instance) close() {
	close(i.end)
	_ = i.claim.Close() // else the session ends by itself
}

// errOver says that the session is over.
var errOver = fmt.Errorf("the session of this instance is over, because the controller did not hear of it for too long, or ended it; "+
	"another instance may have its files now: start again, which recovers what was acknowledged: %w", coord.ErrSessionExpired)

// check is an error if the session is known to be over.
func (i *instance) check() error {
	if i.over.Load() {
		return errOver
	}
	return nil
}

// ask is check with an answer of the controller, if it can be had. Between the answer and
// what follows there is a moment, in which the session can end.
func (i *instance) ask() error {
	if !i.over.Load() && errors.Is(i.claim.Check(), coord.ErrSessionExpired) {
		i.over.Store(true)
	}
	return i.check()
}

// why adds to the error of an operation that the session is over, if it is.
func (i *instance) why(err error) error {
	if err != nil && (i.over.Load() || errors.Is(i.claim.Check(), coord.ErrSessionExpired)) {
		return fmt.Errorf("%w (%w)", errOver, err)
	}
	return err
}

// ownFile is a file of an instance: it is written only while the session lives, and
// failed peers are replaced.
type ownFile struct {
	ncl.Maintained
	i *instance
}

// repairEvery is how often to look for another peer while there are too few.
const repairEvery = 5 * time.Second

// own makes file the instance's. told hears of each repair.
func (i *instance) own(file *ncl.File, told func(error)) *ownFile {
	return &ownFile{ncl.Maintained{File: file, Every: repairEvery, Told: told}, i}
}

// Record writes unless the session is over.
func (f *ownFile) Record(off int, data []byte) error {
	if err := f.i.check(); err != nil {
		return err
	}
	return f.i.why(f.Maintained.Record(off, data))
}

// ownStore is the store of a file system of an instance.
type ownStore struct {
	splitfs.Store
	i *instance
}

func (s ownStore) Create(object string, size int) (splitfs.Object, error) {
	return s.own(func() (splitfs.Object, error) { return s.Store.Create(object, size) })
}

func (s ownStore) Recover(object string) (splitfs.Object, error) {
	return s.own(func() (splitfs.Object, error) { return s.Store.Recover(object) })
}

func (s ownStore) own(open func() (splitfs.Object, error)) (splitfs.Object, error) {
	if err := s.i.ask(); err != nil {
		return nil, err
	}
	o, err := open()
	if err != nil {
		return nil, err
	}
	return ownObject{o, s.i}, nil
}

type ownObject struct {
	splitfs.Object
	i *instance
}

func (o ownObject) Record(off int, data []byte) error {
	if err := o.i.check(); err != nil {
		return err
	}
	return o.Object.Record(off, data)
}

func (o ownObject) Release() error {
	if err := o.i.ask(); err != nil {
		return err
	}
	return o.Object.Release()
}
