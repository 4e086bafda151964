package verbs

import (
	"errors"
	"testing"
)

var (
	postAttr = &DeviceAttr{MaxInline: 64, MaxSGE: 2, MaxQPWR: 64, HasFlush: true, HasAtomicWrite: true}
	postCfg  = &QPConfig{MaxSGE: 2, MaxInline: 64}
)

// list is a scatter/gather list of pieces with these lengths.
func list(lengths ...uint32) (sgl []SGE) {
	for _, n := range lengths {
		sgl = append(sgl, SGE{Length: n})
	}
	return sgl
}

func TestCheckSend(t *testing.T) {
	const both = FlushGlobal | FlushPersistent
	plain := &DeviceAttr{MaxInline: 64, MaxSGE: 2, MaxQPWR: 64}
	for _, x := range []struct {
		what string
		wr   SendWR
		attr *DeviceAttr
		full bool
		want string
	}{
		{what: "a Write", wr: SendWR{Op: OpWrite, Flags: Signaled | Fence | Inline | Solicited, SGL: list(32, 32)}},
		{what: "an inline AtomicWrite", wr: SendWR{Op: OpAtomicWrite, Flags: Inline, SGL: list(8)}},
		{what: "a Flush", wr: SendWR{Op: OpFlush, FlushTo: both}},
		{what: "an Atomic of the wrong length", wr: SendWR{Op: OpFetchAdd, SGL: list(4)}}, // it completes in error
		{what: "an unknown flag", wr: SendWR{Op: OpWrite, Flags: 0x10}, want: "verbs: invalid argument: flags 0x10"},
		{what: "opcode 0", want: "verbs: invalid argument: opcode 0"},
		{what: "opcode 10", wr: SendWR{Op: 10}, want: "verbs: invalid argument: opcode 10"},
		{what: "no Flush", wr: SendWR{Op: OpFlush, FlushTo: both}, attr: plain, want: "verbs: not supported by the device: Flush"},
		{what: "no AtomicWrite", wr: SendWR{Op: OpAtomicWrite}, attr: plain, want: "verbs: not supported by the device: AtomicWrite"},
		{what: "a Flush with an SGL", wr: SendWR{Op: OpFlush, FlushTo: both, SGL: list(8)},
			want: "verbs: invalid argument: a Flush has no SGL, and FlushTo is FlushGlobal, FlushPersistent or both"},
		{what: "a Flush to nothing", wr: SendWR{Op: OpFlush},
			want: "verbs: invalid argument: a Flush has no SGL, and FlushTo is FlushGlobal, FlushPersistent or both"},
		{what: "a full queue", wr: SendWR{Op: OpWrite}, full: true, want: "verbs: work queue full: QP 7"},
		{what: "too many SGEs", wr: SendWR{Op: OpWrite, SGL: list(1, 1, 1)}, want: "verbs: invalid argument: 3 SGEs, the QP takes 2"},
		{what: "an inline Read", wr: SendWR{Op: OpRead, Flags: Inline}, want: "verbs: invalid argument: Read takes no inline data"},
		{what: "an inline Flush", wr: SendWR{Op: OpFlush, FlushTo: both, Flags: Inline}, want: "verbs: invalid argument: Flush takes no inline data"},
		{what: "too much inline", wr: SendWR{Op: OpSend, Flags: Inline, SGL: list(64, 1)}, want: "verbs: invalid argument: 65 bytes inline, the QP takes 64"},
	} {
		attr := postAttr
		if x.attr != nil {
			attr = x.attr
		}
		got := ""
		if err := postCfg.CheckSend(7, attr, &x.wr, x.full); err != nil {
			got = err.Error()
		}
		if got != x.want {
			t.Errorf("%s: %q, want %q", x.what, got, x.want)
		}
	}
}

func TestCheckRecv(t *testing.T) {
	if err := postCfg.CheckRecv(7, &RecvWR{SGL: list(1, 1)}, false); err != nil {
		t.Error(err)
	}
	if err := postCfg.CheckRecv(7, &RecvWR{SGL: list(1, 1, 1)}, false); !errors.Is(err, ErrInvalid) {
		t.Error(err)
	}
	if err := postCfg.CheckRecv(7, &RecvWR{}, true); !errors.Is(err, ErrQueueFull) {
		t.Error(err)
	}
}

func TestCheckPostState(t *testing.T) {
	for s := StateReset; s <= StateErr; s++ {
		send, recv := s.CheckPostSend(7), s.CheckPostRecv(7)
		if (send == nil) != (s >= StateRTS) || (recv == nil) != (s != StateReset) {
			t.Errorf("%v: %v, %v", s, send, recv)
		}
		if send != nil && (!errors.Is(send, ErrState) || send.Error() != "verbs: wrong queue pair state: QP 7 is in "+s.String()) {
			t.Error(send)
		}
	}
}

// The rules about words and access, operation by operation.
func TestOperations(t *testing.T) {
	for o, want := range [...]struct {
		word  bool
		needs Access
	}{
		OpWrite: {false, RemoteWrite}, OpWriteImm: {false, RemoteWrite}, OpRead: {false, RemoteRead}, OpSend: {}, OpSendImm: {},
		OpCompareSwap: {true, RemoteAtomic}, OpFetchAdd: {true, RemoteAtomic}, OpFlush: {false, FlushGlobal},
		OpAtomicWrite: {true, RemoteWrite},
	} {
		o := Opcode(o)
		if o.OnWord() != want.word || o.Aligned(12) == want.word || !o.Aligned(16) || o.Fits(4) == want.word || !o.Fits(8) {
			t.Errorf("%v: words", o)
		}
		if got := o.Needs(FlushGlobal); got != want.needs {
			t.Errorf("%v needs %#x, want %#x", o, got, want.needs)
		}
	}
}

// fakeCQ is a CQ of a channel, by number.
type fakeCQ struct {
	CQ
	channel int
}

func TestCheckGather(t *testing.T) {
	a, b, other := &fakeCQ{channel: 1}, &fakeCQ{channel: 1}, &fakeCQ{channel: 2}
	of := func(q CQ) bool { return q.(*fakeCQ).channel == 1 }
	wc := make([]WC, 2)
	for _, x := range []struct {
		cqs  []CQ
		want string
	}{
		{[]CQ{a, b}, ""}, {nil, ""},
		{[]CQ{a, b, a}, "verbs: invalid argument: room for 2 completions of 3 CQs"},
		{[]CQ{a, other}, "verbs: invalid argument: CQ 1 belongs to another channel"},
		{[]CQ{b, b}, "verbs: invalid argument: CQ 1 is listed twice"},
	} {
		got := ""
		if err := CheckGather(x.cqs, wc, of); err != nil {
			got = err.Error()
		}
		if got != x.want {
			t.Errorf("%q, want %q", got, x.want)
		}
	}
}

func TestChecksDoNotAllocate(t *testing.T) {
	wr := SendWR{Op: OpWrite, Flags: Inline, SGL: list(8, 8)}
	cqs, wc, own := []CQ{&fakeCQ{}, &fakeCQ{}}, make([]WC, 2), &fakeCQ{}
	n := testing.AllocsPerRun(100, func() {
		if StateRTS.CheckPostSend(1) != nil || postCfg.CheckSend(1, postAttr, &wr, false) != nil ||
			CheckGather(cqs, wc, func(q CQ) bool { return q != own }) != nil {
			t.Error("refused")
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}
