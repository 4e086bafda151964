package lend

import (
	"errors"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Memory is a registered region.
type Memory struct {
	Region host.Region // nil once it is freed
	MR     verbs.MR
}

// Register allocates and registers size bytes.
func Register(h host.Host, pd verbs.PD, size int, access verbs.Access) (*Memory, error) {
	r, err := h.Alloc(size)
	if err != nil {
		return nil, err
	}
	return register(pd, r, access)
}

// register registers r, or frees it.
func register(pd verbs.PD, r host.Region, access verbs.Access) (*Memory, error) {
	mr, err := pd.RegisterMR(r, verbs.LocalWrite|access)
	if err != nil {
		return nil, errors.Join(err, r.Free())
	}
	return &Memory{Region: r, MR: mr}, nil
}

// SGE is n bytes at off of the memory, for a request of this host.
func (m *Memory) SGE(off, n int) verbs.SGE {
	return verbs.SGE{Addr: m.MR.Addr() + uint64(off), Length: uint32(n), LKey: m.MR.LKey()}
}

// Window returns the memory as peers address it.
func (m *Memory) Window() Window {
	return Window{Addr: m.MR.Addr(), RKey: m.MR.RKey(), Len: m.MR.Len()}
}

// Free deregisters the region and frees it. If freeing fails, Region remains.
func (m *Memory) Free() error {
	var errs []error
	if m.MR != nil {
		errs = append(errs, m.MR.Dereg())
		m.MR = nil
	}
	if m.Region != nil {
		err := m.Region.Free()
		if err == nil {
			m.Region = nil
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
