package verbstest

import (
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/verbs"
)

func lifetimeCases() []testCase {
	return []testCase{
		{"busy", 0, busy},
		{"closed", 0, closed},
		{"qp-config", 0, qpConfig},
		{"cq-depth", 0, cqDepth},
		{"access-unknown", 0, accessUnknown},
		{"freed-memory", 0, freedMemory},
		{"foreign-cq", 0, foreignCQ},
		{"attr", 0, attributes},
	}
}

// Objects in use cannot be destroyed.
func busy(t *T) {
	var ch verbs.CompChannel
	t.on(0, func() { ch = must[verbs.CompChannel](t)(t.site.Host(0).Device().CreateCompChannel()) })
	t.cleanup(0, func() error { return ch.Destroy() })
	a := t.newEnd(0, endConfig{ch: ch})
	t.on(0, func() {
		t.refused("a PD with memory and a queue pair", a.pd.Dealloc(), verbs.ErrBusy)
		t.refused("a CQ that requests report to", a.cq.Destroy(), verbs.ErrBusy)
		t.refused("a CQ that receives report to", a.rcq.Destroy(), verbs.ErrBusy)
		t.refused("a channel with a CQ", ch.Destroy(), verbs.ErrBusy)
		t.refused("registered memory", a.mem.Free(), verbs.ErrBusy)
		t.check(a.destroy())
		t.refused("a PD with memory", a.pd.Dealloc(), verbs.ErrBusy)
	})
}

// Destroyed objects report that.
func closed(t *T) {
	t.on(0, func() {
		h := t.site.Host(0)
		dev := h.Device()
		pd := must[verbs.PD](t)(dev.AllocPD())
		ch := must[verbs.CompChannel](t)(dev.CreateCompChannel())
		cq := must[verbs.CQ](t)(dev.CreateCQ(4, ch))
		mem := must[host.Region](t)(h.Alloc(4096))
		mr := must[verbs.MR](t)(pd.RegisterMR(mem, verbs.LocalWrite))
		qp := must[verbs.PreparedQP](t)(pd.CreateQP(verbs.QPConfig{SendCQ: cq, RecvCQ: cq}))
		to := qp.Endpoint()
		for _, x := range []struct {
			what string
			f    func() error
		}{{"QP", qp.Destroy}, {"MR", mr.Dereg}, {"CQ", cq.Destroy}, {"channel", ch.Destroy}, {"PD", pd.Dealloc}} {
			t.check(x.f())
			t.refused(x.what+" taken down twice", x.f(), verbs.ErrClosed)
		}
		_, err := pd.RegisterMR(mem, 0)
		t.refused("a registration in a PD that is gone", err, verbs.ErrClosed)
		_, err = pd.CreateQP(verbs.QPConfig{SendCQ: cq, RecvCQ: cq})
		t.refused("a QP in a PD that is gone", err, verbs.ErrClosed)
		_, err = cq.Poll(make([]verbs.WC, 1))
		t.refused("a poll of a CQ that is gone", err, verbs.ErrClosed)
		_, err = cq.Wait(make([]verbs.WC, 1), moment)
		t.refused("a wait for a CQ that is gone", err, verbs.ErrClosed)
		_, err = qp.Connect(to)
		t.refused("Connect of a QP that is gone", err, verbs.ErrClosed)
		t.refused("PostRecv to a QP that is gone", qp.PostRecv([]verbs.RecvWR{{}}), verbs.ErrClosed)
		t.check(mem.Free())
	})
	a, b := t.pair(verbs.QPConfig{})
	wr := a.write(1, 0, 8, b, 0)
	t.on(0, func() {
		t.check(a.destroy())
		t.refused("PostSend to a QP that is gone", a.qp.PostSend([]verbs.SendWR{wr}), verbs.ErrClosed)
		t.refused("Modify of a QP that is gone", a.qp.Modify(verbs.QPAttr{SetState: true, State: verbs.StateErr}), verbs.ErrClosed)
		t.refused("a QP taken down twice", a.qp.Destroy(), verbs.ErrClosed)
	})
}

