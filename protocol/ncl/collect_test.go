package ncl

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// answering is a host whose calls all have one answer. It records their timeouts.
type answering struct {
	quiet
	body    []byte
	err     error
	timeout time.Duration
}

func (a *answering) Call(_, _ string, _ []byte, timeout time.Duration) ([]byte, error) {
	a.timeout = timeout
	return a.body, a.err
}

// An operator's request to a peer returns the peer's answer, or an error with the
// reason, in time.
func TestOperatorsLearnOfErrors(t *testing.T) {
	figure := func(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }
	for _, x := range []struct {
		answer answering
		want   error
		lent   int
	}{
		{answering{err: host.ErrUnreachable}, host.ErrUnreachable, 0},
		{answering{body: figure(72)}, nil, 72},
		{answering{body: figure(math.MaxInt)}, nil, math.MaxInt},
		{answering{body: figure(math.MaxInt + 1)}, ErrMalformed, 0},
		{answering{body: figure(72)[1:]}, ErrMalformed, 0},
	} {
		lent, err := Collect(&x.answer, "peer1", time.Minute)
		if !errors.Is(err, x.want) || (err == nil) != (x.want == nil) || err == nil && lent != x.lent || x.answer.timeout != time.Minute {
			t.Errorf("collect, answered %v, %v: %d, %v after at most %v; want %d, %v", x.answer.body, x.answer.err, lent, err, x.answer.timeout, x.lent, x.want)
		}
		if err := Revoke(&x.answer, "peer1", time.Second); !errors.Is(err, x.answer.err) || (err == nil) != (x.answer.err == nil) || x.answer.timeout != time.Second {
			t.Errorf("revoke, answered %v: %v after at most %v", x.answer.err, err, x.answer.timeout)
		}
	}
}

// arrivals is a listener at which requests arrive at given times. It advances a clock.
type arrivals struct {
	*clock
	after  []time.Duration
	waited []time.Duration
}

func (a *arrivals) Accept(timeout time.Duration) (host.Request, error) {
	a.waited = append(a.waited, timeout)
	if len(a.after) == 0 {
		return nil, host.ErrClosed
	}
	if timeout != verbs.Forever && a.after[0] > timeout {
		a.after[0] -= timeout
		a.now += timeout
		return nil, host.ErrTimeout
	}
	a.now += a.after[0]
	a.after = a.after[1:]
	return nil, nil
}

func (a *arrivals) Close() error { return nil }

// counted is a controller that counts requests for an entry.
type counted struct {
	coord.Client
	gets int
}

func (c *counted) Get(string) ([]byte, uint64, error) {
	c.gets++
	return nil, 0, coord.ErrUnavailable
}

// A peer looks for leaked regions as often as configured, whatever requests arrive in
// between, and accepts all of those.
func TestCollectsInTime(t *testing.T) {
	const s = time.Second
	for name, x := range map[string]struct {
		every         time.Duration
		after, waited []time.Duration
		gets          int
	}{
		"never":              {0, []time.Duration{5 * s, 50 * s}, []time.Duration{verbs.Forever, verbs.Forever, verbs.Forever}, 0},
		"without requests":   {10 * s, []time.Duration{25 * s}, []time.Duration{10 * s, 10 * s, 10 * s, 5 * s}, 2},
		"between requests":   {10 * s, []time.Duration{4 * s, 4 * s, 4 * s}, []time.Duration{10 * s, 6 * s, 2 * s, 10 * s, 8 * s}, 1},
		"after a long one":   {10 * s, []time.Duration{3 * s, 0}, []time.Duration{10 * s, 7 * s, 7 * s}, 0},
		"when it is past it": {-10 * s, []time.Duration{15 * s}, []time.Duration{0, 10 * s, 10 * s, 5 * s}, 2},
	} {
		c := &clock{now: 7 * s}
		lis := &arrivals{clock: c, after: slices.Clone(x.after)}
		k := &counted{}
		p := &peer{h: c, coord: k, every: max(x.every, -x.every), due: c.now + x.every, mrMap: []*mapping{{app: "db", file: "wal"}}}
		taken := 0
		for {
			_, err := p.acceptOrCollect(lis)
			if err != nil {
				if !errors.Is(err, host.ErrClosed) {
					t.Errorf("%s: %v", name, err)
				}
				break
			}
			taken++
		}
		if taken != len(x.after) || !slices.Equal(lis.waited, x.waited) || k.gets != x.gets {
			t.Errorf("%s: %d requests, waits of %v and %d looks; want %d, %v and %d", name, taken, lis.waited, k.gets, len(x.after), x.waited, x.gets)
		}
	}
}

// A leaked region is freed although the peer is being asked to hold the file again, and
// the copy in progress stays.
func TestCollectKeepsTheCopy(t *testing.T) {
	k := newKeys()
	e := entry{generation: generation{2, 3}, size: 8, f: 0, peers: []string{"other"}, joining: []string{"peer1"}}
	_ = k.Create(fileKey("db", "wal"), e.encode(), coord.NoSession)
	lent := func(g generation) *slot {
		return &slot{generation: g, size: 8, Loan: &lend.Loan{Memory: lend.Memory{Region: memory(make([]byte, 16)), MR: memory(nil)}}}
	}
	m := &mapping{app: "db", file: "wal", size: 8, current: lent(generation{2, 1}), fresh: lent(generation{2, 3})}
	fresh := m.fresh
	p := &peer{h: named{name: "peer1"}, coord: k, quiet: true, limit: 100, lent: 32, taken: 32, mrMap: []*mapping{m}}
	for range 2 {
		if p.collect(); p.lent != 16 || m.current != nil || m.fresh != fresh || len(p.mrMap) != 1 {
			t.Fatalf("it lends %d bytes: %+v", p.lent, m)
		}
	}
	if err := p.switchOver(&request{generation: e.generation, app: "db", file: "wal"}); err != nil || p.lent != 16 || m.current != fresh {
		t.Errorf("it lends %d bytes after the switch: %+v, %v", p.lent, m, err)
	}
}

type named struct {
	quiet
	name string
}

func (n named) Name() string { return n.name }
