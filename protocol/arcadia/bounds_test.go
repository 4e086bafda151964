package arcadia

import (
	"bytes"
	"errors"
	"testing"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/host"
)

// frail is a Store in which one call fails: a Load, which leaves the buffer as it was, or a Force.
type frail struct {
	Local
	left int // until a call fails
}

var errFrail = errors.New("the call failed")

func (f *frail) fails() bool {
	f.left--
	return f.left == 0
}

func (f *frail) Load(off int, p []byte) error {
	if f.fails() {
		return errFrail
	}
	return f.Local.Load(off, p)
}

func (f *frail) Force(off, n int) error {
	if f.fails() {
		return errFrail
	}
	return f.Local.Force(off, n)
}

// An error of the memory is one of the primitive: also if the data are zeros, whose checksum fits what a failed Load leaves.
func TestPrimitivesReportEveryError(t *testing.T) {
	zeros := make([]byte, 16)
	for name, use := range map[string]func(Store) (err error){ //lint:ordered each is checked
		"Reliable.Write": func(m Store) error { return (&Reliable{Mem: m, Max: 16}).Write(1, zeros) },
		"Reliable.Read": func(m Store) error {
			_, data, err := (&Reliable{Mem: m, Max: 16}).Read()
			if err == nil && !bytes.Equal(data, zeros) {
				t.Errorf("%q is read", data)
			}
			return err
		},
		"Atomic.Write": func(m Store) error { return (&Atomic{Mem: m, At: 64, Len: 16}).Write(zeros) },
		"Atomic.Read": func(m Store) error {
			_, err := (&Atomic{Mem: m, At: 64, Len: 16}).Read()
			return err
		},
	} {
		region, err := newF().OpenPMEM("value", 512)
		ok(t, err)
		m := Local{region}
		ok(t, (&Reliable{Mem: m, Max: 16}).Write(1, zeros))
		ok(t, (&Atomic{Mem: m, At: 64, Len: 16}).Write(zeros))
		n := 1
		for ; ; n++ {
			f := &frail{m, n}
			err := use(f)
			if f.left > 0 {
				ok(t, err)
				break
			}
			if !errors.Is(err, errFrail) {
				t.Errorf("%s: call %d failed, and the error is %v", name, n, err)
			}
		}
		if n < 2 {
			t.Errorf("%s makes no call", name)
		}
	}
}

// The primitives take as many bytes as they are for, and no other number.
func TestPrimitivesRefuseOtherLengths(t *testing.T) {
	region, err := newF().OpenPMEM("value", 512)
	ok(t, err)
	r, a := &Reliable{Mem: Local{region}, Max: 16}, &Atomic{Mem: Local{region}, At: 64, Len: 16}
	ok(t, errors.Join(r.Write(1, make([]byte, 16)), r.Write(1, nil), a.Write(make([]byte, 16))))
	for _, err := range []error{r.Write(1, make([]byte, 17)), a.Write(make([]byte, 15)), a.Write(make([]byte, 17))} {
		if !errors.Is(err, ErrTooLarge) {
			t.Error(err)
		}
	}
}

