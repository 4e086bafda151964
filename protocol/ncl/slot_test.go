package ncl

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// lender is the host of a log peer, and its card. It records what is torn down, and one
// operation fails.
type lender struct {
	quiet
	lacks string
	down  []string
}

var errLacks = errors.New("there is none")

func (l *lender) lack(what string) error {
	if l.lacks == what {
		return errLacks
	}
	return nil
}

func (l *lender) takeDown(what string) error {
	l.down = append(l.down, what)
	return l.lack("end of " + what)
}

func (l *lender) Name() string         { return "peer" }
func (l *lender) Device() verbs.Device { return lenderCard{l: l} }

type lenderCard struct {
	verbs.Device
	l *lender
}

func (c lenderCard) Attr() verbs.DeviceAttr                            { return verbs.DeviceAttr{MaxInline: 64} }
func (c lenderCard) CreateCompChannel() (verbs.CompChannel, error)     { return &channel{}, nil }
func (c lenderCard) AllocPD() (verbs.PD, error)                        { return lenderPD{l: c.l}, nil }
func (c lenderCard) CreateCQ(int, verbs.CompChannel) (verbs.CQ, error) { return nil, nil }

// lenderOn is a log peer's Lender on h.
func lenderOn(h host.Host) *lend.Lender {
	l, err := lend.NewLender(h)
	if err != nil {
		panic(err)
	}
	return l
}

func (l *lender) Alloc(n int) (host.Region, error) {
	return lentRegion{memory(make([]byte, n)), l}, l.lack("memory")
}

type lentRegion struct {
	memory
	l *lender
}

func (r lentRegion) Free() error  { return r.l.takeDown("region") }
func (r lentRegion) Dereg() error { return r.l.takeDown("key") }

type lenderPD struct {
	verbs.PD
	l *lender
}

func (p lenderPD) RegisterMR(m verbs.Memory, _ verbs.Access) (verbs.MR, error) {
	if err := p.l.lack("key"); err != nil {
		return nil, err
	}
	return m.(lentRegion), nil
}

func (lenderPD) Dealloc() error { return nil }

func (p lenderPD) CreateQP(verbs.QPConfig) (verbs.PreparedQP, error) {
	return lenderQP{l: p.l}, p.l.lack("queue pair")
}

type lenderQP struct {
	verbs.QP
	l *lender
}

func (q lenderQP) Endpoint() verbs.Endpoint { return someEnd }
func (q lenderQP) Destroy() error           { return q.l.takeDown("queue pair") }
func (q lenderQP) Connect(verbs.Endpoint) (verbs.QP, error) {
	if err := q.l.lack("connection"); err != nil {
		return nil, err
	}
	return q, nil
}

// A region that cannot be lent leaves nothing behind. One that can is torn down once,
// in order: the connection, the key, the memory.
func TestSlotsAreTakenDown(t *testing.T) {
	for lacks, want := range map[string]struct {
		down []string
		used int // while it is lent, or after the attempt failed
	}{
		"":              {nil, 16},
		"memory":        {nil, 0},
		"key":           {[]string{"region"}, 0},
		"queue pair":    {[]string{"key", "region"}, 0},
		"connection":    {[]string{"queue pair", "key", "region"}, 0},
		"end of region": {nil, 16},
	} {
		h := &lender{lacks: lacks}
		p := &peer{h: h, lender: lenderOn(h), limit: 16}
		s, err := p.newSlot(&request{generation: generation{1, 1}}, 8)
		if (err == nil) != (want.used > 0) || err != nil && !errors.Is(err, errLacks) || p.lent != want.used || !slices.Equal(h.down, want.down) {
			t.Errorf("without %s: %v, %d bytes are lent, and taken down were %v; want %d, %v", lacks, err, p.lent, h.down, want.used, want.down)
		}
		if err != nil {
			continue
		}
		if s.end != someEnd || s.Window().Len != 16 {
			t.Errorf("it is %+v at %+v", s.Window(), s.end)
		}
		p.disconnect(s)
		p.free(s)
		if !slices.Equal(h.down, []string{"queue pair", "key", "region"}) {
			t.Errorf("taken down were %v", h.down)
		}
		if left := map[string]int{"": 0, "end of region": 16}[lacks]; p.lent != left || p.taken != left {
			t.Errorf("without %s it lends %d bytes in the end, and %d are taken beside the files", lacks, p.lent, p.taken)
		}
	}
}

