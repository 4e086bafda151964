package arcadia

import (
	"bytes"
	"errors"
	"testing"

	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/lend"
	"github.com/verbatim-rdma/verbatim/verbs"
)

// judged returns what a recovery makes of a copy of a log that exists.
func judged(t *testing.T, l *Log) copyState {
	t.Helper()
	m := make(snapshot, l.region.Len())
	l.region.Load(0, m)
	c, err := l.judge(m, true)
	ok(t, err)
	return c
}

// A copy that lacks a record that its epoch began with is damaged, and does not count: with W=N=2 the other copy may be
// out of reach, and the log must then be unavailable, and not shorter.
func TestCopyWithADamagedRecordDoesNotCount(t *testing.T) {
	h := newF()
	l, _ := h.open(t, 2048)
	ok(t, put(t, l, "11111111").Force(1))
	l, m := h.open(t, 2048) // the new epoch begins with the record
	if c := judged(t, l); c.kind != whole || len(c.records) != 1 {
		t.Fatalf("undamaged: %+v", c)
	}
	m.Flip(8 * (ringAt + headerSize))
	c := judged(t, l)
	if c.kind != corrupt {
		t.Errorf("damaged: %+v", c)
	}
	if got, err := choose([]copyState{c, {kind: absent}}, 1, true); !errors.Is(err, ErrCorrupt) {
		t.Errorf("the log is recovered as %+v, %v", got, err)
	}
}

// A copy with an unreadable part loses its superlines: the content there is unknown, so a record of this epoch may be
// missing, which its superlines would not show.
func TestScrubbedCopyWithDamageDoesNotCount(t *testing.T) {
	h := newF()
	l, m := h.open(t, 2048)
	for range 40 {
		put(t, l, "11111111")
	}
	ok(t, put(t, l, "11111111").Force(1))
	scrub(l.region)
	if c := judged(t, l); c.kind != whole || len(c.records) != 41 {
		t.Fatalf("undamaged: %+v", c)
	}
	m.Poison(ringAt + l.records[30].at)
	scrub(l.region)
	if c := judged(t, l); c.kind != blank {
		t.Errorf("damaged: kind %d with %d of 41 records", c.kind, len(c.records))
	}
}

// What a killed process has left in the caches of this host is durable before a recovery counts the copy.
func TestLocalCopyIsDurableBeforeItCounts(t *testing.T) {
	h := newF()
	l, _ := h.open(t, 640)
	put(t, l, "1") // not forced
	r := &Replicas{h: h, cfg: Config{Name: "log", Size: ringAt + 640}, group: lend.GroupOf(h, anyMemory{}, nil)}
	_, err := r.local()
	ok(t, err)
	h = h.power(nil)
	l, _ = h.open(t, 640)
	expect(t, "after a power failure", list(l), "1:1")
}

// anyMemory is a protection domain that registers everything.
type anyMemory struct{ verbs.PD }

func (anyMemory) RegisterMR(verbs.Memory, verbs.Access) (verbs.MR, error) { return cardMR{}, nil }

// reader is a card that executes Reads.
type reader struct {
	cardQP
	from []byte
	to   host.Region
}

func (r reader) PostSend(wrs []verbs.SendWR) error {
	for _, wr := range wrs {
		to := wr.SGL[0]
		r.to.Store(int(to.Addr), r.from[wr.RemoteAddr:][:to.Length])
		r.put(verbs.WC{Op: verbs.WCRead, ID: wr.ID})
	}
	return nil
}

// A copy that is larger than the buffer for images is read in pieces, each from its place.
func TestCopyIsReadInPieces(t *testing.T) {
	h, c := newF(), &card{}
	buffer, err := h.Alloc(64)
	ok(t, err)
	want := make([]byte, 3*64+8)
	for i := range want {
		want[i] = byte(i)
	}
	conn := &lend.Conn{CQ: cardCQ{c}, QP: reader{cardQP{c}, want, buffer}, Depth: 2 * inFlight, Windows: []lend.Window{{Len: len(want)}}}
	r := &Replicas{h: h, group: lend.GroupOf(h, c, cardChannel{c}), scratch: &lend.Memory{Region: buffer, MR: cardMR{}}}
	got := make(snapshot, len(want))
	ok(t, r.readImage(&replica{conn: conn}, got))
	if !bytes.Equal(got, want) {
		t.Errorf("%d", got)
	}
}

