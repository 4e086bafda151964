package arcadia_test

import (
	"errors"
	"fmt"
	"maps"
	"testing"

	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/arcadia"
	"github.com/verbatim-rdma/verbatim/verbs"
	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// broken is a host on which one call fails, and which counts what it has handed out and not got back.
type broken struct {
	host.Host
	*calls
}

type calls struct {
	left   int    // until a call fails
	failed string // which one did; empty: none yet
	live   map[string]int
}

var errBroken = errors.New("the call is broken")

func breaking(h host.Host, call int) broken {
	return broken{h, &calls{left: call, live: map[string]int{}}}
}

// makes counts an object that a call has made.
func (c *calls) makes(object string, err error) error {
	if err == nil {
		c.live[object]++
	}
	return err
}

// breaks reports whether the call that is about to be made is the one to fail.
func (c *calls) breaks(what string) bool {
	if c.left--; c.left != 0 {
		return false
	}
	c.failed = what
	return true
}

func (c *calls) ends(object string) {
	if c.live[object]--; c.live[object] == 0 {
		delete(c.live, object)
	}
}

func (b broken) Device() verbs.Device { return brokenDevice{b.Host.Device(), b.calls} }

func (b broken) Alloc(size int) (host.Region, error) {
	if b.breaks("alloc") {
		return nil, errBroken
	}
	r, err := b.Host.Alloc(size)
	return countedRegion{r, b.calls}, b.makes("region", err)
}

func (b broken) OpenPMEM(name string, size int) (host.Region, error) {
	if b.breaks("open persistent memory") {
		return nil, errBroken
	}
	r, err := b.Host.OpenPMEM(name, size)
	return countedRegion{r, b.calls}, b.makes("region", err)
}

type countedRegion struct {
	host.Region
	*calls
}

func (r countedRegion) Free() error {
	r.ends("region")
	return r.Region.Free()
}

type brokenDevice struct {
	verbs.Device
	*calls
}

func (d brokenDevice) AllocPD() (verbs.PD, error) {
	if d.breaks("protection domain") {
		return nil, errBroken
	}
	pd, err := d.Device.AllocPD()
	return brokenPD{pd, d.calls}, d.makes("protection domain", err)
}

func (d brokenDevice) CreateCompChannel() (verbs.CompChannel, error) {
	if d.breaks("channel") {
		return nil, errBroken
	}
	return d.Device.CreateCompChannel()
}

func (d brokenDevice) CreateCQ(depth int, ch verbs.CompChannel) (verbs.CQ, error) {
	if d.breaks("completion queue") {
		return nil, errBroken
	}
	return d.Device.CreateCQ(depth, ch)
}

type brokenPD struct {
	verbs.PD
	*calls
}

func (d brokenPD) RegisterMR(m verbs.Memory, access verbs.Access) (verbs.MR, error) {
	if d.breaks("register") {
		return nil, errBroken
	}
	return d.PD.RegisterMR(m.(countedRegion).Region, access)
}

func (d brokenPD) CreateQP(cfg verbs.QPConfig) (verbs.PreparedQP, error) {
	if d.breaks("queue pair") {
		return nil, errBroken
	}
	q, err := d.PD.CreateQP(cfg)
	return brokenPrepared{q, d.calls}, d.makes("queue pair", err)
}

func (d brokenPD) Dealloc() error {
	d.ends("protection domain")
	return d.PD.Dealloc()
}

type brokenPrepared struct {
	verbs.PreparedQP
	*calls
}

func (q brokenPrepared) PostRecv(wrs []verbs.RecvWR) error {
	if q.breaks("first receives") {
		return errBroken
	}
	return q.PreparedQP.PostRecv(wrs)
}

func (q brokenPrepared) Connect(to verbs.Endpoint) (verbs.QP, error) {
	if q.breaks("connect") {
		return nil, errBroken
	}
	qp, err := q.PreparedQP.Connect(to)
	return brokenQP{qp, q.calls}, err
}

func (q brokenPrepared) Destroy() error {
	q.ends("queue pair")
	return q.PreparedQP.Destroy()
}

type brokenQP struct {
	verbs.QP
	*calls
}

func (q brokenQP) PostSend(wrs []verbs.SendWR) error {
	if q.breaks("send") {
		return errBroken
	}
	return q.QP.PostSend(wrs)
}

func (q brokenQP) PostRecv(wrs []verbs.RecvWR) error {
	if q.breaks("receives") {
		return errBroken
	}
	return q.QP.PostRecv(wrs)
}

func (q brokenQP) Destroy() error {
	q.ends("queue pair")
	return q.QP.Destroy()
}

// nothingLeft reports what a host has not got back.
func (b broken) nothingLeft() error {
	if len(b.live) > 0 {
		return fmt.Errorf("after %s failed, these are left: %v", b.failed, maps.Clone(b.live))
	}
	return nil
}

// everyCall runs a test with each call of a host broken, until none is.
func everyCall(t *testing.T, service func() sim.Service, app func(h host.Host, call int) (failed string, err error), backups ...func(host.Host) error) {
	t.Helper()
	for call := 1; !t.Failed(); call++ {
		failed := ""
		runIn(t, service(), func(_ *sim.World, h host.Host) (err error) {
			failed, err = app(h, call)
			return err
		}, backups...)
		if failed == "" {
			if call < 6 {
				t.Errorf("only %d calls were broken", call-1)
			}
			return
		}
	}
}

// Whatever call of the primary's host fails, Open or the operation says so, and nothing is left behind.
func TestEveryBrokenCallOfAPrimary(t *testing.T) {
	for _, alone := range []bool{true, false} {
		everyCall(t, scenario.Controller, func(h host.Host, call int) (string, error) {
			b := breaking(h, call)
			cfg := arcadia.Config{Name: "log", Size: logSize}
			if !alone {
				cfg = config(b, "backup1")
				cfg.Coord = scenario.Dial(h)
			}
			err := uses(b, cfg)
			switch {
			case b.failed == "" && err != nil:
				return "", fmt.Errorf("nothing failed: %w", err)
			case b.failed != "" && !errors.Is(err, errBroken):
				return "", fmt.Errorf("%s failed, and the error is %w", b.failed, err)
			}
			return b.failed, b.nothingLeft()
		}, serve)
	}
}

// If one of three copies fails at any moment of a recovery from other hosts, no forced record is missing.
func TestEveryBrokenCallOfARecovery(t *testing.T) {
	everyCall(t, scenario.Controller, func(h host.Host, call int) (string, error) {
		b := breaking(h, call)
		cfg := config(b, "backup1", "backup2", "backup3")
		cfg.RemoteOnly, cfg.Quorum, cfg.Coord = true, 2, scenario.Dial(h)
		if err := uses(b, cfg); err != nil && !errors.Is(err, errBroken) {
			return b.failed, fmt.Errorf("%q failed, and the error is %w", b.failed, err)
		}
		return b.failed, b.nothingLeft()
	}, serve, serve, serve)
}

// uses creates a log, and opens it again: enough requests to need more receives, and to free slots of the send queue.
func uses(h host.Host, cfg arcadia.Config) error {
	for life := range 2 {
		l, err := arcadia.Open(h, cfg)
		if err != nil {
			return err
		}
		n := 0
		err = l.Each(func(*arcadia.Record, []byte) error { n++; return nil })
		if life == 1 && n != 1 {
			return fmt.Errorf("%d records, want 1", n)
		}
		if err := errors.Join(err, l.CleanupAll()); err != nil {
			return errors.Join(err, l.Close())
		}
		for range 17 {
			r, err := l.Append([]byte("contents"))
			if err == nil {
				err = l.Cleanup(r)
			}
			if err != nil {
				return errors.Join(err, l.Close())
			}
		}
		if _, err := l.Append([]byte("contents")); err != nil {
			return errors.Join(err, l.Close())
		}
		if err := l.Close(); err != nil {
			return err
		}
	}
	return nil
}

// Whatever call of a backup's host fails, the primary learns that the copy has failed, or the backup that it cannot serve; the
// next primary finds the log.
func TestEveryBrokenCallOfABackup(t *testing.T) {
	for call := 1; !t.Failed(); call++ {
		var b broken
		var served error
		runIn(t, scenario.Controller(), func(_ *sim.World, h host.Host) error {
			err := uses(h, config(h, "backup1"))
			switch {
			case b.failed == "" && err != nil:
				return fmt.Errorf("nothing failed: %w", err)
			case b.failed != "" && served == nil && err == nil:
				return fmt.Errorf("%s failed, and nobody knows", b.failed)
			case b.failed == "":
				return nil
			}
			if err := uses(h, config(h, "backup1")); err != nil {
				return fmt.Errorf("%s failed once, and then the log cannot be used: %w", b.failed, err)
			}
			return nil
		}, func(h host.Host) error {
			b = breaking(h, call)
			if served = serve(b); !errors.Is(served, errBroken) || b.nothingLeft() != nil {
				t.Errorf("%s failed, and the backup says %v; %v", b.failed, served, b.nothingLeft())
			}
			return serve(h)
		})
		if b.live["queue pair"] > 1 {
			t.Errorf("after %s failed, %d queue pairs are left", b.failed, b.live["queue pair"])
		}
		if b.failed == "" {
			if call < 20 {
				t.Errorf("only %d calls were broken", call-1)
			}
			return
		}
	}
}