// A connection is closed before its key is revoked, even if nothing has closed it
// before.
func TestSlotsAreDisconnectedFirst(t *testing.T) {
	h := &lender{}
	p := &peer{h: h, lender: lenderOn(h), limit: 16}
	if s, err := p.newSlot(&request{}, 8); err != nil {
		t.Fatal(err)
	} else if p.free(s); !slices.Equal(h.down, []string{"queue pair", "key", "region"}) {
		t.Errorf("taken down were %v", h.down)
	}
}

// A recovery that cannot begin leaves nothing behind.
func TestRecoveriesThatCannotBegin(t *testing.T) {
	f, _ := newTestFile()
	h := &lender{lacks: "key"}
	f.h, f.group = h, lend.GroupOf(h, lenderPD{l: h}, nil)
	if err := f.recover(); !errors.Is(err, errLacks) || !slices.Equal(h.down, []string{"region"}) {
		t.Errorf("%v, and taken down were %v", err, h.down)
	}
}

// A peer that has no memory for a copy, and nothing else of the file, forgets it, and takes the next request.
func TestCopiesWithoutMemory(t *testing.T) {
	h := &lender{}
	p := &peer{h: h, lender: lenderOn(h), limit: claim(8)}
	r := request{op: opJoin, app: "db", file: "wal", size: 8}
	for i, lacks := range []string{"", "memory", ""} {
		h.lacks, r.generation = lacks, generation{1, uint32(i + 2)}
		if _, err := p.join(&r); (err == nil) != (lacks == "") || len(p.mrMap) != (p.lent+15)/16 {
			t.Errorf("epoch %d: %v, it lends %d bytes, and the mr-map has %d files", r.epoch, err, p.lent, len(p.mrMap))
		}
	}
}

// A peer that has no memory for a new file forgets it, and takes the next request. The application hears why.
func TestFilesWithoutMemory(t *testing.T) {
	h := &lender{lacks: "memory"}
	p := &peer{h: h, lender: lenderOn(h), limit: claim(8)}
	r := request{op: opAlloc, app: "db", file: "wal", size: 8, generation: generation{1, 1}}
	if _, err := p.alloc(&r); !errors.Is(err, errLacks) || len(p.mrMap) != 0 || p.taken != 0 {
		t.Errorf("%v, the mr-map has %d files, and %d bytes are taken", err, len(p.mrMap), p.taken)
	}
	h.lacks = ""
	if _, err := p.alloc(&r); err != nil {
		t.Error(err)
	}
	r.op, r.file = opJoin, "more"
	if _, err := p.join(&r); !errors.Is(err, errNoMemory) {
		t.Errorf("a copy for which there is no memory left: %v", err)
	}
}

// Close ends the connections before it frees the buffer that their requests may still be sent from.
func TestCloseEndsConnectionsFirst(t *testing.T) {
	h := &lender{}
	f, err := newFile(h, Config{}, "wal", entry{size: 8, peers: []string{"p1"}})
	if err != nil {
		t.Fatal(err)
	}
	if f.Close(); !slices.Equal(h.down, []string{"queue pair", "key", "region"}) {
		t.Errorf("taken down were %v", h.down)
	}
}

// The local buffer is as large as the regions of the peers.
func TestBuffers(t *testing.T) {
	h := &lender{}
	if f, err := newFile(h, Config{}, "wal", entry{size: 8}); err != nil || f.buf.Region.Len() != stampSize+8 {
		t.Errorf("%v, a buffer of %d bytes", err, f.buf.Region.Len())
	}
}

