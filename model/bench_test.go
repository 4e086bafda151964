package model

import (
	"fmt"
	"testing"
)

// BenchmarkLogFileSmall is one path of a state-space search: four writes of 16 bytes,
// three of them acknowledged, hashes in between, one recovery. It must not allocate.
func BenchmarkLogFileSmall(b *testing.B) {
	var f LogFile
	data, content := []byte("0123456789abcdef"), make([]byte, 64)
	for i := range 4 {
		copy(content[16*i:], data)
	}
	var sum uint64
	b.ReportAllocs()
	for b.Loop() {
		f.Reset()
		for i := range 4 {
			w, _ := f.Begin(int64(16*i), data)
			if i < 3 {
				_ = f.Ack(w)
			}
			sum += f.Hash().A
		}
		if err := f.Recovered(content); err != nil {
			b.Fatal(err)
		}
	}
	_ = sum
}

// BenchmarkLogFileTrace is a long trace: writes of 4 KB round a log of 1 MB, with a
// recovery after every thousandth. The time per write must not depend on the length of
// the trace.
func BenchmarkLogFileTrace(b *testing.B) {
	for _, writes := range []int{1000, 8000} {
		b.Run(fmt.Sprint(writes), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				trace(b, writes)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*writes), "ns/write")
		})
	}
}

func trace(b *testing.B, writes int) {
	const size, file = 4096, 1 << 20
	var f LogFile
	data, content := make([]byte, size), make([]byte, file)
	for i := range writes {
		off := i * size % file
		data[i%size]++
		copy(content[off:], data)
		w, err := f.Begin(int64(off), data)
		if err != nil || i > 4 && f.Ack(w-4) != nil { // four in flight
			b.Fatal(err)
		}
		if i%1000 != 999 {
			continue
		}
		if f.Ack(w) != nil || f.Recovered(content) != nil {
			b.Fatal("unexpected violation")
		}
		// The pipeline starts afresh: older acknowledgements are stale.
		for range 4 {
			if _, err = f.Begin(0, nil); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	for _, n := range []int{100, 1000} {
		h := new(History)
		var ids [4]OpID
		for i := range n { // four clients, each operation overlaps three others
			c := i % 4
			if i >= 4 {
				_ = h.Return(ids[c], Done{}, int64(i))
			}
			ids[c], _ = h.Invoke(c, KVPut{fmt.Sprint("key", i%16), fmt.Sprint(i)}, int64(i))
		}
		b.Run(fmt.Sprintf("kv/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if r := Check(KV{}, h, Budget{}); r.Verdict != Ok {
					b.Fatal(r)
				}
			}
		})
	}
	b.Run("budget", func(b *testing.B) {
		h := hard(b, 30)
		for b.Loop() {
			if r := Check(KV{}, h, Budget{Steps: 10000}); r.Verdict != Unknown {
				b.Fatal(r)
			}
		}
	})
}
