package ncl

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// newTestRecovery is a recovery of a file on fake cards.
func newTestRecovery() (*recovery, []*card) {
	f, cards := newTestFile()
	scratch := memory(make([]byte, stampSize*len(cards)))
	return &recovery{f: f, stamps: make([]Stamp, 3), known: make([]bool, 3), heard: make([]bool, 3), scratch: &lend.Memory{Region: scratch, MR: scratch}}, cards
}

// reader is a card that keeps what is posted.
type reader struct {
	*card
	read []verbs.SendWR
}

func (r *reader) PostSend(wrs []verbs.SendWR) error {
	r.read = append(r.read, wrs...)
	return r.card.PostSend(wrs)
}

// A stamp and a region are read whole, to their places, with the configured timeout. A
// peer whose card accepts no request has failed.
func TestRecoveryReads(t *testing.T) {
	r, cards := newTestRecovery()
	l, c := r.f.links[2], &reader{card: cards[2]}
	l.QP, l.CQ, l.Windows[0] = c, c, lend.Window{Addr: 1 << 30, RKey: 9}
	if !r.postStampRead(2, l) || !r.f.group.Await(l, l.Asked) || !r.fetch(l) || len(c.read) != 2 {
		t.Fatal(l.Err, c.read)
	}
	for i, want := range []verbs.SGE{{Addr: 1<<20 + 2*stampSize, Length: stampSize, LKey: 1}, {Addr: 1 << 20, Length: stampSize + 64, LKey: 1}} {
		if wr := c.read[i]; wr.Op != verbs.OpRead || wr.RemoteAddr != 1<<30 || wr.RKey != 9 || len(wr.SGL) != 1 || wr.SGL[0] != want {
			t.Errorf("read %d: %+v; want it at %+v", i, wr, want)
		}
	}
	if !slices.Equal(c.waited, []time.Duration{r.f.cfg.CompletionTimeout, r.f.cfg.CompletionTimeout}) {
		t.Errorf("it was waited %v", c.waited)
	}
	c.depth, c.done = c.taken, nil
	for range 2 { // the second is not posted
		if r.postStampRead(2, l) || !errors.Is(l.Err, verbs.ErrQueueFull) || len(c.read) != 3 {
			t.Errorf("a queue without room: %v, %d requests", l.Err, len(c.read))
		}
	}
}

// A single peer with the largest stamp is the recovery peer at once. Of several it is the one that answers
// first to a second look.
func TestRecoveryPeer(t *testing.T) {
	for name, x := range map[string]struct {
		stamps []Stamp
		looks  []int
		want   int
	}{
		"one": {[]Stamp{1, 3, 2}, []int{0, 0, 0}, 1},
		"two": {[]Stamp{1, 3, 3}, []int{0, 1, 1}, 2},
	} {
		r, cards := newTestRecovery()
		r.known, r.stamps = []bool{true, true, true}, x.stamps
		cards[1].lag = true
		var readers []*reader
		for i, l := range r.f.links {
			readers = append(readers, &reader{card: cards[i]})
			l.QP = readers[i]
		}
		if l := r.recoveryPeer(); l != r.f.links[x.want] {
			t.Errorf("%s: it is %+v, not link %d", name, l, x.want)
		}
		for i, c := range readers {
			if len(c.read) != x.looks[i] {
				t.Errorf("%s: peer %d was read %d times", name, i, len(c.read))
			}
		}
	}
}

// onLender puts a test file on a host that keeps what is taken down. Its links are not connected yet.
func onLender(t *testing.T, f *File, cards []*card) *lender {
	h := &lender{}
	f.h, f.group = h, lend.GroupOf(h, lenderPD{l: h}, &channel{cards: cards})
	for i, c := range cards {
		l, err := f.newLink("peer")
		if err != nil {
			t.Fatal(err)
		}
		l.CQ, l.Windows = c, f.links[i].Windows
		f.links[i] = l
	}
	return h
}

// A recovery that fails leaves nothing of its own behind.
func TestRecoveriesThatFail(t *testing.T) {
	f, cards := newTestFile()
	h := onLender(t, f, cards)
	err := f.recover()
	if want := []string{"queue pair", "queue pair", "queue pair", "key", "region"}; !errors.Is(err, ErrUnavailable) || !slices.Equal(h.down, want) {
		t.Errorf("%v, and taken down were %v", err, h.down)
	}
}

// A recovery that finds too few peers posts nothing to those that are left.
func TestTooFewToRecover(t *testing.T) {
	r, cards := newTestRecovery()
	f := r.f
	onLender(t, f, cards)
	left := &reader{card: cards[0]}
	f.links[0].QP = left
	r.heard[0], r.known[0], r.said = true, true, 1 // the others do not answer
	if err := r.run(); !errors.Is(err, ErrUnavailable) || f.alive() != 1 || len(left.read) > 0 {
		t.Errorf("%v; %d peers are left, and get %d requests", err, f.alive(), len(left.read))
	}
}

// A completion of a peer whose stamp is no longer the largest is skipped.
func TestLateSecondLooks(t *testing.T) {
	r, cards := newTestRecovery()
	r.known, r.stamps, r.latest = []bool{true, true, true}, []Stamp{1, 2, 2}, 2
	cards[0].done, cards[2].done = []uint64{1}, []uint64{2}
	if l := r.firstToAnswer(); l != r.f.links[2] {
		t.Errorf("it was not the third: %+v", l)
	}
}

