package verbstest

import (
	"bytes"

	"github.com/verbatim-rdma/verbatim/verbs"
)

// deep is how many requests the cases here have in flight at once.
const deep = 4096

func loadCases() []testCase {
	return []testCase{
		{"writes", 0, manyWrites},
		{"unsignaled-writes", 0, manyUnsignaled},
		{"reads", 0, manyReads},
		{"sends", 0, manySends},
		{"mixed", 0, manyMixed},
		{"atomics-of-all", 3, atomicsOfAll},
		{"many-connections", 0, manyConnections},
		{"one-queue-pair-many-tasks", 0, manyTasks},
		{"error-under-load", 0, errorUnderLoad},
	}
}

// depth is deep, or the device's limit.
func (t *T) depth() (n int) {
	t.on(0, func() { n = min(deep, t.site.Host(0).Device().Attr().MaxQPWR) })
	return n
}

// batches posts n requests, made by f, many at a time.
func (e *end) batches(n int, f func(i int) verbs.SendWR) {
	e.t.on(e.host, func() {
		wrs := make([]verbs.SendWR, 0, 256)
		for i := range n {
			if wrs = append(wrs, f(i)); len(wrs) == cap(wrs) || i == n-1 {
				e.t.check(e.qp.PostSend(wrs))
				wrs = wrs[:0]
			}
		}
	})
}

// all waits for n completions, 0 to n-1 in this order, with some status.
func (e *end) all(cq verbs.CQ, n int, status verbs.Status) {
	e.t.on(e.host, func() {
		wc := make([]verbs.WC, 64)
		for got := 0; got < n; {
			k, err := cq.Wait(wc, patience)
			e.t.check(err)
			for _, x := range wc[:k] {
				if x.ID != uint64(got) || x.Status != status {
					e.t.fatalf("completion %d is %+v, want %v", got, x, status)
				}
				got++
			}
		}
	})
}

// count stores 1 to n in the first n words.
func (e *end) count(n int) {
	e.t.on(e.host, func() {
		for i := range n {
			e.mem.Store64(8*i, counted(i))
		}
	})
}

// counted is word i after count.
func counted(i int) uint64 { return uint64(i) + 1 }

// words compares the first n words with want.
func (e *end) words(n int, want func(i int) uint64) {
	e.t.on(e.host, func() {
		for i := range n {
			if v := e.mem.Load64(8 * i); v != want(i) {
				e.t.fatalf("word %d is %d, want %d", i, v, want(i))
			}
		}
	})
}

// With thousands of Writes in flight, the last one to each word stays.
func manyWrites(t *T) {
	n := t.depth()
	a, b := t.link(0, 1, endConfig{qp: verbs.QPConfig{MaxSendWR: n}, size: 8 * deep})
	a.count(n)
	a.batches(n, func(i int) verbs.SendWR { return a.write(uint64(i), 8*i, 8, b, 8*(n-1-i)) })
	a.all(a.cq, n, verbs.StatusSuccess)
	a.done(a.read(0, 0, 8*n, b, 0))
	a.words(n, func(i int) uint64 { return uint64(n - i) })
}

// One completion at the end covers all.
func manyUnsignaled(t *T) {
	n := t.depth()
	a, b := t.link(0, 1, endConfig{qp: verbs.QPConfig{MaxSendWR: n}, size: 8 * deep})
	a.count(n)
	a.batches(n-1, func(i int) verbs.SendWR {
		wr := a.write(uint64(i), 8*i, 8, b, 8*i)
		wr.Flags = 0
		return wr
	})
	a.done(a.read(uint64(n), 0, 8*(n-1), b, 0))
	a.nothing(a.cq)
	b.words(n-1, counted)
}

// Many more Reads than can be outstanding: the queue stalls, and all are answered.
func manyReads(t *T) {
	n := t.depth()
	a, b := t.link(0, 1, endConfig{qp: verbs.QPConfig{MaxSendWR: n}, size: 8 * deep})
	b.count(n)
	a.batches(n, func(i int) verbs.SendWR { return a.read(uint64(i), 8*(n-1-i), 8, b, 8*i) })
	a.all(a.cq, n, verbs.StatusSuccess)
	a.words(n, func(i int) uint64 { return uint64(n - i) })
}

// Thousands of Sends and as many receives, posted before and while they arrive.
func manySends(t *T) {
	n := t.depth()
	a, b := t.link(0, 1, endConfig{qp: verbs.QPConfig{MaxSendWR: n, MaxRecvWR: n}, size: 8 * deep})
	recv := func(from, to int) {
		for i := from; i < to; i++ {
			t.check(b.qp.PostRecv([]verbs.RecvWR{{ID: uint64(i), SGL: b.list(8*i, 8)}}))
		}
	}
	t.on(b.host, func() { recv(0, n/2) })
	a.count(n)
	a.batches(n, func(i int) verbs.SendWR { return a.send(uint64(i), 8*i, 8) })
	t.on(b.host, func() { recv(n/2, n) })
	b.all(b.rcq, n, verbs.StatusSuccess)
	a.all(a.cq, n, verbs.StatusSuccess)
	b.words(n, counted)
}

