package nclcheck

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// cardScenarios are about the requests to the card, and the waits for it.
func cardScenarios() []*explore.Scenario {
	return []*explore.Scenario{
		build(spec{
			name:   "waits",
			doc:    "Every wait has the configured or default timeout; every queue has enough room; data that fits is sent inline. The card refuses any one request: its peer counts as failed, and nothing is lost or leaked.",
			faults: "none",
			bounds: "f=0, two peers; creation, writes around the inline limit of a card, the replacement of a peer that has revoked its memory, recovery and release; with the defaults, and with other values",
			load:   workload{f: 0, size: 1024, peers: []string{"peer1", "peer2"}, lives: [][]write{{}}, script: watching, collects: true, meets: []string{sawShort}},
		}),
	}
}

// timed is a host that compares the timeouts of waits with the configured ones. Its card
// refuses one request.
type timed struct {
	host.Host
	*scenario.Once
	r                       *run
	call, asked, completion time.Duration
	depth                   int
	seen                    map[string]int
	cqs                     []*timedCQ
}

func (t *timed) check(what string, got, want time.Duration) {
	t.seen[what]++
	t.r.expect(fmt.Sprintf("%s: a wait of %v instead of %v", what, got, want), got == want)
}

func (t *timed) Gather(calls []host.Call, timeout time.Duration) host.Gather {
	t.check("an answer", timeout, t.call)
	return t.Host.Gather(calls, timeout)
}

func (t *timed) Call(to, service string, body []byte, timeout time.Duration) ([]byte, error) {
	t.check("an operator", timeout, t.asked)
	return t.Host.Call(to, service, body, timeout)
}

func (t *timed) Device() verbs.Device { return timedDevice{t.Host.Device(), t} }

type timedDevice struct {
	verbs.Device
	t *timed
}

func (d timedDevice) AllocPD() (verbs.PD, error) {
	pd, err := d.Device.AllocPD()
	return timedPD{pd, d.t}, err
}

func (d timedDevice) CreateCompChannel() (verbs.CompChannel, error) {
	ch, err := d.Device.CreateCompChannel()
	return timedChannel{ch, d.t}, err
}

func (d timedDevice) CreateCQ(depth int, ch verbs.CompChannel) (verbs.CQ, error) {
	d.t.r.expect(fmt.Sprintf("a queue of %d completions instead of %d", depth, d.t.depth+1), depth == d.t.depth+1)
	cq, err := d.Device.CreateCQ(depth, ch.(timedChannel).CompChannel)
	x := &timedCQ{cq, d.t}
	d.t.cqs = append(d.t.cqs, x)
	return x, err
}

type timedCQ struct {
	verbs.CQ
	t *timed
}

func (c *timedCQ) Wait(wc []verbs.WC, timeout time.Duration) (int, error) {
	c.t.check("a completion of one peer", timeout, c.t.completion)
	return c.CQ.Wait(wc, timeout)
}

type timedChannel struct {
	verbs.CompChannel
	t *timed
}

func (c timedChannel) Wait(timeout time.Duration) (verbs.CQ, error) {
	c.t.check("a completion", timeout, c.t.completion)
	cq, err := c.CompChannel.Wait(timeout)
	for _, x := range c.t.cqs {
		if x.CQ == cq {
			return x, err
		}
	}
	return cq, err
}

func (c timedChannel) Gather(cqs []verbs.CQ, wc []verbs.WC, timeout time.Duration) error {
	c.t.check("completions of all", timeout, c.t.completion)
	var inner []verbs.CQ
	for _, cq := range cqs {
		inner = append(inner, cq.(*timedCQ).CQ)
	}
	return c.CompChannel.Gather(inner, wc, timeout)
}

type timedPD struct {
	verbs.PD
	t *timed
}

