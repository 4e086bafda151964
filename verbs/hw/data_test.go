//go:build rdma

package hw

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"
	"time"

	"github.com/verbatim-rdma/verbatim/verbs"
)

func fill(b []byte, seed byte) []byte {
	for i := range b {
		b[i] = seed + byte(i*7)
	}
	return b
}

func TestWriteAndRead(t *testing.T) {
	a, b := pair(t, verbs.QPConfig{})
	for i, n := range []int{1, 8, 100, 4096, 4097, 32 << 10} {
		src := fill(a.mem.Bytes()[:n], byte(i+1))
		id := uint64(2 * i)
		a.post(verbs.SendWR{ID: id, Op: verbs.OpWrite, Flags: verbs.Signaled, RKey: b.mr.RKey(), RemoteAddr: b.at(32 << 10), SGL: a.list(0, n)})
		if wc := a.want(id, verbs.StatusSuccess); wc.Op != verbs.WCWrite {
			t.Errorf("the completion says %v", wc.Op)
		}
		a.post(verbs.SendWR{ID: id + 1, Op: verbs.OpRead, Flags: verbs.Signaled, RKey: b.mr.RKey(), RemoteAddr: b.at(32 << 10), SGL: a.list(32<<10, n)})
		if wc := a.want(id+1, verbs.StatusSuccess); wc.Op != verbs.WCRead {
			t.Errorf("the completion says %v", wc.Op)
		}
		if !bytes.Equal(b.mem.Bytes()[32<<10:][:n], src) || !bytes.Equal(a.mem.Bytes()[32<<10:][:n], src) {
			t.Errorf("%d bytes are not the same on the other side", n)
		}
	}
}

func TestSendAndReceive(t *testing.T) {
	a, b := pair(t, verbs.QPConfig{})
	if err := b.qp.PostRecv([]verbs.RecvWR{{ID: 7, SGL: b.list(0, 64)}, {ID: 8, SGL: b.list(64, 64)}, {ID: 9}}); err != nil {
		t.Fatal(err)
	}
	copy(a.mem.Bytes(), "hello, world")
	a.post(verbs.SendWR{ID: 1, Op: verbs.OpSend, SGL: a.list(0, 5)},
		verbs.SendWR{ID: 2, Op: verbs.OpSendImm, Imm: 0xdeadbeef, SGL: a.list(7, 5)},
		verbs.SendWR{ID: 3, Op: verbs.OpWriteImm, Imm: 42, Flags: verbs.Signaled | verbs.Solicited, RKey: b.mr.RKey(), RemoteAddr: b.at(200), SGL: a.list(0, 12)})
	a.want(3, verbs.StatusSuccess) // the two before it were unsignaled
	if wc := b.want(7, verbs.StatusSuccess); wc.Op != verbs.WCRecv || wc.ByteLen != 5 || wc.HasImm {
		t.Errorf("of the Send: %+v", wc)
	}
	if wc := b.want(8, verbs.StatusSuccess); wc.Op != verbs.WCRecv || wc.ByteLen != 5 || !wc.HasImm || wc.Imm != 0xdeadbeef {
		t.Errorf("of the Send with immediate: %+v", wc)
	}
	if wc := b.want(9, verbs.StatusSuccess); wc.Op != verbs.WCRecvWriteImm || wc.ByteLen != 12 || !wc.HasImm || wc.Imm != 42 {
		t.Errorf("of the Write with immediate: %+v", wc)
	}
	m := b.mem.Bytes()
	if string(m[:5]) != "hello" || string(m[64:69]) != "world" || string(m[200:212]) != "hello, world" {
		t.Errorf("received %q, %q and %q", m[:5], m[64:69], m[200:212])
	}
}

func TestAtomics(t *testing.T) {
	a, b := pair(t, verbs.QPConfig{})
	word := func(e *end, off int) uint64 { return binary.LittleEndian.Uint64(e.mem.Bytes()[off:]) }
	binary.LittleEndian.PutUint64(b.mem.Bytes()[8:], 40)
	wr := verbs.SendWR{ID: 1, Op: verbs.OpFetchAdd, Add: 2, Flags: verbs.Signaled, RKey: b.mr.RKey(), RemoteAddr: b.at(8), SGL: a.list(16, 8)}
	a.post(wr)
	if wc := a.want(1, verbs.StatusSuccess); wc.Op != verbs.WCFetchAdd || word(a, 16) != 40 || word(b, 8) != 42 {
		t.Errorf("%v: old value %d, now %d", wc.Op, word(a, 16), word(b, 8))
	}
	for i, tt := range []struct{ compare, swap, old, now uint64 }{{41, 7, 42, 42}, {42, 1 << 60, 42, 1 << 60}} {
		wr.ID, wr.Op, wr.Compare, wr.Swap = uint64(i), verbs.OpCompareSwap, tt.compare, tt.swap
		a.post(wr)
		if wc := a.want(wr.ID, verbs.StatusSuccess); wc.Op != verbs.WCCompareSwap || word(a, 16) != tt.old || word(b, 8) != tt.now {
			t.Errorf("%v of %d: old value %d, now %d", wc.Op, tt.compare, word(a, 16), word(b, 8))
		}
	}
}

// An inline request takes its bytes when it is posted.
func TestInline(t *testing.T) {
	a, b := pair(t, verbs.QPConfig{})
	n := min(a.pd.(*pd).d.attr.MaxInline, 64)
	if n == 0 {
		t.Skip("the device takes nothing inline")
	}
	src := fill(a.mem.Bytes()[:n], 3)
	want := bytes.Clone(src)
	a.post(verbs.SendWR{ID: 1, Op: verbs.OpWrite, Flags: verbs.Signaled | verbs.Inline, RKey: b.mr.RKey(), RemoteAddr: b.at(0), SGL: a.list(0, n)})
	clear(src)
	a.want(1, verbs.StatusSuccess)
	if !bytes.Equal(b.mem.Bytes()[:n], want) {
		t.Errorf("got %x", b.mem.Bytes()[:n])
	}
}