// All kinds of requests, from both ends at once.
func manyMixed(t *T) {
	const n = 240
	a, b := t.link(0, 1, endConfig{qp: verbs.QPConfig{MaxSendWR: n, MaxRecvWR: n}})
	half := func(e, peer *end) func() {
		return func() {
			for i := range uint64(n / 4) {
				t.check(e.qp.PostRecv([]verbs.RecvWR{{ID: i, SGL: e.list(8192, 64)}}))
			}
			e.batches(n, func(i int) verbs.SendWR {
				id := uint64(i)
				switch i % 4 {
				case 0:
					return e.write(id, 0, 200, peer, 4096)
				case 1:
					return e.read(id, 12<<10, 100, peer, 4096)
				case 2:
					return e.add(id, 8, peer, 16<<10, 1)
				}
				return e.send(id, 0, 64)
			})
			e.all(e.cq, n, verbs.StatusSuccess)
			e.all(e.rcq, n/4, verbs.StatusSuccess)
		}
	}
	t.together(Task{0, half(a, b)}, Task{1, half(b, a)})
	if v, w := a.word(16<<10), b.word(16<<10); v != n/4 || w != n/4 {
		t.errorf("the sums are %d and %d, want %d", v, w, n/4)
	}
}

// Atomics from several cards and queue pairs to one word lose nothing.
func atomicsOfAll(t *T) {
	const each = 100
	m := t.newEnd(2, endConfig{})
	var tasks []Task
	for i := range 4 {
		e, peer := t.link(i%2, 2, endConfig{})
		var key verbs.MR
		t.on(2, func() { key = must[verbs.MR](t)(peer.pd.RegisterMR(m.mem, verbs.LocalWrite|allRemote)) })
		t.cleanup(2, func() error { return key.Dereg() })
		tasks = append(tasks, Task{i % 2, func() {
			for k := range uint64(each) {
				wr := e.add(k, 0, m, 8, 1)
				wr.RKey = key.RKey()
				e.done(wr)
			}
		}})
	}
	t.together(tasks...)
	if v := m.word(8); v != 4*each {
		t.errorf("the sum is %d, want %d", v, 4*each)
	}
}

// Many concurrent connections, each with its own traffic.
func manyConnections(t *T) {
	const n = 16
	var from, to []*end
	for range n {
		a, b := t.link(0, 1, endConfig{size: 4096})
		from, to = append(from, a), append(to, b)
	}
	t.on(0, func() {
		for i, e := range from {
			e.mem.Store(0, pattern(1024, byte(i)))
			for k := range uint64(16) {
				e.post(e.write(k, 0, 1024, to[i], 1024))
			}
		}
		for i, e := range from {
			e.all(e.cq, 16, verbs.StatusSuccess)
			e.done(e.read(0, 2048, 1024, to[i], 1024))
			got := make([]byte, 1024)
			if e.mem.Load(2048, got); !bytes.Equal(got, pattern(1024, byte(i))) {
				t.errorf("connection %d has the bytes of another", i)
			}
		}
	})
}

// Tasks may share a queue pair: requests of each are carried out in its order.
func manyTasks(t *T) {
	const tasks, each = 4, 50
	a, b := t.pair(verbs.QPConfig{MaxSendWR: tasks * each})
	var post []Task
	for k := range uint64(tasks) {
		post = append(post, Task{0, func() {
			for i := range uint64(each) {
				a.post(a.write(k<<32|i, 0, 8, b, int(8*k)))
			}
		}})
	}
	t.together(post...)
	var next [tasks]uint64
	for range tasks * each {
		wc := a.next(a.cq)
		k, i := wc.ID>>32, wc.ID&(1<<32-1)
		if wc.Status != verbs.StatusSuccess || k >= tasks || i != next[k] {
			t.fatalf("completion %+v out of order", wc)
		}
		next[k]++
	}
}

// An error in the middle of a long queue: requests before it succeed, and every one
// behind it is flushed. A responder in ERR repeats neither acknowledgements nor the
// NAK, so a requester that has missed them, as a starved Soft-RoCE may, gives up at an
// earlier request. That is retried.
func errorUnderLoad(t *T) {
	for range 3 {
		if loadedError(t) == verbs.StatusRemAccessErr {
			return
		}
	}
	t.errorf("three times of three the requester gave up before the refusal")
}

// loadedError is one round of it, and returns the status of the first request that
// failed.
func loadedError(t *T) (first verbs.Status) {
	const n, bad = 1000, 500
	a, b := t.pair(verbs.QPConfig{MaxSendWR: n})
	a.batches(n, func(i int) verbs.SendWR {
		wr := a.write(uint64(i), 0, 8, b, 0)
		if i == bad {
			wr.RKey ^= 0x5500
		}
		if i > bad {
			wr.Flags = 0
		}
		return wr
	})
	for i := range uint64(n) {
		wc := a.next(a.cq)
		want := verbs.StatusSuccess
		switch {
		case first != verbs.StatusSuccess:
			want = verbs.StatusWRFlushErr
		case i == bad:
			want = verbs.StatusRemAccessErr
		}
		if wc.Status == verbs.StatusRetryExcErr && first == verbs.StatusSuccess {
			want = wc.Status
		}
		if wc.ID != i || wc.Status != want {
			t.fatalf("%v, want %d with %v", wc, i, want)
		}
		if first == verbs.StatusSuccess {
			first = wc.Status
		}
	}
	a.nothing(a.cq)
	return first
}
