package nclcheck

import (
	"errors"
	"time"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/faults"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
)

// The scripts of the scenarios in which the controller is unreachable, or instances
// lose their sessions.

// insisting creates the file, replaces a peer and deletes the file. The controller may
// be unreachable at any moment: failed operations are repeated when it is back.
func insisting(r *run) {
	r.expose(true)
	f, err := ncl.Create(r.h, r.config(), r.file.name, r.load.size)
	if r.anew(err) {
		if f, err = ncl.Create(r.h, r.config(), r.file.name, r.load.size); errors.Is(err, ncl.ErrExists) {
			f, err = ncl.Recover(r.h, r.config(), r.file.name)
		}
	}
	if err == nil && r.load.loses == "" {
		return
	}
	if !r.done(err) || !r.inject(faults.Revoke, r.load.loses) || !r.writeAll(f) {
		return
	}
	err = f.Repair()
	if errors.Is(err, coord.ErrUnavailable) {
		err = f.Repair() // the controller may still be unreachable
	}
	if r.anew(err) {
		err = f.Repair()
	}
	if !r.done(err) || !r.writeAll(f) {
		return
	}
	r.file.released = true
	r.History()
	err = f.Release()
	if errors.Is(err, coord.ErrUnavailable) {
		err = f.Release()
	}
	if r.anew(err) {
		err = f.Release()
	}
	if !r.done(err) {
		return
	}
	r.expose(false)
	r.Heal("app", scenario.Coord)
	r.healAll()
	r.checkLeaks(nil)
}

// anew reports whether to repeat an operation, now that the controller is back.
func (r *run) anew(err error) bool {
	if !errors.Is(err, coord.ErrUnavailable) {
		return false
	}
	r.Meet(sawUnheard)
	r.expose(false)
	r.Heal("app", scenario.Coord)
	return true
}

// done reports whether an operation has succeeded, as it must.
func (r *run) done(err error) bool {
	if err != nil {
		r.Fail(unavailable(err))
	}
	return err == nil
}

// deaf collects while a peer cannot reach the controller: no region that the file
// claims may be freed, and all leaked ones are freed afterwards.
func deaf(r *run) {
	r.expose(true)
	f := r.open()
	if f == nil && r.life == 0 || !r.last() {
		return
	}
	r.expose(false)
	r.Heal("peer1", scenario.Coord)
	r.checkLeaks(f)
}

// exclusive is an instance that asks the controller whether it is still the only instance.
func exclusive(r *run) {
	i := r.enter()
	if i == nil {
		return
	}
	if r.life == 0 {
		if !r.inject(faults.Suspect, "app") {
			return
		}
		if r.h.Rand(2) == 1 {
			r.h.Sleep(time.Second) // until the next instance is done
		}
	}
	for range 2 {
		inside, expired := r.inside, r.expired
		err := i.Check()
		switch {
		case err == nil && inside > r.life:
			r.Fail(twoInstances())
			return
		case err != nil && !r.expired && !expired:
			r.Fail(unavailable(err))
			return
		case err != nil:
			r.Meet(sawOusted)
		}
	}
	err := i.Close()
	if err != nil && !r.expired {
		r.Fail(unavailable(err))
	}
}

// enter waits for the session of the previous instance to expire, and makes the
// controller expire the session if the instance is still alive.
func (r *run) enter() *ncl.Instance {
	for {
		i, err := ncl.Start(r.config())
		if err == nil {
			r.inside = r.life
			r.History()
			r.expect("an instance", i != nil)
			return i
		}
		if !errors.Is(err, ncl.ErrRunning) || r.life == 0 || r.expired {
			r.Fail(unavailable(err))
			return nil
		}
		r.expired = true
		r.History()
		if !r.Check(scenario.Expire(r.h, "app")) {
			return nil
		}
	}
}

// restarting starts and closes an instance, and one call to the controller fails. After
// an error it repeats the operation.
func restarting(r *run) {
	cfg := r.config()
	once := &scenario.Once{By: r.h, Answers: true}
	cfg.Coord = once.Losing(cfg.Coord)
	excused := r.lost(sawUnheard)
	var i *ncl.Instance
	for _, do := range []func() error{
		func() (err error) { i, err = ncl.Start(cfg); return },
		func() error { return i.Check() },
		func() error { return i.Close() },
	} {
		err := do()
		if err != nil && excused(err) {
			if err = do(); i != nil && i.Check() != nil && errors.Is(err, coord.ErrSessionExpired) {
				err = nil // the session was closed
			}
		}
		if !r.done(err) {
			return
		}
	}
	if !r.expect("a session that was closed", i.Check() != nil) {
		return
	}
	next, err := ncl.Start(r.config())
	if !r.done(err) || !r.done(next.Check()) {
		return
	}
	if _, err := ncl.Start(r.config()); !r.expect("a second instance", errors.Is(err, ncl.ErrRunning)) {
		return
	}
	r.done(next.Check())
}

// twoInstances: the session of one instance was alive when another one had begun.
func twoInstances() error {
	return scenario.Failed("two-instances", "two instances: an instance was confirmed after a later instance had begun")
}