// A configuration beyond the device's limits is refused when the queue pair is created.
func qpConfig(t *T) {
	a := t.newEnd(0, endConfig{})
	attr := a.dev.Attr()
	for _, x := range []struct {
		what string
		cfg  verbs.QPConfig
	}{
		{"no CQs", verbs.QPConfig{}},
		{"one CQ", verbs.QPConfig{SendCQ: a.cq}},
		{"MaxSendWR of more than the device has", verbs.QPConfig{SendCQ: a.cq, RecvCQ: a.rcq, MaxSendWR: attr.MaxQPWR + 1}},
		{"MaxRecvWR of more than the device has", verbs.QPConfig{SendCQ: a.cq, RecvCQ: a.rcq, MaxRecvWR: attr.MaxQPWR + 1}},
		{"MaxSGE of more than the device has", verbs.QPConfig{SendCQ: a.cq, RecvCQ: a.rcq, MaxSGE: attr.MaxSGE + 1}},
		{"MaxInline of more than the device has", verbs.QPConfig{SendCQ: a.cq, RecvCQ: a.rcq, MaxInline: attr.MaxInline + 1}},
		{"MaxRdAtomic of more than the device has", verbs.QPConfig{SendCQ: a.cq, RecvCQ: a.rcq, MaxRdAtomic: attr.MaxRdAtomic + 1}},
		{"MaxSendWR -1", verbs.QPConfig{SendCQ: a.cq, RecvCQ: a.rcq, MaxSendWR: -1}},
		{"MaxRdAtomic -1", verbs.QPConfig{SendCQ: a.cq, RecvCQ: a.rcq, MaxRdAtomic: -1}},
		{"RetryCount 8", verbs.QPConfig{SendCQ: a.cq, RecvCQ: a.rcq, RetryCount: 8}},
		{"RNRRetry 8", verbs.QPConfig{SendCQ: a.cq, RecvCQ: a.rcq, RNRRetry: 8}},
		{"RNRRetry -1", verbs.QPConfig{SendCQ: a.cq, RecvCQ: a.rcq, RNRRetry: -1}},
		{"PSN of 25 bits", verbs.QPConfig{SendCQ: a.cq, RecvCQ: a.rcq, PSN: 1 << 24}},
		{"access that does not exist", verbs.QPConfig{SendCQ: a.cq, RecvCQ: a.rcq, Access: 1 << 7}},
	} {
		t.on(a.host, func() {
			qp, err := a.pd.CreateQP(x.cfg)
			t.refused(x.what, err, verbs.ErrInvalid)
			if err == nil {
				t.check(qp.Destroy())
			}
		})
	}
}

func cqDepth(t *T) {
	t.on(0, func() {
		for _, n := range []int{0, -1, 1 << 30} {
			cq, err := t.site.Host(0).Device().CreateCQ(n, nil)
			t.refused("the depth of a CQ", err, verbs.ErrInvalid)
			if err == nil {
				t.check(cq.Destroy())
			}
		}
	})
}

func accessUnknown(t *T) {
	b, a := t.pair(verbs.QPConfig{})
	t.on(a.host, func() {
		_, err := a.pd.RegisterMR(a.mem, verbs.LocalWrite|1<<7)
		t.refused("access that does not exist", err, verbs.ErrInvalid)
		err = a.qp.Modify(verbs.QPAttr{Mask: verbs.AttrAccess, Access: verbs.RemoteRead | 1<<7})
		t.refused("Modify to access that does not exist", err, verbs.ErrInvalid)
		if !a.dev.Attr().HasFlush {
			_, err = a.pd.RegisterMR(a.mem, verbs.LocalWrite|verbs.FlushGlobal)
			t.refused("access for Flush on a device without it", err, verbs.ErrUnsupported)
			err = a.qp.Modify(verbs.QPAttr{Mask: verbs.AttrAccess, Access: verbs.FlushGlobal})
			t.refused("Modify to access for Flush on a device without it", err, verbs.ErrUnsupported)
		}
	})
	b.done(b.write(1, 0, 8, a, 0)) // what was refused has changed nothing
}

func freedMemory(t *T) {
	a := t.newEnd(0, endConfig{})
	t.on(a.host, func() {
		mem := must[host.Region](t)(a.h.Alloc(4096))
		t.check(mem.Free())
		_, err := a.pd.RegisterMR(mem, verbs.LocalWrite)
		t.refused("memory that was freed", err, verbs.ErrInvalid)
	})
}

// A queue pair reports to CQs of its own device.
func foreignCQ(t *T) {
	a, b := t.newEnd(0, endConfig{}), t.newEnd(1, endConfig{})
	if a.dev == b.dev {
		t.skipf("both hosts have the device %s", a.dev.Attr().Name)
	}
	t.on(a.host, func() {
		_, err := a.pd.CreateQP(verbs.QPConfig{SendCQ: a.cq, RecvCQ: b.rcq})
		t.refused("the CQ of another device", err, verbs.ErrInvalid)
	})
}

// The device has the attributes that every device has.
func attributes(t *T) {
	a := t.newEnd(0, endConfig{})
	if x := a.dev.Attr(); x.Name == "" || x.MaxSGE < 1 || x.MaxQPWR < 64 || x.MaxInline < 0 || x.MaxRdAtomic < 1 || x.AtomicGlob && !x.AtomicHCA {
		t.errorf("it says %+v", x)
	}
}