// A peer accepts files as long as there is memory for their regions and for a copy of each, and not a byte more.
func TestMemoryToLend(t *testing.T) {
	r := request{op: opAlloc, app: "db", file: "wal", size: 8, generation: generation{1, 1}}
	for limit, want := range map[int]error{claim(8): nil, claim(8) - 1: errNoMemory} {
		h := &lender{}
		p := &peer{h: h, lender: lenderOn(h), limit: limit + 5, taken: 5}
		if _, err := p.alloc(&r); !errors.Is(err, want) || (err == nil) != (want == nil) {
			t.Errorf("8 bytes of %d: %v", limit, err)
		}
	}
}

// A file that a peer has accepted finds memory for a copy there, whatever else it has accepted since.
func TestMemoryForACopy(t *testing.T) {
	h := &lender{}
	p := &peer{h: h, lender: lenderOn(h), limit: 3 * claim(8)}
	accepted := 0
	for i := range 5 {
		r := request{op: opAlloc, app: "db", file: fmt.Sprint("wal", i), size: 8, generation: generation{1, 1}}
		if _, err := p.alloc(&r); err == nil {
			accepted++
		} else if !errors.Is(err, errNoMemory) {
			t.Fatal(err)
		}
	}
	if accepted != 3 {
		t.Errorf("%d files of %d bytes fit into %d", accepted, claim(8), p.limit)
	}
	for epoch := uint32(2); epoch < 4; epoch++ { // of the first no application is left to switch
		for i := range accepted {
			r := request{op: opRecover, app: "db", file: fmt.Sprint("wal", i), generation: generation{1, epoch}}
			if _, err := p.recover(&r); err != nil {
				t.Errorf("recovery %d of file %d: %v", epoch, i, err)
			}
		}
	}
	r := request{op: opJoin, app: "db", file: "wal0", size: 9, generation: generation{1, 4}}
	if _, err := p.join(&r); !errors.Is(err, errSize) {
		t.Errorf("a copy of another size: %v", err)
	}
	for i := range accepted {
		if err := p.release(&request{app: "db", file: fmt.Sprint("wal", i), generation: generation{1, 4}}); err != nil {
			t.Error(err)
		}
	}
	if p.taken != 0 || p.lent != 0 {
		t.Errorf("%d bytes are taken and %d lent in the end", p.taken, p.lent)
	}
}

// A peer that could not free memory, and has nothing left to lend, does not tell the controller that it has
// more than anybody.
func TestNothingLeftToLend(t *testing.T) {
	h := &lender{}
	a := &asked{keys: newKeys()}
	p := &peer{h: h, coord: a, lender: lenderOn(h), limit: claim(8)}
	r := request{op: opAlloc, app: "db", file: "wal", size: 8, generation: generation{1, 1}}
	if _, err := p.alloc(&r); err != nil {
		t.Fatal(err)
	}
	r.op, r.epoch = opRecover, 2
	if _, err := p.recover(&r); err != nil {
		t.Fatal(err)
	}
	h.lacks = "end of region"
	if err := p.switchOver(&r); err != nil {
		t.Fatal(err)
	}
	p.tell()
	if all, err := Peers(&listing{asked: a, keys: []string{"peers/peer"}}); err != nil || len(all) != 1 || all[0].Left != 0 {
		t.Errorf("%v, and the controller hears of %+v", err, all)
	}
}

// listing is a controller that lists keys whether or not they exist.
type listing struct {
	*asked
	keys []string
	err  error
}

func (l *listing) List(string) ([]string, error) { return l.keys, l.err }