func (p timedPD) CreateQP(cfg verbs.QPConfig) (verbs.PreparedQP, error) {
	p.t.r.expect(fmt.Sprintf("a queue of %d requests instead of %d", cfg.MaxSendWR, p.t.depth), cfg.MaxSendWR == p.t.depth)
	cfg.SendCQ, cfg.RecvCQ = cfg.SendCQ.(*timedCQ).CQ, cfg.RecvCQ.(*timedCQ).CQ
	q, err := p.PD.CreateQP(cfg)
	return timedPrepared{q, p.t}, err
}

type timedPrepared struct {
	verbs.PreparedQP
	t *timed
}

func (q timedPrepared) Connect(to verbs.Endpoint) (verbs.QP, error) {
	qp, err := q.PreparedQP.Connect(to)
	return timedQP{qp, q.t}, err
}

type timedQP struct {
	verbs.QP
	t *timed
}

func (q timedQP) PostSend(wrs []verbs.SendWR) error {
	most := q.t.Host.Device().Attr().MaxInline
	for _, wr := range wrs {
		if n := int(wr.SGL[0].Length); wr.Op == verbs.OpWrite {
			q.t.r.expect(fmt.Sprintf("%d bytes inline: %v", n, wr.Flags&verbs.Inline != 0), (wr.Flags&verbs.Inline != 0) == (n <= most))
		}
	}
	if q.t.Pick(1) == 1 {
		return &verbs.PostError{Err: scenario.ErrLost}
	}
	return q.QP.PostSend(wrs)
}

// watching uses a file on a card that it watches.
func watching(r *run) {
	cfg := r.config()
	t := &timed{Host: r.h, Once: &scenario.Once{By: r.h}, r: r, call: ncl.DefaultCallTimeout, completion: verbs.Forever, depth: ncl.DefaultQueueDepth, seen: map[string]int{}}
	if r.h.Rand(2) == 1 {
		t.call, t.completion, t.depth = 3*time.Second, 2*time.Second, 4
		cfg.CallTimeout, cfg.CompletionTimeout, cfg.QueueDepth = t.call, t.completion, 4
	}
	var f *ncl.File
	content := make([]byte, r.load.size)
	again := func(err error, do func() error) bool {
		if errors.Is(err, scenario.ErrLost) && t.Failed {
			r.Meet(sawShort)
			err = do()
		}
		return r.done(err)
	}
	record := func(n int) bool {
		for i := range n {
			content[i]++
		}
		return again(f.Record(0, content[:n]), func() error { return f.Repair() }) // the new peer has the write
	}
	create := func() (err error) { f, err = ncl.Create(t, cfg, r.file.name, r.load.size); return }
	recover := func() (err error) { f, err = ncl.Recover(t, cfg, r.file.name); return }
	most := r.h.Device().Attr().MaxInline
	if !r.done(create()) || !record(most) || !record(most+1) || !record(8) || !r.measure(f.Peers()) {
		return
	}
	t.asked = time.Minute
	if !r.done(ncl.Revoke(t, f.Peers()[0], t.asked)) || !r.expect("a write without peers", errors.Is(f.Record(0, content), ncl.ErrUnavailable)) {
		return
	}
	if !again(f.Repair(), func() error { return f.Repair() }) || !record(16) {
		return
	}
	if lent, err := ncl.Collect(t, f.Peers()[0], t.asked); !r.done(err) || !r.expect("a region", lent == r.region(f.Peers(), f.Peers()[0])) {
		return
	}
	f.Close()
	if !again(recover(), recover) {
		return
	}
	got := make([]byte, r.load.size)
	if _, err := f.ReadAt(got, 0); !r.done(err) || !r.expect("the recovered content", bytes.Equal(got, content)) || !record(1) || !r.done(f.Release()) {
		return
	}
	for _, what := range []string{"an answer", "an operator", "a completion", "a completion of one peer", "completions of all"} {
		r.expect("no wait for "+what, t.seen[what] > 0)
	}
	r.measure(nil)
}
