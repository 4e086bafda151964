package scenario

import (
	"fmt"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Short is a host that once lacks a resource: memory, or an object of its card. It
// counts what is in use of those that can be released only when empty.
type Short struct {
	host.Host
	*Once
	regions, pds, channels int
}

// took counts acquisitions, and gave counts releases.
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

// InUse returns an error that names what has not been released, or nil.
func (s *Short) InUse() error {
	if s.regions+s.pds+s.channels == 0 {
		return nil
	}
	return fmt.Errorf("the host still holds %d regions, %d protection domains and %d channels", s.regions, s.pds, s.channels)
}

// Device implements host.Host.
func (s *Short) Device() verbs.Device { return shortDevice{s.Host.Device(), s} }

// Alloc implements host.Host.
func (s *Short) Alloc(size int) (host.Region, error) {
	r := shortRegion{s: s}
	err := took(&s.regions, s.Do(func() (err error) { r.Region, err = s.Host.Alloc(size); return }))
	if err != nil {
		return nil, err
	}
	return r, nil
}

type shortRegion struct {
	host.Region
	s *Short
}

func (r shortRegion) Free() error { return gave(&r.s.regions, r.Region.Free()) }

type shortDevice struct {
	verbs.Device
	s *Short
}

func (d shortDevice) AllocPD() (verbs.PD, error) {
	p := shortPD{s: d.s}
	err := took(&d.s.pds, d.s.Do(func() (err error) { p.PD, err = d.Device.AllocPD(); return }))
	if err != nil {
		return nil, err
	}
	return p, nil
}

func (d shortDevice) CreateCompChannel() (verbs.CompChannel, error) {
	c := shortChannel{s: d.s}
	err := took(&d.s.channels, d.s.Do(func() (err error) { c.CompChannel, err = d.Device.CreateCompChannel(); return }))
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (d shortDevice) CreateCQ(depth int, ch verbs.CompChannel) (cq verbs.CQ, err error) {
	if c, ok := ch.(shortChannel); ok {
		ch = c.CompChannel
	}
	err = d.s.Do(func() (err error) { cq, err = d.Device.CreateCQ(depth, ch); return })
	return cq, err
}

type shortChannel struct {
	verbs.CompChannel
	s *Short
}

func (c shortChannel) Destroy() error { return gave(&c.s.channels, c.CompChannel.Destroy()) }

type shortPD struct {
	verbs.PD
	s *Short
}

func (p shortPD) RegisterMR(mem verbs.Memory, access verbs.Access) (mr verbs.MR, err error) {
	if r, ok := mem.(shortRegion); ok {
		mem = r.Region
	}
	err = p.s.Do(func() (err error) { mr, err = p.PD.RegisterMR(mem, access); return })
	return mr, err
}

func (p shortPD) CreateQP(cfg verbs.QPConfig) (verbs.PreparedQP, error) {
	q := shortQP{s: p.s}
	err := p.s.Do(func() (err error) { q.PreparedQP, err = p.PD.CreateQP(cfg); return })
	if err != nil {
		return nil, err
	}
	return q, nil
}

type shortQP struct {
	verbs.PreparedQP
	s *Short
}

func (q shortQP) Connect(to verbs.Endpoint) (qp verbs.QP, err error) {
	err = q.s.Do(func() (err error) { qp, err = q.PreparedQP.Connect(to); return })
	return qp, err
}

func (p shortPD) Dealloc() error { return gave(&p.s.pds, p.PD.Dealloc()) }
