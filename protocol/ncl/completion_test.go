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

// A write waits for completions no longer than configured.
func TestRecordWaitsInTime(t *testing.T) {
	f, cards := newTestFile()
	ch := on(f, f.h)
	for _, c := range cards {
		c.lag = true
	}
	if err := f.Record(0, []byte("x")); !errors.Is(err, ErrUnavailable) || !errors.Is(err, verbs.ErrTimeout) {
		t.Errorf("nobody completes it: %v", err)
	}
	if !slices.Equal(ch.waited, []time.Duration{f.cfg.CompletionTimeout}) {
		t.Errorf("it was waited %v", ch.waited)
	}
	for range 8 {
		_ = f.Record(0, []byte("x"))
	}
	for i, c := range cards {
		if len(c.waited) != 5 || slices.ContainsFunc(c.waited, func(d time.Duration) bool { return d != f.cfg.CompletionTimeout }) {
			t.Errorf("peer %d was waited for %v", i, c.waited)
		}
	}
}

// A queue of odd length accepts no half of a write.
func TestOddQueues(t *testing.T) {
	f, cards := newTestFile()
	f.links[2].Depth, cards[2].depth, cards[2].lag = 3, 3, true
	for range 4 {
		if err := f.Record(0, []byte("x")); err != nil || f.links[2].Err != nil {
			t.Fatal(err, f.links[2].Err)
		}
	}
}

// A payload that fits goes inline, and a larger one from the buffer, whatever preceded
// it. A peer whose card accepts no more has failed, and the others have the write.
func TestPosts(t *testing.T) {
	f, cards := newTestFile()
	for _, n := range []int{f.inline, f.inline + 1, 1, 64} {
		if err := f.Record(0, make([]byte, n)); err != nil {
			t.Fatal(err)
		}
		if inline := f.wrs[0].Flags&verbs.Inline != 0; inline != (n <= f.inline) {
			t.Errorf("%d bytes are sent inline: %v", n, inline)
		}
		if data, stamp := f.wrs[0].SGL[0], f.wrs[1].SGL[0]; int(data.Length) != n || stamp.Length != stampSize {
			t.Errorf("%d bytes are sent as %d, and a stamp as %d", n, data.Length, stamp.Length)
		}
	}
	posted := f.links[1].Asked
	cards[1].depth = 0
	if err := f.Record(0, []byte("x")); err != nil || !errors.Is(f.links[1].Err, verbs.ErrQueueFull) || f.links[1].Asked != posted {
		t.Errorf("%v; the peer has failed of %v", err, f.links[1].Err)
	}
}

// Deleting a file with a change in doubt first resolves the change.
func TestReleaseInDoubt(t *testing.T) {
	before := entry{generation: generation{7, 1}, size: 64, f: 1, peers: []string{"p1", "p2", "p3"}}
	change, other := before, before
	change.epoch, other.epoch = 2, 3
	for name, x := range map[string]struct {
		there  *entry
		refuse int
		want   error
	}{
		"carried out":     {&change, 0, nil},
		"not carried out": {&before, 0, nil},
		"another's":       {&other, 0, ErrStale},
		"gone":            {nil, 0, nil}, // by an earlier Release, say
		"nobody says":     {&before, 1, coord.ErrUnavailable},
		"nobody deletes":  {&before, 2, coord.ErrUnavailable},
	} {
		f, _ := newTestFile()
		a := &asked{keys: newKeys(), refuse: 2} // the change
		f.cfg.App, f.cfg.Coord, f.name, f.entry = "db", a, "wal", before
		enter(t, f)
		if err := f.save(change); !errors.Is(err, coord.ErrUnavailable) {
			t.Fatal(err)
		}
		a.refuse = -1
		if x.refuse > 0 {
			a.refuse = len(a.calls) + x.refuse
		}
		delete(a.versions, f.key())
		if x.there != nil {
			a.values[f.key()], a.versions[f.key()] = x.there.encode(), coord.FirstVersion
			if x.there == &change {
				a.versions[f.key()]++
			}
		}
		there := a.versions[f.key()] > 0
		h := &heard{}
		on(f, h)
		err := f.Release()
		if (err == nil) != (h.asked == 1) {
			t.Errorf("%s: %v, and the peers were asked %d times", name, err, h.asked)
		}
		if !errors.Is(err, x.want) || (err == nil) != (x.want == nil) || f.closed != (err == nil) {
			t.Errorf("%s: %v; want %v", name, err, x.want)
		}
		if left := a.versions[f.key()] > 0; left != (there && err != nil) {
			t.Errorf("%s: the ap-map has the file: %v", name, left)
		}
	}
}

