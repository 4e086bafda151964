//go:build rdma

package hw

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// Tests under the tag need a card. VERBATIM_RDMA_DEVICE names it; otherwise it is the
// first one. Soft-RoCE in a virtual machine suffices.

func deviceName(t testing.TB) string {
	t.Helper()
	if name := os.Getenv("VERBATIM_RDMA_DEVICE"); name != "" {
		return name
	}
	names, err := Devices()
	if err != nil || len(names) == 0 {
		t.Skipf("no RDMA device on this machine (%v)", err)
	}
	return names[0]
}

// open opens the card with timeouts that detect a dead peer within a second.
func open(t testing.TB, cfg Config) *device {
	t.Helper()
	cfg.Device = deviceName(t)
	orDefault(&cfg.Timeout, 10)
	d, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { check(t, d.Close()) })
	return d.(*device)
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// end is one end of a connection with all its objects.
type end struct {
	t        testing.TB
	pd       verbs.PD
	cq       verbs.CQ
	mem      *Memory
	mr       verbs.MR
	prepared verbs.PreparedQP
	qp       verbs.QP
}

const (
	memSize = 64 << 10
	all     = verbs.LocalWrite | verbs.RemoteWrite | verbs.RemoteRead | verbs.RemoteAtomic
)

func newEnd(t testing.TB, d *device, ch verbs.CompChannel, cfg verbs.QPConfig, access verbs.Access) *end {
	t.Helper()
	e := &end{t: t}
	e.pd = must[verbs.PD](t)(d.AllocPD())
	t.Cleanup(func() { check(t, e.pd.Dealloc()) })
	e.cq = must[verbs.CQ](t)(d.CreateCQ(256, ch))
	t.Cleanup(func() { check(t, e.cq.Destroy()) })
	e.mem = must[*Memory](t)(NewMemory(memSize, false))
	t.Cleanup(func() { check(t, e.mem.Free()) })
	e.mr = must[verbs.MR](t)(e.pd.RegisterMR(e.mem, access))
	t.Cleanup(func() { e.dereg() })
	cfg.SendCQ, cfg.RecvCQ = e.cq, e.cq
	e.prepared = must[verbs.PreparedQP](t)(e.pd.CreateQP(cfg))
	t.Cleanup(func() { e.destroy() })
	return e
}

func (e *end) dereg() {
	if e.mr != nil {
		check(e.t, e.mr.Dereg())
		e.mr = nil
	}
}

func (e *end) destroy() {
	if e.prepared != nil {
		check(e.t, e.prepared.Destroy())
		e.prepared = nil
	}
}

// connect connects two ends to each other.
func connect(t testing.TB, a, b *end) {
	t.Helper()
	ea, eb := a.prepared.Endpoint(), b.prepared.Endpoint()
	b.qp = must[verbs.QP](t)(b.prepared.Connect(ea))
	a.qp = must[verbs.QP](t)(a.prepared.Connect(eb))
}

func pair(t testing.TB, cfg verbs.QPConfig) (a, b *end) {
	t.Helper()
	d := open(t, Config{})
	cfg.Access = all &^ verbs.LocalWrite
	a, b = newEnd(t, d, nil, cfg, all), newEnd(t, d, nil, cfg, all)
	connect(t, a, b)
	return a, b
}

// sge is n bytes at off of the end's memory, remote the address of off for the peer.
func (e *end) sge(off, n int) verbs.SGE {
	return verbs.SGE{Addr: e.mr.Addr() + uint64(off), Length: uint32(n), LKey: e.mr.LKey()}
}

func (e *end) list(off, n int) []verbs.SGE { return []verbs.SGE{e.sge(off, n)} }

func (e *end) at(off int) uint64 { return e.mr.Addr() + uint64(off) }

const patience = 20 * time.Second

func wantError(t testing.TB, err, is error, texts ...string) {
	t.Helper()
	if !errors.Is(err, is) {
		t.Fatalf("got %v, want one that wraps %v", err, is)
	}
	for _, s := range texts {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("%q does not say %q", err, s)
		}
	}
}