// A recovery can begin the last epoch, but cannot follow it.
func TestRecoveriesExhaustEpochs(t *testing.T) {
	for epoch, want := range map[uint32]error{MaxEpoch: ErrExhausted, MaxEpoch - 1: nil} {
		k := newKeys()
		e := entry{generation: generation{1, epoch}, size: 8, f: 1, peers: []string{"p1", "p2", "p3"}}
		_ = k.Create(fileKey("db", "wal"), e.encode(), coord.NoSession)
		got, _, err := takeOver(Config{App: "db", Coord: k}, "wal")
		if !errors.Is(err, want) || (err == nil) != (want == nil) || err == nil && got.epoch != MaxEpoch || k.sets > 0 && err != nil {
			t.Errorf("epoch %d: %d, %v after %d changes", epoch, got.epoch, err, k.sets)
		}
	}
}

// If the entry has changed, and the controller does not say how, the file counts as
// taken over.
func TestTakeOverWithoutSecondLook(t *testing.T) {
	a := &asked{keys: newKeys(), refuse: 3}
	e := entry{generation: generation{1, 1}, size: 8, f: 1, peers: []string{"p1", "p2", "p3"}}
	_ = a.keys.Create(fileKey("db", "wal"), e.encode(), coord.NoSession)
	a.before = func() error { return coord.ErrVersion }
	if _, _, err := takeOver(Config{App: "db", Coord: a}, "wal"); !errors.Is(err, ErrStale) || len(a.calls) != 3 {
		t.Errorf("%v after %v", err, a.calls)
	}
}

// answers are given answers to some calls.
type answers struct {
	given []host.Answer
	need  int // the number waited for
}

func (a *answers) Wait(need int) []host.Answer {
	a.need = need
	return a.given
}

// Errors do not count as answers when waiting.
func TestErrorsAreNoAnswers(t *testing.T) {
	r, _ := newTestRecovery()
	a := &answers{given: []host.Answer{{Err: host.ErrUnreachable}, {Body: []byte("nonsense")}, {}}}
	r.calls = a
	r.hear(2)
	if a.need != 2 || r.said != 1 || !slices.Equal(r.heard, []bool{true, true, false}) || r.allHeard() {
		t.Errorf("%d were waited for, %d have answered, and were heard: %v", a.need, r.said, r.heard)
	}
	if !errors.Is(r.f.links[0].Err, host.ErrUnreachable) || !errors.Is(r.f.links[1].Err, ErrMalformed) || r.f.links[2].Err != nil {
		t.Errorf("the peers have failed of %v, %v, %v", r.f.links[0].Err, r.f.links[1].Err, r.f.links[2].Err)
	}
}

// A recovery finishes when f+1 peers have switched. If fewer have the copy no peer is
// asked to.
func TestSwitchOver(t *testing.T) {
	for failed, asked := range map[int]int{0: 1, 1: 1, 2: 0} {
		f, _ := newTestFile()
		h := &heard{}
		on(f, h)
		for _, l := range f.links[:failed] {
			l.Err = verbs.ErrCompletion
		}
		if err := f.switchOver(); !errors.Is(err, ErrUnavailable) || h.asked != asked {
			t.Errorf("%d peers have failed and the others do not answer: %v, asked %d times", failed, err, h.asked)
		}
	}
}

// If all peers have switched the ap-map is not changed.
func TestNobodyIsLeftBehind(t *testing.T) {
	f, _ := newTestFile()
	k := newKeys()
	f.cfg.App, f.cfg.Coord, f.name = "db", k, "wal"
	if err := f.leaveBehind(); err != nil || k.sets > 0 {
		t.Errorf("%v after %d changes", err, k.sets)
	}
}

// A copy that leaked and was freed is gone: it is not freed again, and cannot be
// switched to.
func TestCollectForgetsTheCopy(t *testing.T) {
	k := newKeys()
	e := entry{generation: generation{2, 3}, size: 8, f: 0, peers: []string{"peer1"}}
	_ = k.Create(fileKey("db", "wal"), e.encode(), coord.NoSession)
	lent := func(g generation) *slot {
		return &slot{generation: g, size: 8, Loan: &lend.Loan{Memory: lend.Memory{Region: memory(make([]byte, 16)), MR: memory(nil)}}}
	}
	m := &mapping{app: "db", file: "wal", size: 8, current: lent(generation{2, 1}), fresh: lent(generation{2, 3})}
	p := &peer{h: named{name: "peer1"}, coord: k, quiet: true, limit: 100, lent: 32, taken: 32, mrMap: []*mapping{m}}
	for range 2 {
		if p.collect(); p.lent != 16 || m.fresh != nil || m.seen() != (generation{2, 1}) {
			t.Fatalf("it lends %d bytes: %+v", p.lent, m)
		}
	}
	if err := p.switchOver(&request{generation: e.generation, app: "db", file: "wal"}); !errors.Is(err, errNoFresh) {
		t.Errorf("it switches to a copy that is gone: %v", err)
	}
}

// A replacement in progress is no recovery: a concurrent recovery starts again.
func TestReplacementsDoNotSayThatTheyRecover(t *testing.T) {
	f, _ := newTestFile()
	k := newKeys()
	on(f, queueless{})
	f.cfg.App, f.cfg.Coord, f.cfg.Peers, f.name = "db", k, []string{"p1", "p2", "p3", "p4"}, "wal"
	f.entry.copying, f.entry.peers = true, f.cfg.Peers[:3] // as a recovery leaves it
	for i, l := range f.links {
		l.Peer = f.cfg.Peers[i]
	}
	f.links[2].Err = verbs.ErrCompletion
	enter(t, f)
	err := f.replace(1) // there are no queues for p4
	e, _, _ := loadEntry(k, "db", "wal")
	if !errors.Is(err, verbs.ErrUnsupported) || e.epoch != 2 || e.copying || !slices.Equal(e.joining, []string{"p4"}) || !slices.Equal(e.peers, f.cfg.Peers[:3]) {
		t.Errorf("%v, and the ap-map has %+v", err, e)
	}
}