// heard is a host that records the requests to peers, and their timeouts.
type heard struct {
	quiet
	asked   int
	timeout time.Duration
}

func (h *heard) Gather(calls []host.Call, timeout time.Duration) host.Gather {
	h.asked++
	h.timeout = timeout
	return nobody(len(calls))
}

// Requests to peers have the configured timeout, and a peer that has not answered has
// not agreed.
func TestAsksInTime(t *testing.T) {
	f, _ := newTestFile()
	h := &heard{}
	on(f, h)
	f.cfg.CallTimeout = time.Minute
	if f.ask(opSwitch, f.links); h.asked != 1 || h.timeout != time.Minute {
		t.Errorf("they were asked %d times, for %v", h.asked, h.timeout)
	}
	for _, x := range []struct {
		answer host.Answer
		want   error
	}{
		{host.Answer{}, host.ErrTimeout},
		{host.Answer{Err: host.ErrUnreachable}, host.ErrUnreachable},
		{host.Answer{Err: &host.RemoteError{}}, ErrRejected},
		{host.Answer{Body: []byte{0}}, ErrMalformed},
		{host.Answer{Body: []byte{}}, nil},
	} {
		if err := answered(f.links[0], &x.answer, opSwitch); !errors.Is(err, x.want) || (err == nil) != (x.want == nil) {
			t.Errorf("%+v: %v; want %v", x.answer, err, x.want)
		}
	}
}

// Both regions that a peer offers to a recovery must have the file's size.
func TestOffersOfOtherSizes(t *testing.T) {
	for _, sizes := range [][2]int{{16, 72}, {72, 16}} {
		g := lend.Greeting{Windows: []lend.Window{{Len: sizes[0]}, {Len: sizes[1]}}}
		l := &link{Peer: "p1"}
		if err := accept(l, &host.Answer{Body: g.Encode()}, opRecover, 64); !errors.Is(err, ErrMalformed) {
			t.Errorf("regions of %v bytes: %v", sizes, err)
		}
	}
}

// A card must be able to send a stamp inline.
func TestCardsForStamps(t *testing.T) {
	for inline, want := range map[int]error{stampSize - 1: ErrConfig, stampSize: verbs.ErrUnsupported} {
		if _, err := newFile(slight{inline: inline}, Config{}, "wal", entry{}); !errors.Is(err, want) {
			t.Errorf("a card that takes %d bytes: %v", inline, err)
		}
	}
}

type slight struct {
	quiet
	inline int
}

func (s slight) Device() verbs.Device { return slightCard{nil, s.inline} }

type slightCard struct {
	verbs.Device
	inline int
}

func (c slightCard) Attr() verbs.DeviceAttr     { return verbs.DeviceAttr{MaxInline: c.inline} }
func (c slightCard) AllocPD() (verbs.PD, error) { return nil, verbs.ErrUnsupported }

// A Repair with nothing to replace contacts nobody, and waits until f+1 peers have the
// writes that a late Record left in flight.
func TestRepairWithoutFailures(t *testing.T) {
	f, cards := newTestFile()
	k := newKeys()
	f.cfg.App, f.cfg.Coord, f.name = "db", k, "wal"
	for _, c := range cards {
		c.lag = true
	}
	if err := f.Record(0, []byte("x")); !errors.Is(err, ErrUnavailable) || f.alive() != 3 {
		t.Fatal(err, f.alive())
	}
	if err := f.Repair(); !errors.Is(err, ErrUnavailable) || k.sets > 0 {
		t.Errorf("nobody has the write: %v after %d changes", err, k.sets)
	}
	for _, c := range cards[:2] {
		c.lag = false
	}
	if err := f.Repair(); err != nil || f.complete() != 2 || k.sets > 0 {
		t.Errorf("two peers can have it: %v, %d, after %d changes", err, f.complete(), k.sets)
	}
	f.closed = true
	if err := f.Repair(); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}
