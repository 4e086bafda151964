package nclcheck

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/explore"
	"github.com/verbatim-rdma/verbatim/explore/scenario"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/protocol/ncl"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// nonsenseScenarios are the scenarios with malformed requests or answers.
func nonsenseScenarios() []*explore.Scenario {
	two := []string{"peer1", "peer2"}
	return []*explore.Scenario{
		build(spec{
			name:   "limits",
			doc:    "Values just within the limits of a configuration are accepted, and values just outside are rejected.",
			faults: "none",
			bounds: "one application; each field at its limits, and beyond them by one; a creation with the most peers, in which all calls to the controller after some point are lost, and a recovery",
			load:   workload{f: 0, size: 8, lives: [][]write{{}}, script: limiting, intact: true},
		}),
		build(spec{
			name:   "nonsense",
			doc:    "A peer rejects every request that is truncated or one byte too long, and lends nothing for it.",
			faults: "none",
			bounds: "f=0, two peers; the requests of ncl/lost-call, each cut after every byte and once with a byte more",
			load:   workload{f: 0, size: 16, peers: two, lives: [][]write{{{0, 8}, {8, 8}}}, script: babbling, collects: true},
		}),
		build(spec{
			name:   "garbled",
			doc:    "A peer's answer lacks its last byte or its second half, has an extra byte, or offers a region of another size. The operation fails with that error or not at all, and succeeds when repeated; nothing is lost or leaked.",
			faults: "none",
			bounds: "f=0, two peers; one answers so once; as in ncl/lost-call",
			load: workload{f: 0, size: 16, peers: two, lives: [][]write{{{0, 8}, {8, 8}}}, script: doingAgain, collects: true, garbles: "peer2",
				meets: []string{sawReplaced, sawAnew}},
		}),
		build(spec{
			name:   "misread",
			doc:    "A value from the controller lacks its last byte or its second half, or has an extra byte. The operation fails with that error or not at all, and succeeds when repeated; nothing is lost or leaked.",
			faults: "none",
			bounds: "as in ncl/lost-call, and the controller is not asked for peers",
			load: workload{f: 0, size: 16, peers: two, lives: [][]write{{{0, 8}, {8, 8}}}, script: misreading, collects: true,
				meets: []string{sawReplaced, sawAnew}},
		}),
	}
}

// limiting tries the limits of a configuration.
func limiting(r *run) {
	long := strings.Repeat("n", ncl.MaxName)
	if _, err := ncl.Recover(r.h, ncl.Config{App: "a/b", Coord: r.config().Coord}, "f"); !errors.Is(err, ncl.ErrConfig) {
		r.Fail(misjudged("a recovery for an application with a slash", err))
	}
	if _, err := ncl.Start(ncl.Config{App: "a/b", Coord: r.config().Coord}); !errors.Is(err, ncl.ErrConfig) {
		r.Fail(misjudged("an instance of an application with a slash", err))
	}
	for _, x := range []struct {
		what string
		ok   bool
		set  func(*ncl.Config)
	}{
		{"no change", true, func(*ncl.Config) {}},
		{"no application", false, func(c *ncl.Config) { c.App = "" }},
		{"the shortest name", true, func(c *ncl.Config) { c.App = "a" }},
		{"the longest name", true, func(c *ncl.Config) { c.App = long }},
		{"a longer name", false, func(c *ncl.Config) { c.App = long + "n" }},
		{"a slash", false, func(c *ncl.Config) { c.App = "a/b" }},
		{"no controller", false, func(c *ncl.Config) { c.Coord = nil }},
		{"f of -1", false, func(c *ncl.Config) { c.F = -1 }},
		{"f of 0", true, func(c *ncl.Config) { c.F = 0 }},
		{"the largest f", true, func(c *ncl.Config) { c.F = ncl.MaxF }},
		{"a larger f", false, func(c *ncl.Config) { c.F = ncl.MaxF + 1 }},
		{"a queue of -1", false, func(c *ncl.Config) { c.QueueDepth = -1 }},
		{"a queue of 1", false, func(c *ncl.Config) { c.QueueDepth = 1 }},
		{"a queue of 2", true, func(c *ncl.Config) { c.QueueDepth = 2 }},
		{"2f+1 peers", true, func(c *ncl.Config) { c.Peers = numbered(3) }},
		{"2f peers", false, func(c *ncl.Config) { c.Peers = numbered(2) }},
		{"one peer for f of 1", false, func(c *ncl.Config) { c.Peers = numbered(1) }},
		{"a peer without a name", false, func(c *ncl.Config) { c.Peers = numbered(3, "") }},
		{"a peer with a slash", false, func(c *ncl.Config) { c.Peers = numbered(3, "p/q") }},
		{"a peer of a long name", false, func(c *ncl.Config) { c.Peers = numbered(3, long+"n") }},
		{"a peer that is named twice", false, func(c *ncl.Config) { c.Peers = numbered(3, "p1") }},
	} {
		cfg := ncl.Config{App: "app", F: 1, Coord: r.config().Coord}
		x.set(&cfg)
		r.judge(x.what, x.ok, cfg.Validate())
	}
	for _, x := range []struct {
		ok  bool
		cfg ncl.PeerConfig
	}{
		{false, ncl.PeerConfig{Memory: 17}},
		{true, ncl.PeerConfig{Memory: 18}},
		{false, ncl.PeerConfig{Memory: 100, CollectEvery: -1}},
		{false, ncl.PeerConfig{Memory: 100, CollectEvery: 1}},
		{true, ncl.PeerConfig{Memory: 100, CollectEvery: 1, Coord: r.config().Coord}},
	} {
		r.judge(fmt.Sprintf("%+v", x.cfg), x.ok, x.cfg.Validate())
	}
	mostPeers(r)
	for _, x := range []struct {
		file string
		size int
		ok   bool
	}{{"", 8, false}, {long + "n", 8, false}, {"f", -1, false}, {"f", 0, false}, {"f", ncl.MaxSize + 1, false}, {long, 1, true}} {
		f, err := ncl.Create(r.h, r.config(), x.file, x.size)
		r.judge(fmt.Sprintf("a name of %d bytes and a file of %d", len(x.file), x.size), x.ok, err)
		if err == nil {
			r.done(f.Release())
		}
	}
}