// A record may be empty, and as large as the log.
func TestSmallestAndLargestRecord(t *testing.T) {
	h := newF()
	l, _ := h.open(t, 320)
	r, err := l.Append(nil)
	ok(t, err)
	ok(t, l.Cleanup(r))
	_, err = l.Append(make([]byte, l.MaxRecord()))
	ok(t, err)
	for _, n := range []int{-1, l.MaxRecord() + 1} {
		if _, err := l.Reserve(n); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	l, _ = h.open(t, 320)
	if len(l.records) != 1 || l.records[0].size != l.MaxRecord() {
		t.Errorf("%+v", l.records)
	}
}

// Who opened the log before is fenced by either superline: a media error in the other one does not hide it.
func TestFencedByOneSuperline(t *testing.T) {
	for damaged := range 2 {
		for _, unreadable := range []bool{true, false} {
			h := newF()
			old, _ := h.open(t, 320)
			_, m := h.open(t, 320)
			if unreadable {
				m.Poison(damaged * superSize)
			} else {
				m.Flip(8*damaged*superSize + 1)
			}
			if _, err := old.Append([]byte("a")); !errors.Is(err, ErrFenced) {
				t.Errorf("superline %d is damaged: %v", damaged, err)
			}
		}
	}
}

// A record whose header cannot be read is not marked as cleaned up: nothing is written.
func TestCleanupOfARecordWithoutHeader(t *testing.T) {
	h := newF()
	l, m := h.open(t, 320)
	a, b := put(t, l, "11111111"), put(t, l, "22222222")
	ok(t, b.Force(1))
	m.Poison(ringAt + b.at)
	if err := l.Cleanup(b); !errors.Is(err, ErrCorrupt) {
		t.Error(err)
	}
	if _, err := host.TryLoad64(l.region, ringAt+b.at); err == nil {
		t.Error("the header of the unreadable record was written")
	}
	ok(t, l.Cleanup(a))
	if err := l.Cleanup(b); err != nil { // it is the oldest now
		t.Error(err)
	}
}

// The first byte of the ring belongs to it: Inspect takes memory without superlines for a log only if all of it is zero.
func TestInspectLooksAtAllOfTheRing(t *testing.T) {
	const ring = 320
	for _, at := range []int{ringAt, ringAt + ring - 1} {
		h := newF()
		region, err := h.OpenPMEM("log", ringAt+ring)
		ok(t, err)
		ok(t, checkedEmpty(region))
		region.Store(at, []byte{1})
		if err := checkedEmpty(region); !errors.Is(err, ErrForeign) {
			t.Errorf("byte %d: %v", at, err)
		}
	}
}

func checkedEmpty(r host.Region) error {
	_, err := Inspect(Local{r}, "log", r.Len())
	return err
}

// No cut of a log's entry at the cluster's service is taken for an entry of other members.
func TestCutPromises(t *testing.T) {
	p := promise{epoch: 3, created: true, quorum: 2, members: []string{"app", "backup1"}}
	b := p.encode()
	got, err := decodePromise(b)
	ok(t, err)
	if got.epoch != 3 || !got.created || got.quorum != 2 || len(got.members) != 2 {
		t.Errorf("%+v", got)
	}
	for n := range b {
		got, err := decodePromise(b[:n])
		if err == nil && len(got.members) == 2 || err != nil && !errors.Is(err, ErrCorrupt) {
			t.Errorf("%d of %d bytes: %+v, %v", n, len(b), got, err)
		}
		if whole := n == 17 || n == 17+4; err == nil && !whole {
			t.Errorf("%d of %d bytes are taken for %+v", n, len(b), got)
		}
	}
	for what, p := range map[string]promise{"no epoch": {quorum: 1}, "an epoch too large": {epoch: maxEpoch + 1, quorum: 1}, "no quorum": {epoch: 1}} {
		if _, err := decodePromise(p.encode()); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", what, err)
		}
	}
	last := promise{epoch: maxEpoch, quorum: 1, members: []string{"backup1"}}
	if _, err := decodePromise(last.encode()); err != nil {
		t.Error(err)
	}
}

// A log that was opened again keeps its records and its epoch, whatever who opened it before cleans up.
func TestOlderOpenCleansNothingUp(t *testing.T) {
	for what, clean := range map[string]func(l *Log, r *Record) error{ //lint:ordered each is checked
		"the first record": func(l *Log, _ *Record) error { return l.Cleanup(l.records[0]) },
		"the last record":  func(l *Log, r *Record) error { return l.Cleanup(r) },
		"all records":      func(l *Log, _ *Record) error { return l.CleanupAll() },
	} {
		for _, knows := range []bool{false, true} {
			h := newF()
			old, _ := h.open(t, 320)
			put(t, old, "11111111")
			r := put(t, old, "22222222")
			ok(t, r.Force(1))
			l, m := h.open(t, 320)
			_, err := l.Append([]byte("33333333"))
			ok(t, err)
			if knows { // a Force has failed already
				if _, err := old.Append([]byte("44444444")); !errors.Is(err, ErrFenced) {
					t.Error(err)
				}
				_, err := l.Append([]byte("55555555"))
				ok(t, err)
			}
			before := m.Image()
			if err := clean(old, r); !errors.Is(err, ErrFenced) {
				t.Errorf("%s: %v", what, err)
			}
			if !bytes.Equal(m.Image(), before) {
				t.Errorf("%s: the memory has changed", what)
			}
		}
	}
}

// Force of a record that was cleaned up returns nil and does nothing: nobody needs the record.
func TestForceOfACleanedUpRecord(t *testing.T) {
	h := newF()
	old, _ := h.open(t, 320)
	r := put(t, old, "11111111")
	ok(t, old.Cleanup(r))
	h.open(t, 320)
	ok(t, r.Force(1))
}

