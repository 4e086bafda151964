package nclcheck

import (
	"errors"
	"fmt"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Hosts on which one thing fails that a run chooses: a call to the controller is lost, or its
// answer, or there is not enough of something.

var errLost = errors.New("lost, as the scenario wants it")

// once fails one of the calls that are counted, or none, as the run chooses.
type once struct {
	host    host.Host
	answers bool // the call may be carried out, and its answer lost
	spare   int  // so many calls before do not fail
	failed  bool
}

// pick is one of n ways to fail, once, or 0.
func (o *once) pick(n int) int {
	o.spare--
	if o.spare >= 0 || o.failed {
		return 0
	}
	way := o.host.Rand(n + 1)
	o.failed = way > 0
	return way
}

func (o *once) call(carryOut func() error) error {
	ways := 1
	if o.answers {
		ways = 2
	}
	switch o.pick(ways) {
	case 0:
		return carryOut()
	case 2:
		_ = carryOut()
	}
	return fmt.Errorf("%w: %w", coord.ErrUnavailable, errLost)
}

// losing is a way to the controller on which one call is lost.
type losing struct {
	coord.Client
	*once
}

func (l losing) Get(key string) (value []byte, version uint64, err error) {
	err = l.call(func() (err error) { value, version, err = l.Client.Get(key); return })
	return
}

func (l losing) Create(key string, value []byte, s coord.Session) error {
	return l.call(func() error { return l.Client.Create(key, value, s) })
}

func (l losing) Set(key string, value []byte, ifVersion uint64) (version uint64, err error) {
	err = l.call(func() (err error) { version, err = l.Client.Set(key, value, ifVersion); return })
	return
}

func (l losing) Delete(key string, ifVersion uint64) error {
	return l.call(func() error { return l.Client.Delete(key, ifVersion) })
}

func (l losing) List(prefix string) (keys []string, err error) {
	err = l.call(func() (err error) { keys, err = l.Client.List(prefix); return })
	return
}

func (l losing) NewSession() (s coord.Session, err error) {
	err = l.call(func() (err error) { s, err = l.Client.NewSession(); return })
	return
}

func (l losing) CheckSession(s coord.Session) error {
	return l.call(func() error { return l.Client.CheckSession(s) })
}

func (l losing) CloseSession(s coord.Session) error {
	return l.call(func() error { return l.Client.CloseSession(s) })
}

// short is a host that is out of something once. It counts what is in use of what a host can give
// back only when nothing is left in it.
type short struct {
	host.Host
	*once
	regions, pds, channels int
}

// took counts what was had, and gave what was given back.
func took(n *int, err error) error {
	if err == nil {
		*n++
	}
	return err
}

func gave(n *int, err error) error {
	if err == nil {
		*n--
	}
	return err
}

// inUse is what has not been given back, or nil.
func (s *short) inUse() error {
	if s.regions+s.pds+s.channels == 0 {
		return nil
	}
	return leaked(fmt.Errorf("the application still holds %d regions, %d protection domains and %d channels", s.regions, s.pds, s.channels))
}

func (s *short) Device() verbs.Device { return shortDevice{s.Host.Device(), s} }

func (s *short) Alloc(size int) (host.Region, error) {
	r := shortRegion{s: s}
	err := took(&s.regions, s.call(func() (err error) { r.Region, err = s.Host.Alloc(size); return }))
	if err != nil {
		return nil, err
	}
	return r, nil
}

type shortRegion struct {
	host.Region
	s *short
}

func (r shortRegion) Free() error { return gave(&r.s.regions, r.Region.Free()) }

type shortDevice struct {
	verbs.Device
	s *short
}

func (d shortDevice) AllocPD() (verbs.PD, error) {
	p := shortPD{s: d.s}
	err := took(&d.s.pds, d.s.call(func() (err error) { p.PD, err = d.Device.AllocPD(); return }))
	if err != nil {
		return nil, err
	}
	return p, nil
}

func (d shortDevice) CreateCompChannel() (verbs.CompChannel, error) {
	c := shortChannel{s: d.s}
	err := took(&d.s.channels, d.s.call(func() (err error) { c.CompChannel, err = d.Device.CreateCompChannel(); return }))
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (d shortDevice) CreateCQ(depth int, ch verbs.CompChannel) (cq verbs.CQ, err error) {
	if c, ok := ch.(shortChannel); ok {
		ch = c.CompChannel
	}
	err = d.s.call(func() (err error) { cq, err = d.Device.CreateCQ(depth, ch); return })
	return cq, err
}

type shortChannel struct {
	verbs.CompChannel
	s *short
}

func (c shortChannel) Destroy() error { return gave(&c.s.channels, c.CompChannel.Destroy()) }

type shortPD struct {
	verbs.PD
	s *short
}

func (p shortPD) RegisterMR(mem verbs.Memory, access verbs.Access) (mr verbs.MR, err error) {
	if r, ok := mem.(shortRegion); ok {
		mem = r.Region
	}
	err = p.s.call(func() (err error) { mr, err = p.PD.RegisterMR(mem, access); return })
	return mr, err
}

func (p shortPD) CreateQP(cfg verbs.QPConfig) (verbs.PreparedQP, error) {
	q := shortQP{s: p.s}
	err := p.s.call(func() (err error) { q.PreparedQP, err = p.PD.CreateQP(cfg); return })
	if err != nil {
		return nil, err
	}
	return q, nil
}

type shortQP struct {
	verbs.PreparedQP
	s *short
}

func (q shortQP) Connect(to verbs.Endpoint) (qp verbs.QP, err error) {
	err = q.s.call(func() (err error) { qp, err = q.PreparedQP.Connect(to); return })
	return qp, err
}

func (p shortPD) Dealloc() error { return gave(&p.s.pds, p.PD.Dealloc()) }
