//go:build rdma

package hw

import (
	"errors"
	"testing"

	"github.com/verbatim-rdma/verbatim/verbs"
)

func TestOpenErrors(t *testing.T) {
	name := deviceName(t)
	for _, tt := range []struct {
		cfg  Config
		want error
		says string
	}{
		{Config{Device: "none0"}, ErrNoDevice, "none0; there are: " + name},
		{Config{Device: name, GID: "2001:db8::1"}, ErrConfig, "it has ["},
		{Config{Device: name, GIDType: RoCEv1}, ErrConfig, "no type RoCE v1"},
		{Config{Device: name, Port: 77}, verbs.ErrInvalid, "query port 77"},
		{Config{Device: name, MTU: 7}, ErrConfig, "one of [256"},
	} {
		d, err := Open(tt.cfg)
		if err == nil {
			d.Close()
		}
		wantError(t, err, tt.want, tt.says)
		t.Log(err)
	}
}

// A path MTU beyond the port's is refused before any connection depends on it.
func TestMTUBeyondThePort(t *testing.T) {
	d, err := Open(Config{Device: deviceName(t), MTU: 4096})
	if err == nil {
		check(t, d.Close())
		t.Skip("the port has the largest MTU")
	}
	wantError(t, err, ErrConfig, "active MTU of")
	t.Log(err)
}

func TestAttr(t *testing.T) {
	d := open(t, Config{})
	a := d.Attr()
	t.Logf("%+v, GID %v, MTU %d", a, d.gid, d.mtu)
	if a.Name != d.name || a.MaxSGE < 1 || a.MaxQPWR < 64 || a.MaxInline < 8 {
		t.Errorf("%+v", a)
	}
}

// An object in use cannot be destroyed, and a destroyed one reports that.
func TestLifetimes(t *testing.T) {
	cfg := Config{Device: deviceName(t)}
	dev := must[verbs.Device](t)(Open(cfg))
	pd := must[verbs.PD](t)(dev.AllocPD())
	ch := must[verbs.CompChannel](t)(dev.CreateCompChannel())
	q := must[verbs.CQ](t)(dev.CreateCQ(4, ch))
	mem := must[*Memory](t)(NewMemory(4096, false))
	mr := must[verbs.MR](t)(pd.RegisterMR(mem, verbs.LocalWrite))
	qp := must[verbs.PreparedQP](t)(pd.CreateQP(verbs.QPConfig{SendCQ: q, RecvCQ: q}))
	for name, f := range map[string]func() error{"device": dev.Close, "PD": pd.Dealloc, "channel": ch.Destroy, "CQ": q.Destroy, "memory": mem.Free} {
		if err := f(); !errors.Is(err, verbs.ErrBusy) {
			t.Errorf("%s: %v", name, err)
		}
	}
	steps := []func() error{qp.Destroy, mr.Dereg, mem.Free, q.Destroy, ch.Destroy, pd.Dealloc, dev.Close}
	for i, f := range steps {
		if err := f(); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		wantError(t, f(), verbs.ErrClosed)
	}
	_, err := pd.RegisterMR(mem, 0)
	wantError(t, err, verbs.ErrClosed)
	_, err = dev.AllocPD()
	wantError(t, err, verbs.ErrClosed)
	_, err = q.Poll(make([]verbs.WC, 1))
	wantError(t, err, verbs.ErrClosed)
	_, err = qp.Connect(verbs.Endpoint{})
	wantError(t, err, verbs.ErrClosed)
	wantError(t, qp.PostRecv([]verbs.RecvWR{{}}), verbs.ErrClosed)
}

func TestWrongArguments(t *testing.T) {
	d := open(t, Config{})
	e := newEnd(t, d, nil, verbs.QPConfig{}, verbs.LocalWrite)
	_, err := d.CreateCQ(0, nil)
	wantError(t, err, verbs.ErrInvalid, "depth is 0")
	_, err = e.pd.RegisterMR(e.mem, verbs.RemoteWrite)
	wantError(t, err, verbs.ErrInvalid, "needs LocalWrite")
	_, err = e.pd.CreateQP(verbs.QPConfig{})
	wantError(t, err, verbs.ErrInvalid, "both CQs")
	_, err = e.pd.CreateQP(verbs.QPConfig{SendCQ: e.cq, RecvCQ: e.cq, RNRRetry: 8})
	wantError(t, err, verbs.ErrInvalid, "RNRRetry is 8")
	_, err = e.pd.RegisterMR(gone{}, verbs.LocalWrite)
	wantError(t, err, verbs.ErrInvalid, d.name, "register 4096 bytes", "EFAULT")
	if !d.attr.HasFlush {
		_, err = e.pd.RegisterMR(e.mem, verbs.FlushGlobal)
		wantError(t, err, verbs.ErrUnsupported)
	}
	good := e.prepared.Endpoint()
	for _, f := range []func(e *verbs.Endpoint){
		func(e *verbs.Endpoint) { e.QPN = 0 }, func(e *verbs.Endpoint) { e.MTU = 1500 },
		func(e *verbs.Endpoint) { e.PSN = 1 << 24 }, func(e *verbs.Endpoint) { e.GID, e.LID = [16]byte{}, 0 },
	} {
		bad := good
		f(&bad)
		_, err := e.prepared.Connect(bad)
		wantError(t, err, verbs.ErrInvalid)
	}
}

// gone is memory that is not there.
type gone struct{}

func (gone) Addr() uint64 { return 4096 }
func (gone) Len() int     { return 4096 }

// Two queue pairs start with the same packet sequence number only by chance.
func TestFreshPSN(t *testing.T) {
	d := open(t, Config{})
	seen := map[uint32]bool{}
	for range 4 {
		seen[newEnd(t, d, nil, verbs.QPConfig{}, 0).prepared.Endpoint().PSN] = true
	}
	if len(seen) < 3 || seen[0] {
		t.Errorf("packet sequence numbers %v", seen)
	}
	if e := newEnd(t, d, nil, verbs.QPConfig{PSN: 77}, 0).prepared.Endpoint(); e.PSN != 77 {
		t.Errorf("PSN 77 became %d", e.PSN)
	}
}