func TestScatterGather(t *testing.T) {
	a, b := pair(t, verbs.QPConfig{})
	fill(a.mem.Bytes()[:1000], 1)
	m := a.mem.Bytes()
	want := bytes.Join([][]byte{m[:3], m[100:200], m[500:505]}, nil)
	list := []verbs.SGE{a.sge(0, 3), a.sge(100, 100), a.sge(500, 5)}
	a.post(verbs.SendWR{ID: 1, Op: verbs.OpWrite, Flags: verbs.Signaled, RKey: b.mr.RKey(), RemoteAddr: b.at(0), SGL: list})
	a.want(1, verbs.StatusSuccess)
	if !bytes.Equal(b.mem.Bytes()[:len(want)], want) {
		t.Error("a gathered Write differs")
	}
	list = []verbs.SGE{a.sge(2000, 50), a.sge(3000, len(want)-50)}
	a.post(verbs.SendWR{ID: 2, Op: verbs.OpRead, Flags: verbs.Signaled, RKey: b.mr.RKey(), RemoteAddr: b.at(0), SGL: list})
	a.want(2, verbs.StatusSuccess)
	if !bytes.Equal(m[2000:2050], want[:50]) || !bytes.Equal(m[3000:3000+len(want)-50], want[50:]) {
		t.Error("a scattered Read differs")
	}
}

// A batch that is longer than a chain is posted whole, in order, and SignalAll
// makes a completion of each.
func TestLongBatch(t *testing.T) {
	const n = 3*postBatch + 5
	a, b := pair(t, verbs.QPConfig{MaxSendWR: n, SignalAll: true})
	wrs := make([]verbs.SendWR, n)
	sges := make([]verbs.SGE, n)
	for i := range wrs {
		a.mem.Bytes()[i] = byte(i)
		sges[i] = a.sge(i, 1)
		wrs[i] = verbs.SendWR{ID: uint64(i), Op: verbs.OpWrite, RKey: b.mr.RKey(), RemoteAddr: b.at(0), SGL: sges[i : i+1]}
	}
	a.post(wrs...)
	wc := make([]verbs.WC, n)
	for got := 0; got < n; {
		k, err := a.cq.Wait(wc, patience)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range wc[:k] {
			if x.ID != uint64(got) || x.Status != verbs.StatusSuccess {
				t.Fatalf("completion %d is %+v", got, x)
			}
			got++
		}
	}
	if b.mem.Bytes()[0] != byte((n-1)%256) {
		t.Errorf("the last Write is not the last: %d", b.mem.Bytes()[0])
	}
}

func TestPostAndPollAllocateNothing(t *testing.T) {
	a, b := pair(t, verbs.QPConfig{})
	wrs := []verbs.SendWR{
		{ID: 1, Op: verbs.OpWrite, RKey: b.mr.RKey(), RemoteAddr: b.at(0), SGL: a.list(0, 128)},
		{ID: 2, Op: verbs.OpWrite, Flags: verbs.Signaled, RKey: b.mr.RKey(), RemoteAddr: b.at(128), SGL: a.list(128, 8)},
	}
	wc := make([]verbs.WC, 4)
	for name, wait := range map[string]func() (int, error){
		"poll": func() (n int, err error) {
			for n == 0 && err == nil {
				n, err = a.cq.Poll(wc)
			}
			return n, err
		},
		"wait":                func() (int, error) { return a.cq.Wait(wc, verbs.Forever) },
		"wait with a timeout": func() (int, error) { return a.cq.Wait(wc, patience) },
	} {
		if n := testing.AllocsPerRun(200, func() {
			if err := a.qp.PostSend(wrs); err != nil {
				t.Fatal(err)
			}
			if n, err := wait(); n != 1 || err != nil || wc[0].Status != verbs.StatusSuccess {
				t.Fatal(n, err, wc[0])
			}
		}); n != 0 {
			t.Errorf("post and %s: %v allocations", name, n)
		}
	}
}

// BenchmarkWrite posts, and polls until the acknowledgement is there. Compare the
// median with that of ib_write_lat, which measures half of a ping-pong of Writes:
// on a machine that shares its cores the mean is made of lost time slices.
func BenchmarkWrite(b *testing.B) {
	x, y := pair(b, verbs.QPConfig{})
	wrs := []verbs.SendWR{{ID: 1, Op: verbs.OpWrite, Flags: verbs.Signaled, RKey: y.mr.RKey(), RemoteAddr: y.at(0), SGL: x.list(0, 128)}}
	wc := make([]verbs.WC, 1)
	took := make([]time.Duration, 0, 1<<20)
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		if err := x.qp.PostSend(wrs); err != nil {
			b.Fatal(err)
		}
		for n := 0; n == 0; {
			var err error
			if n, err = x.cq.Poll(wc); err != nil {
				b.Fatal(err)
			}
		}
		if len(took) < cap(took) {
			took = append(took, time.Since(start))
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[0]), "least-ns")
	b.ReportMetric(float64(took[len(took)/2]), "median-ns")
}

func BenchmarkPollEmpty(b *testing.B) {
	x, _ := pair(b, verbs.QPConfig{})
	wc := make([]verbs.WC, 16)
	b.ReportAllocs()
	for b.Loop() {
		if n, err := x.cq.Poll(wc); n != 0 || err != nil {
			b.Fatal(n, err)
		}
	}
}