// mostPeers creates a file with the largest number of peers. None of them exists, and the controller may
// fail at any call.
func mostPeers(r *run) {
	all := r.config()
	most := all
	most.F, most.Peers, most.Coord = ncl.MaxF, numbered(2*ncl.MaxF+1), depart(all.Coord, r.h.Rand(7))
	if _, err := ncl.Create(r.h, most, "most", 8); err == nil {
		r.Fail(misjudged("a file without peers", err))
	}
	if _, err := ncl.Recover(r.h, all, "most"); !errors.Is(err, ncl.ErrNotFound) {
		r.Fail(misjudged("a creation with the most peers that did not finish", err))
	}
}

// numbered returns n names of peers, and then more.
func numbered(n int, more ...string) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprint("p", i))
	}
	return append(out, more...)
}

// judge fails the run unless err is nil if ok is true, and ErrConfig otherwise.
func (r *run) judge(what string, ok bool, err error) {
	if (err == nil) != ok || err != nil && !errors.Is(err, ncl.ErrConfig) {
		r.Fail(misjudged(what, err))
	}
}

// misjudged: an invalid value was accepted, or a valid value was refused.
func misjudged(what string, err error) error {
	if err == nil {
		return scenario.Failed("nonsense", "%s was accepted", what)
	}
	return scenario.Failed("nonsense", "%s was not accepted: %w", what, err)
}

// tapped is a host that records its requests.
type tapped struct {
	host.Host
	asked []host.Call
}

func (t *tapped) Gather(calls []host.Call, timeout time.Duration) host.Gather {
	t.asked = append(t.asked, calls...)
	return t.Host.Gather(calls, timeout)
}

func (t *tapped) Call(to, service string, body []byte, timeout time.Duration) ([]byte, error) {
	if service == "ncl" {
		t.asked = append(t.asked, host.Call{To: to, Service: service, Body: body})
	}
	return t.Host.Call(to, service, body, timeout)
}

// babbling repeats requests with bytes missing or added.
func babbling(r *run) {
	t := &tapped{Host: r.h}
	if !r.useOf(t, r.config().Coord, func(error) bool { return false }) {
		return
	}
	for _, c := range t.asked {
		for n := range len(c.Body) + 1 {
			body := append(slices.Clone(c.Body), 0)
			if n < len(c.Body) {
				body = body[:n]
			}
			var rejected *host.RemoteError
			if _, err := r.h.Call(c.To, c.Service, body, ncl.DefaultCallTimeout); !errors.As(err, &rejected) {
				r.Fail(misjudged(fmt.Sprintf("%d bytes of a request of %d", len(body), len(c.Body)), err))
				return
			}
		}
	}
	r.measure(nil)
	if peers, err := ncl.Peers(r.config().Coord); err != nil || len(peers) > 0 {
		r.Fail(misjudged(fmt.Sprintf("%d peers that were not to register are at the controller, which", len(peers)), err))
	}
}

// misreading finds one malformed value at the controller.
func misreading(r *run) {
	once := r.onceMore()
	r.useOf(r.h, garbled{r.config().Coord, &scenario.Once{By: r.h}}, func(err error) bool { return errors.Is(err, ncl.ErrMalformed) && once(err) })
}

// doingAgain repeats an operation that fails because of a peer.
func doingAgain(r *run) { r.useOf(r.h, r.config().Coord, r.onceMore()) }

// onceMore excuses one failure.
func (r *run) onceMore() func(error) bool {
	again := false
	return func(error) bool {
		r.Meet(sawAnew)
		defer func() { again = true }()
		return !again
	}
}

// garble returns an answer, or a malformed version of it.
func garble(o *scenario.Once, answer []byte) []byte {
	switch o.Pick(3) {
	case 1:
		return answer[:max(len(answer), 1)-1]
	case 2:
		return append(slices.Clone(answer), 0)
	case 3:
		return answer[:len(answer)/2]
	}
	return answer
}

// garbled is a controller with one garbled value.
type garbled struct {
	coord.Client
	*scenario.Once
}

func (g garbled) Get(key string) ([]byte, uint64, error) {
	value, version, err := g.Client.Get(key)
	if err == nil {
		value = garble(g.Once, value)
	}
	return value, version, err
}

// garbler is a host with one garbled answer.
type garbler struct {
	host.Host
	*scenario.Once
}

func (g garbler) Listen(service string) (host.Listener, error) {
	l, err := g.Host.Listen(service)
	return garblingListener{l, g.Once}, err
}

type garblingListener struct {
	host.Listener
	*scenario.Once
}

func (l garblingListener) Accept(timeout time.Duration) (host.Request, error) {
	q, err := l.Listener.Accept(timeout)
	if err != nil {
		return nil, err
	}
	return garblingRequest{q, l.Once}, nil
}

type garblingRequest struct {
	host.Request
	*scenario.Once
}

func (q garblingRequest) Reply(body []byte) {
	if at := len(body) - 8; at >= verbs.EndpointSize && q.Pick(1) == 1 { // the answer ends with how long a region is
		body = binary.BigEndian.AppendUint64(body[:at:at], binary.BigEndian.Uint64(body[at:])+1)
	}
	q.Request.Reply(garble(q.Once, body))
}