// copyOf is a whole copy with records from an LSN on, of 32 bytes each; cleaned lists those that are cleaned up.
func copyOf(epoch, start uint64, records int, cleaned ...uint64) copyState {
	c := copyState{kind: whole, super: superline{start: start, head: 32 * int(start-1), epoch: epoch, since: 1}}
	for i := range records {
		lsn := start + uint64(i)
		f := found{header: header{size: 8, lsn: lsn, epoch: epoch, sum: uint32(lsn), valid: true}, at: 32 * int(lsn-1)}
		for _, x := range cleaned {
			if x == lsn {
				f.cleaned, f.sum = true, ^f.sum
			}
		}
		c.records = append(c.records, f)
	}
	return c
}

// Once a log exists, copies without superline have lost their content, however many they are.
func TestCopiesThatLostAllDoNotCount(t *testing.T) {
	copies := []copyState{{kind: blank}, {kind: absent}, {kind: blank}}
	if c, err := choose(copies, 2, true); !errors.Is(err, ErrCorrupt) {
		t.Errorf("the log exists: %+v, %v", c, err)
	}
	if c, err := choose(copies, 2, false); c != nil || err != nil {
		t.Errorf("there is no log yet: %+v, %v", c, err)
	}
}

// A copy of an earlier epoch may have another record with the same LSN, which was cleaned up: that says nothing of ours.
func TestOnlyCopiesThatCountCleanUp(t *testing.T) {
	old := copyOf(1, 1, 2, 2)
	for name, c := range map[string]struct {
		copies []copyState
		want   bool
	}{
		"of an earlier epoch": {[]copyState{copyOf(2, 1, 2), copyOf(2, 1, 2), old}, false},
		"of this epoch":       {[]copyState{copyOf(2, 1, 2), copyOf(2, 1, 2), copyOf(2, 1, 2, 2)}, true},
	} {
		got, err := choose(c.copies, 2, true)
		ok(t, err)
		if got.records[0].cleaned || got.records[1].cleaned != c.want {
			t.Errorf("cleaned up in a copy %s: %+v", name, got.records)
		}
	}
}

// A copy that has missed the last cleanup does not bring back the records that were cleaned up, wherever it is in the list.
func TestTheLatestStartCounts(t *testing.T) {
	behind, ahead := copyOf(2, 1, 3), copyOf(2, 3, 1)
	for _, copies := range [][]copyState{{behind, ahead}, {ahead, behind}} {
		got, err := choose(copies, 2, true)
		ok(t, err)
		if got.super.start != 3 || len(got.records) != 1 || got.records[0].lsn != 3 || got.super.head != got.records[0].at {
			t.Errorf("the log is %+v", got)
		}
	}
}

// settled returns a log as a recovery of these records leaves it.
func settled(ring int, c *choice) *Log {
	l := &Log{size: ring}
	l.settle(c, 3)
	return l
}

// If records at the beginning are marked as cleaned up, the superline begins behind them.
func TestSettleBeginsBehindCleanedRecords(t *testing.T) {
	for cleaned, want := range []uint64{1, 2, 3, 4} { // the last log is empty
		c := copyOf(2, 1, 3, []uint64{1, 2, 3}[:cleaned]...)
		l := settled(96, &choice{super: c.super, records: c.records})
		if l.super.start != want || l.next != 4 || len(l.records) != 3-cleaned || len(l.records) > 0 && l.super.head != l.records[0].at {
			t.Errorf("%d cleaned up: %+v, next %d, %d records", cleaned, l.super, l.next, len(l.records))
		}
	}
}

// A log that lies across the end of its ring is still wrapped after a recovery: a new record does not take the place of
// the oldest.
func TestSettleOfAWrappedLog(t *testing.T) {
	c := copyOf(2, 2, 3) // in a ring of three: the last one lies at 0
	c.records[2].at = 0
	l := settled(96, &choice{super: c.super, records: c.records})
	if at := l.ring.take(32); at >= 0 {
		t.Errorf("a full ring allots a record at %d", at)
	}
	l.ring.release(64) // the oldest is cleaned up
	if at := l.ring.take(32); at != 32 {
		t.Errorf("the next record is at %d, not in the place of the oldest", at)
	}
}