// The largest values that a superline may have are those of one; larger ones are not.
func TestLimitsOfASuperline(t *testing.T) {
	limit := superline{id: 1, ring: 320, start: maxLSN, head: 312, epoch: maxEpoch, since: maxLSN}
	for what, c := range map[string]struct {
		change func(s *superline)
		ok     bool
	}{ //lint:ordered each is checked
		"the largest": {func(*superline) {}, true},
		"start":       {func(s *superline) { s.start++ }, false},
		"epoch":       {func(s *superline) { s.epoch++ }, false},
		"since":       {func(s *superline) { s.since++ }, false},
		"no start":    {func(s *superline) { s.start = 0 }, false},
		"no epoch":    {func(s *superline) { s.epoch = 0 }, false},
		"no since":    {func(s *superline) { s.since = 0 }, false},
		"head":        {func(s *superline) { s.head = 328 }, false},
		"odd head":    {func(s *superline) { s.head = 4 }, false},
		"smallest":    {func(s *superline) { *s = superline{start: 1, epoch: 1, since: 1} }, true},
	} {
		s := limit
		c.change(&s)
		var b [superSize]byte
		s.put(b[:])
		if got, ok := getSuperline(b[:]); ok != c.ok || ok && got != s {
			t.Errorf("%s: %+v, %v", what, got, ok)
		}
	}
}

// A configuration may have the largest and the smallest size, and no other length than words.
func TestLimitsOfConfigs(t *testing.T) {
	for size, want := range map[int]bool{MinSize: true, MinSize - 8: false, MinSize + 4: false, MaxSize: true, MaxSize + 8: false} { //lint:ordered each is checked
		c := Config{Name: "log", Size: size}
		if err := c.Validate(); (err == nil) != want || err != nil && !errors.Is(err, ErrConfig) {
			t.Errorf("Size %d: %v", size, err)
		}
	}
	for c, want := range map[BackupConfig]bool{{"log", MaxReplicatedSize}: true, {"log", MaxReplicatedSize + 8}: false, {"", MinSize}: false,
		{"log", MinSize}: true, {"log", MinSize - 8}: false} { //lint:ordered each is checked
		if err := c.Validate(); (err == nil) != want || err != nil && !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// ranges remembers what was forced.
type ranges struct {
	Local
	forced [][2]int
}

func (r *ranges) Force(off, n int) error {
	r.forced = append(r.forced, [2]int{off, n})
	return r.Local.Force(off, n)
}

// The integrity primitive forces what it writes and what it returns, and not a byte beside.
func TestReliableForcesItsBytes(t *testing.T) {
	region, err := newF().OpenPMEM("value", 512)
	ok(t, err)
	m := &ranges{Local: Local{region}}
	r := &Reliable{Mem: m, At: 64, Max: 16}
	ok(t, r.Write(1, make([]byte, 9)))
	_, _, err = r.Read()
	ok(t, err)
	for _, x := range m.forced {
		if x != [2]int{64, reliableHeader + 9} {
			t.Errorf("%v", m.forced)
		}
	}
	if len(m.forced) != 2 {
		t.Errorf("%v", m.forced)
	}
}

// After a failure nothing is reserved or forced any more, and the error is the first one.
func TestFailedLogStaysFailed(t *testing.T) {
	l, m := newF().open(t, 320)
	r := put(t, l, "11111111")
	l.err = errFrail
	before := m.Image()
	_, err := l.Reserve(8)
	for _, err := range []error{err, r.Force(1), l.Cleanup(r)} {
		if !errors.Is(err, errFrail) {
			t.Error(err)
		}
	}
	if !bytes.Equal(m.Image(), before) {
		t.Error("the memory has changed")
	}
}

// anyCoord is a client that nobody calls.
type anyCoord struct{ coord.Client }

// A replicated log may have the largest size.
func TestLargestReplicatedSize(t *testing.T) {
	for size, want := range map[int]bool{MaxReplicatedSize: true, MaxReplicatedSize + 8: false} { //lint:ordered each is checked
		c := Config{Name: "log", Size: size, Backups: []string{"backup1"}, Quorum: 1, Coord: anyCoord{}}
		if err := c.Validate(); (err == nil) != want || err != nil && !errors.Is(err, ErrConfig) {
			t.Errorf("Size %d: %v", size, err)
		}
	}
}

// What is free is what is not allotted, on both sides of it or between its ends.
func TestFreeBytesOfARing(t *testing.T) {
	for want, r := range map[int]ring{100: {size: 100}, 70: {size: 100, head: 30, tail: 60}, 40: {size: 100, tail: 60}, 20: {size: 100, head: 30, tail: 10, wrapped: true}} { //lint:ordered each is checked
		if got := r.free(); got != want {
			t.Errorf("%+v: %d", r, got)
		}
	}
}
