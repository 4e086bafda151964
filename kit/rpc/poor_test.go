package rpc_test

import (
	"errors"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/kit/rpc"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// poor is a host whose card lacks something once.
type poor struct {
	host.Host
	lacks string
}

var errPoor = errors.New("there is none")

func (p *poor) lack(what string) error {
	if p.lacks != what {
		return nil
	}
	p.lacks = ""
	return errPoor
}

func (p *poor) Device() verbs.Device { return poorCard{p.Host.Device(), p} }

type poorCard struct {
	verbs.Device
	p *poor
}

func (c poorCard) AllocPD() (verbs.PD, error) {
	if err := c.p.lack("domain"); err != nil {
		return nil, err
	}
	pd, err := c.Device.AllocPD()
	return poorDomain{pd, c.p}, err
}

func (c poorCard) CreateCQ(n int, ch verbs.CompChannel) (verbs.CQ, error) {
	if err := c.p.lack("completion queue"); err != nil {
		return nil, err
	}
	return c.Device.CreateCQ(n, ch)
}

type poorDomain struct {
	verbs.PD
	p *poor
}

func (d poorDomain) RegisterMR(m verbs.Memory, a verbs.Access) (verbs.MR, error) {
	if err := d.p.lack("key"); err != nil {
		return nil, err
	}
	return d.PD.RegisterMR(m, a)
}

func (d poorDomain) CreateQP(cfg verbs.QPConfig) (verbs.PreparedQP, error) {
	if err := d.p.lack("queue pair"); err != nil {
		return nil, err
	}
	qp, err := d.PD.CreateQP(cfg)
	return poorQP{qp, d.p}, err
}

type poorQP struct {
	verbs.PreparedQP
	p *poor
}

func (q poorQP) Connect(to verbs.Endpoint) (verbs.QP, error) {
	if err := q.p.lack("connection"); err != nil {
		return nil, err
	}
	qp, err := q.PreparedQP.Connect(to)
	return connected{qp, q.p}, err
}

type connected struct {
	verbs.QP
	p *poor
}

func (q connected) PostRecv(wrs []verbs.RecvWR) error {
	if err := q.p.lack("receive"); err != nil {
		return err
	}
	return q.QP.PostRecv(wrs)
}

// A server that cannot set a connection up refuses that client, and serves the next.
func TestAServerThatLacksSomethingRefuses(t *testing.T) {
	for _, what := range []string{"domain", "completion queue", "key", "queue pair", "connection", "receive"} {
		if err := run(func(h host.Host) { upper(&poor{h, what}) }, func(h host.Host) {
			if _, err := rpc.Dial(h, "server", "upper", small, time.Second); !errors.Is(err, lend.ErrRefused) {
				t.Errorf("without a %s: %v", what, err)
			}
			c, err := rpc.Dial(h, "server", "upper", small, time.Second)
			check(err)
			answer, err := c.Call([]byte("a"))
			if err != nil || string(answer) != "A" {
				t.Errorf("with a %s again: %q, %v", what, answer, err)
			}
			check(c.Close())
		}); err != nil {
			t.Errorf("without a %s: %v", what, err)
		}
	}
}

// A client that cannot set a connection up reports why, and may try again.
func TestAClientThatLacksSomethingFails(t *testing.T) {
	for _, what := range []string{"domain", "completion queue", "key", "queue pair", "connection", "receive"} {
		if err := run(upper, func(h host.Host) {
			p := &poor{h, what}
			if _, err := rpc.Dial(p, "server", "upper", small, time.Second); !errors.Is(err, errPoor) {
				t.Errorf("without a %s: %v", what, err)
			}
			c, err := rpc.Dial(p, "server", "upper", small, time.Second)
			check(err)
			answer, err := c.Call([]byte("a"))
			if err != nil || string(answer) != "A" {
				t.Errorf("with a %s again: %q, %v", what, answer, err)
			}
			check(c.Close())
		}); err != nil {
			t.Errorf("without a %s: %v", what, err)
		}
	}
}