// A peer deleted during the listing is omitted. Only reasons that keep a file from its
// peers are reported.
func TestRegisteredPeers(t *testing.T) {
	for name, x := range map[string]struct {
		keys     []string
		err      error
		refuse   int
		want     []string
		rejected error
	}{
		"one is gone":       {keys: []string{"peers/gone", "peers/p1"}, want: []string{"p1"}},
		"nobody":            {rejected: errNobody},
		"one with too few":  {keys: []string{"peers/p2", "peers/p1"}, want: []string{"p1", "p2"}},
		"no answer":         {err: coord.ErrUnavailable},
		"no answer for one": {keys: []string{"peers/p1"}, refuse: 1, err: coord.ErrUnavailable},
	} {
		l := &listing{&asked{keys: newKeys(), refuse: x.refuse}, x.keys, x.err}
		if x.refuse > 0 {
			l.err = nil
		}
		for name, left := range map[string]byte{"p1": 144, "p2": 143} {
			_ = l.asked.keys.Create(peersPrefix+name, []byte{7: left}, coord.NoSession)
		}
		f, _ := newTestFile()
		f.cfg.Coord = l
		got, err := f.registered()
		if !errors.Is(err, x.err) || (err == nil) != (x.err == nil) || !slices.Equal(got, x.want) ||
			!errors.Is(f.rejected, x.rejected) || (f.rejected == nil) != (x.rejected == nil) {
			t.Errorf("%s: %v, %v, and the reason %v; want %v, %v, %v", name, got, err, f.rejected, x.want, x.err, x.rejected)
		}
	}
}

// A peer reports changes to the controller, and nothing else.
func TestTellsWhatChanged(t *testing.T) {
	a := &asked{keys: newKeys()}
	p := &peer{h: named{name: "p1"}, coord: a, limit: 100, taken: 16, told: 16}
	p.tell()
	if len(a.calls) > 0 {
		t.Errorf("without a change: %v", a.calls)
	}
	p.taken = 32
	for range 2 {
		p.tell()
	}
	if !slices.Equal(a.calls, []string{"create peers/p1"}) || a.values["peers/p1"][7] != 68 {
		t.Errorf("after a change: %v, %v", a.calls, a.values)
	}
}

// inbox is a listener with the results of its requests; the controller is called
// meanwhile.
type inbox struct {
	lender
	requests []request
	did      []string
}

func (b *inbox) Now() time.Duration                   { return 0 }
func (b *inbox) Name() string                         { return "p1" }
func (b *inbox) Listen(string) (host.Listener, error) { return inboxListener{b}, nil }

type inboxListener struct{ *inbox }

func (b inboxListener) Close() error { return nil }
func (b inboxListener) Accept(_ time.Duration) (host.Request, error) {
	if len(b.requests) == 0 {
		return nil, host.ErrClosed
	}
	r := b.requests[0]
	b.inbox.requests = b.requests[1:]
	return inboxRequest{r, b.inbox}, nil
}

type inboxRequest struct {
	r request
	b *inbox
}

func (q inboxRequest) From() string    { return "app" }
func (q inboxRequest) Body() []byte    { return q.r.encode() }
func (q inboxRequest) Reply([]byte)    { q.b.did = append(q.b.did, "reply") }
func (q inboxRequest) Reject(r string) { q.b.did = append(q.b.did, "reject") }

type telling struct {
	*asked
	b *inbox
}

func (c telling) Create(key string, value []byte, s coord.Session) error {
	c.b.did = append(c.b.did, fmt.Sprint("tell ", value[7]))
	return c.asked.Create(key, value, s)
}

// A request does not wait for the controller, which gets a change after the answer.
func TestAnswersComeFirst(t *testing.T) {
	b := &inbox{requests: []request{requests[0], requests[0], {op: opRevoke}}}
	err := ServePeer(b, PeerConfig{Memory: 172, Coord: telling{&asked{keys: newKeys()}, b}})
	want := []string{"tell 172", "reply", "tell 28", "reject", "tell 28", "reply", "tell 172"} // of each it hears again: it has not taken the first 28
	if !errors.Is(err, host.ErrClosed) || !slices.Equal(b.did, want) {
		t.Errorf("%v after %v; want %v", err, b.did, want)
	}
}
