package arcadia

import (
	"errors"
	"testing"

	"github.com/verbatim-rdma/verbatim/coord"
	"github.com/verbatim-rdma/verbatim/host"
	"github.com/verbatim-rdma/verbatim/kit/lend"
)

// The atomicity primitive takes the bytes of its size, and forces its index and the current buffer, and not a byte beside.
func TestAtomicForcesItsBytes(t *testing.T) {
	region, err := newF().OpenPMEM("value", 512)
	ok(t, err)
	m := &ranges{Local: Local{region}}
	a := &Atomic{Mem: m, At: 64, Len: 16}
	ok(t, errors.Join(a.Write(make([]byte, 16)), a.Write(make([]byte, 16))))
	_, err = a.Read()
	ok(t, err)
	index, end := 0, 0
	for _, x := range m.forced {
		switch x {
		case [2]int{64, 8}:
			index++
		case [2]int{72, 24}, [2]int{96, 24}:
		default:
			t.Errorf("it forces %d bytes at %d", x[1], x[0])
		}
		end = max(end, x[0]+x[1])
	}
	if index != 5 || len(m.forced) != 8 || end != a.At+a.Size() {
		t.Errorf("%v, and the size is %d", m.forced, a.Size())
	}
}

// Memory without superlines that cannot be read may have been a log: it is not taken for an empty one.
func TestUnreadableMemoryIsNotEmpty(t *testing.T) {
	const ring = 320
	for _, at := range []int{ringAt, ringAt + ring - 8} {
		h := newF()
		region, err := h.OpenPMEM("log", ringAt+ring)
		ok(t, err)
		h.Memory("log").Poison(at)
		if err := checkedEmpty(region); !errors.Is(err, ErrCorrupt) {
			t.Errorf("Inspect, unreadable at %d: %v", at, err)
		}
		if _, err := Open(h, Config{Name: "log", Size: ringAt + ring}); !errors.Is(err, ErrCorrupt) {
			t.Errorf("Open, unreadable at %d: %v", at, err)
		}
	}
}

// beaten is a client of the cluster's service beside which another one creates a key first.
type beaten struct{ coord.Client }

func (beaten) Get(string) ([]byte, uint64, error)         { return nil, 0, coord.ErrNotFound }
func (beaten) Create(string, []byte, coord.Session) error { return coord.ErrExists }

// Of two hosts that create a log at once, one is fenced.
func TestTheSecondCreationIsFenced(t *testing.T) {
	if _, err := begin(newF(), &Config{Name: "log", Backups: []string{"backup1"}, Quorum: 1, Coord: beaten{}}); !errors.Is(err, ErrFenced) {
		t.Error(err)
	}
}

// A recovery that cannot read the header of a record does not write it: the next one would take it for a record.
func TestRecoveryWritesNoHeaderThatItCannotRead(t *testing.T) {
	h := newF()
	l, m := h.open(t, 320)
	a := put(t, l, "11111111")
	ok(t, a.Force(1))
	m.Poison(ringAt + a.at)
	c := copyOf(1, 1, 1, 1)
	err := l.fetch(&Replicas{}, &choice{super: c.super, records: c.records}, []copyState{copyOf(1, 1, 1)})
	if !errors.Is(err, host.ErrMedia) {
		t.Error(err)
	}
	if w, err := host.TryLoad64(l.region, ringAt+a.at); !errors.Is(err, host.ErrMedia) {
		t.Errorf("the header is %x now, %v", w, err)
	}
}

// A host that cannot read its own copy says so: it does not judge the copy of another host in its place.
func TestAnUnreadableCopyIsNotJudged(t *testing.T) {
	h := newF()
	l, m := h.open(t, 320)
	ok(t, put(t, l, "11111111").Force(1))
	r := &Replicas{cfg: Config{Size: ringAt + 320}, mem: &lend.Memory{Region: l.region}}
	copies, err := l.survey(r, true)
	ok(t, err)
	if len(copies) != 1 || copies[0].kind != whole {
		t.Errorf("before: %+v", copies)
	}
	m.Poison(ringAt)
	if copies, err := l.survey(r, true); !errors.Is(err, ErrCorrupt) || !errors.Is(err, host.ErrMedia) {
		t.Errorf("%+v, %v", copies, err)
	}
}

// A copy without superline is blank only if every byte of its ring is zero, unless the log is known to exist.
func TestABlankCopyHasNoByteInItsRing(t *testing.T) {
	l := &Log{size: 320}
	for _, at := range []int{ringAt, ringAt + 319} {
		m := make(snapshot, ringAt+320)
		for _, created := range []bool{false, true} {
			if c, err := l.judge(m, created); err != nil || c.kind != blank {
				t.Errorf("zeros: %+v, %v", c, err)
			}
		}
		m[at] = 1
		if _, err := l.judge(m, false); !errors.Is(err, ErrForeign) {
			t.Errorf("byte %d is not zero: %v", at, err)
		}
		if c, err := l.judge(m, true); err != nil || c.kind != blank {
			t.Errorf("byte %d is not zero, and the log exists: %+v, %v", at, c, err)
		}
	}
}

// What a recovery has repaired in its own copy is durable before the copy counts.
func TestARepairedCopyIsDurable(t *testing.T) {
	h := newF()
	l, _ := h.open(t, 320)
	a, b := put(t, l, "11111111"), put(t, l, "22222222") // in the caches only, as what a recovery has read
	c := copyOf(1, 1, 2)
	ok(t, l.fetch(&Replicas{mem: &lend.Memory{Region: l.region}}, &choice{super: c.super, records: c.records}, []copyState{{}}))
	l, _ = h.power(nil).open(t, 320)
	if got := list(l); len(got) != 2 {
		t.Errorf("records %d and %d are repaired, and after a power failure there are %q", a.lsn, b.lsn, got)
	}
}
