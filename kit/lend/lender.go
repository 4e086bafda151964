package lend

import (
	"errors"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// Lender lends memory of its host. Its CPU is involved only in setting up connections.
//
// All loans of a lender are in one protection domain: a borrower admitted to one
// reaches the others too, if it knows their keys and its queue pair grants the access.
// Use one lender per domain to keep them apart.
type Lender struct {
	h   host.Host
	pd  verbs.PD
	own bool     // pd belongs to this lender
	cq  verbs.CQ // a queue pair must have one, though nothing completes at a lender
}

// NewLender creates a lender with its own protection domain.
func NewLender(h host.Host) (*Lender, error) {
	pd, err := h.Device().AllocPD()
	if err != nil {
		return nil, err
	}
	l, err := newLender(h, pd)
	if err != nil {
		return nil, errors.Join(err, pd.Dealloc())
	}
	l.own = true
	return l, nil
}

func newLender(h host.Host, pd verbs.PD) (*Lender, error) {
	cq, err := h.Device().CreateCQ(1, nil)
	if err != nil {
		return nil, err
	}
	return &Lender{h: h, pd: pd, cq: cq}, nil
}

// Close releases the resources of a lender without loans.
func (l *Lender) Close() error {
	err := l.cq.Destroy()
	if l.own {
		err = errors.Join(err, l.pd.Dealloc())
	}
	return err
}

// Loan is lent memory, with the queue pairs of its borrowers.
type Loan struct {
	Memory
	lender *Lender
	access verbs.Access
	qps    []verbs.QP
}

// Lend allocates size bytes of DRAM. access is the access of borrowers.
func (l *Lender) Lend(size int, access verbs.Access) (*Loan, error) {
	r, err := l.h.Alloc(size)
	return l.loan(r, err, access)
}

// LendPersistent opens the persistent region called name. access is the access of borrowers.
func (l *Lender) LendPersistent(name string, size int, access verbs.Access) (*Loan, error) {
	r, err := l.h.OpenPMEM(name, size)
	return l.loan(r, err, access)
}

func (l *Lender) loan(r host.Region, err error, access verbs.Access) (*Loan, error) {
	if err != nil {
		return nil, err
	}
	m, err := register(l.pd, r, access)
	if err != nil {
		return nil, err
	}
	return &Loan{Memory: *m, lender: l, access: access}, nil
}

// Admit creates a queue pair for the loan, connects it to the endpoint to, and returns
// its endpoint, for a greeting.
func (x *Loan) Admit(to verbs.Endpoint) (mine verbs.Endpoint, err error) {
	qp, mine, err := Accept(x.lender.pd, to, verbs.QPConfig{SendCQ: x.lender.cq, RecvCQ: x.lender.cq, Access: x.access,
		MaxSendWR: 1, MaxRecvWR: 1, MaxSGE: 1})
	if err == nil {
		x.qps = append(x.qps, qp)
	}
	return mine, err
}

// Accept creates a queue pair and connects it to the endpoint to. After an error nothing
// remains of it.
func Accept(pd verbs.PD, to verbs.Endpoint, cfg verbs.QPConfig) (verbs.QP, verbs.Endpoint, error) {
	p, err := pd.CreateQP(cfg)
	if err != nil {
		return nil, verbs.Endpoint{}, err
	}
	mine := p.Endpoint()
	qp, err := p.Connect(to)
	if err != nil {
		return nil, verbs.Endpoint{}, errors.Join(err, p.Destroy())
	}
	return qp, mine, nil
}

// Expel destroys the queue pairs of all borrowers. Requests that have not been executed
// by then are never executed.
func (x *Loan) Expel() error {
	var errs []error
	for _, qp := range x.qps {
		errs = append(errs, qp.Destroy())
	}
	x.qps = nil
	return errors.Join(errs...)
}

// End revokes the loan: first the connections, so that nothing more arrives, then the
// key, then the memory. Afterwards Region is nil, unless freeing it failed.
func (x *Loan) End() error {
	return errors.Join(x.Expel(), x.Free())
}
