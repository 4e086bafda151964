package ncl

import (
	"encoding/binary"
	"errors"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// card is a card whose writes complete at once, for one link.
type card struct {
	verbs.QP
	verbs.CQ
	depth, taken int // slots of the send queue
	done         []uint64
	status       verbs.Status
	lag          bool // the channel does not report it
	waited       []time.Duration
}

func (c *card) Destroy() error { return nil }

type domain struct{ verbs.PD }

func (domain) Dealloc() error { return nil }

func (c *card) PostSend(wrs []verbs.SendWR) error {
	if c.taken += len(wrs); c.taken > c.depth {
		return &verbs.PostError{Err: verbs.ErrQueueFull}
	}
	for i := range wrs {
		if wrs[i].Flags&verbs.Signaled != 0 {
			c.done = append(c.done, wrs[i].ID)
		}
	}
	return nil
}

func (c *card) Poll(wc []verbs.WC) (int, error) {
	if len(c.done) == 0 {
		return 0, nil
	}
	wc[0] = verbs.WC{ID: c.done[0], Status: c.status, Op: verbs.WCWrite}
	c.done = c.done[:copy(c.done, c.done[1:])]
	c.taken -= 2
	return 1, nil
}

func (c *card) Wait(wc []verbs.WC, timeout time.Duration) (int, error) {
	c.waited = append(c.waited, timeout)
	return c.Poll(wc)
}

type channel struct {
	verbs.CompChannel
	cards  []*card
	waited []time.Duration // the timeout of each wait
}

func (ch *channel) Wait(timeout time.Duration) (verbs.CQ, error) {
	ch.waited = append(ch.waited, timeout)
	for _, c := range ch.cards {
		if len(c.done) > 0 && !c.lag {
			return c, nil
		}
	}
	return nil, verbs.ErrTimeout
}

func (ch *channel) Destroy() error { return nil }

func (ch *channel) Gather(cqs []verbs.CQ, wcs []verbs.WC, timeout time.Duration) error {
	ch.waited = append(ch.waited, timeout)
	for i, q := range cqs {
		if n, _ := q.Poll(wcs[i : i+1]); n == 0 {
			return verbs.ErrTimeout
		}
	}
	return nil
}

type memory []byte

func (m memory) Addr() uint64                                   { return 1 << 20 }
func (m memory) Len() int                                       { return len(m) }
func (m memory) Load(off int, p []byte)                         { copy(p, m[off:]) }
func (m memory) Store(off int, p []byte)                        { copy(m[off:], p) }
func (m memory) Load64(off int) uint64                          { return binary.LittleEndian.Uint64(m[off:]) }
func (m memory) Store64(off int, v uint64)                      { binary.LittleEndian.PutUint64(m[off:], v) }
func (m memory) CompareAndSwap64(off int, old, new uint64) bool { return false }
func (m memory) Add64(off int, delta uint64) uint64             { return 0 }
func (m memory) Flush(off, n int)                               {}
func (m memory) Fence()                                         {}
func (m memory) Free() error                                    { return nil }
func (m memory) LKey() uint32                                   { return 1 }
func (m memory) RKey() uint32                                   { return 1 }
func (m memory) Dereg() error                                   { return nil }

type quiet struct{ host.Host }

func (quiet) Logf(string, ...any) {}

func (quiet) Visit(names []string) host.Visit { return host.InTurn(names) }

// Gather asks peers, none of which answers.
func (quiet) Gather(calls []host.Call, _ time.Duration) host.Gather { return nobody(len(calls)) }

type nobody int

func (n nobody) Wait(int) []host.Answer {
	out := make([]host.Answer, n)
	for i := range out {
		out[i].Err = host.ErrTimeout
	}
	return out
}

// newTestFile has three peers on fake cards.
func newTestFile() (*File, []*card) {
	const depth = 8
	mem := memory(make([]byte, stampSize+64))
	cfg := Config{CompletionTimeout: time.Second, QueueDepth: depth}
	ch := &channel{}
	f := &File{h: quiet{}, cfg: cfg, entry: entry{generation: generation{1, 1}, size: 64, f: 1}, buf: &lend.Memory{Region: mem, MR: mem},
		group: lend.GroupOf(quiet{}, domain{}, ch), inline: 32, stamp: MakeStamp(1, 0)}
	f.group.Timeout = cfg.CompletionTimeout
	f.prepareWrites()
	for range 3 {
		c := &card{depth: depth}
		ch.cards = append(ch.cards, c)
		f.links = append(f.links, &link{CQ: c, QP: c, Depth: depth, Windows: []lend.Window{{Len: stampSize + 64}}})
	}
	return f, ch.cards
}

// on puts a test file on host h. It returns the channel of its cards.
func on(f *File, h host.Host) *channel {
	ch := &channel{}
	for _, l := range f.links {
		ch.cards = append(ch.cards, l.QP.(*card))
	}
	f.h = h
	f.group = lend.GroupOf(h, domain{}, ch)
	f.group.Timeout = f.cfg.CompletionTimeout
	return ch
}

func TestRecordAllocatesNothing(t *testing.T) {
	f, _ := newTestFile()
	data := make([]byte, 24)
	if n := testing.AllocsPerRun(100, func() {
		if err := f.Record(0, data); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("a write makes %v allocations", n)
	}
}

// A lagging peer is waited for when its queue is full, and not before.
func TestRecordWaitsForRoom(t *testing.T) {
	f, cards := newTestFile()
	cards[2].lag = true
	for i := range 20 {
		if err := f.Record(i, []byte("x")); err != nil {
			t.Fatal(err)
		}
		if l := f.links[2]; l.Err != nil || cards[2].taken != min(2*i+2, cards[2].depth) {
			t.Fatalf("write %d: %d places taken, %v", i, cards[2].taken, l.Err)
		}
	}
}

func TestRecordLosesPeers(t *testing.T) {
	f, cards := newTestFile()
	cards[0].status = verbs.StatusRetryExcErr
	if err := f.Record(0, []byte("a")); err != nil {
		t.Fatalf("with two of three peers: %v", err)
	}
	cards[1].status = verbs.StatusRetryExcErr
	err := f.Record(1, []byte("b"))
	if !errors.Is(err, ErrUnavailable) || !errors.Is(err, verbs.ErrCompletion) {
		t.Fatalf("with one of three peers: %v", err)
	}
	if s := f.Stamp(); f.Record(2, []byte("c")) == nil || f.Stamp() != s {
		t.Errorf("a write without peers changed the stamp from %v to %v", s, f.Stamp())
	}
}

// Maintained records its data, and reports it.
func TestMaintainedRecords(t *testing.T) {
	f, cards := newTestFile()
	m := &Maintained{File: f}
	if err := m.Record(0, []byte("a")); err != nil || f.Stamp() != MakeStamp(1, 1) || f.buf.Region.(memory)[stampSize] != 'a' {
		t.Errorf("%v, stamp %v", err, f.Stamp())
	}
	cards[0].status, cards[1].status = verbs.StatusRetryExcErr, verbs.StatusRetryExcErr
	f.closed = true
	if err := m.Record(1, []byte("b")); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

func TestBounds(t *testing.T) {
	f, _ := newTestFile()
	const most = int(^uint(0) >> 1)
	for _, off := range []int{-1, 64, 65, most} {
		if err := f.Record(off, []byte("x")); !errors.Is(err, ErrBounds) {
			t.Errorf("a write at %d: %v", off, err)
		}
		if _, err := f.ReadAt(make([]byte, 1), off); !errors.Is(err, ErrBounds) {
			t.Errorf("a read at %d: %v", off, err)
		}
	}
	f.stamp = MakeStamp(1, MaxSeq)
	if err := f.Record(0, []byte("x")); !errors.Is(err, ErrExhausted) {
		t.Errorf("after the last number: %v", err)
	}
	if err := f.Record(0, nil); err != nil {
		t.Errorf("nothing needs no number: %v", err)
	}
	f.closed = true
	if err := f.Record(0, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

func TestStampOrder(t *testing.T) {
	up := []Stamp{0, MakeStamp(1, 0), MakeStamp(1, 1), MakeStamp(1, MaxSeq), MakeStamp(2, 0), MakeStamp(MaxEpoch, MaxSeq)}
	for i := 1; i < len(up); i++ {
		if up[i-1] >= up[i] || MakeStamp(up[i].Epoch(), up[i].Seq()) != up[i] {
			t.Errorf("%v, then %v", up[i-1], up[i])
		}
	}
}

func BenchmarkRecord(b *testing.B) {
	f, _ := newTestFile()
	data := make([]byte, 24)
	b.ReportAllocs()
	for b.Loop() {
		if err := f.Record(0, data); err != nil {
			b.Fatal(err)
		}
	}
}

// lockCount is a mutex that counts how often it is taken.
type lockCount struct{ locks, unlocks int }

func (c *lockCount) Lock()   { c.locks++ }
func (c *lockCount) Unlock() { c.unlocks++ }

// With Watch, several tasks use the handle: nothing that looks at it does so without the lock.
func TestLooksTakeTheLock(t *testing.T) {
	f, _ := newTestFile()
	for name, look := range map[string]func(m *Maintained){
		"Size":       func(m *Maintained) { m.Size() },
		"Stamp":      func(m *Maintained) { m.Stamp() },
		"Alive":      func(m *Maintained) { m.Alive() },
		"Peers":      func(m *Maintained) { m.Peers() },
		"AlivePeers": func(m *Maintained) { m.AlivePeers() },
		"ReadAt":     func(m *Maintained) { _, _ = m.ReadAt(make([]byte, 1), 0) },
	} {
		mu := &lockCount{}
		if look(&Maintained{File: f, mu: mu}); mu.locks != 1 || mu.unlocks != 1 {
			t.Errorf("%s takes the lock %d times, and gives it back %d times", name, mu.locks, mu.unlocks)
		}
	}
}
