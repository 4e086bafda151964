package verbstest

import (
	"github.com/verbatim-rdma/verbatim/verbs"
)

// The cases here test for behaviour that no card may show. Behaviour that a card may show, but
// need not, is tested by the litmus tests.

func orderCases() []testCase {
	return []testCase{
		{"completions", 0, completionsInOrder},
		{"write-then-read", 0, writeThenRead},
		{"write-then-atomic", 0, writeThenAtomic},
		{"write-then-send", 0, writeThenSend},
		{"write-then-imm", 0, writeThenImm},
		{"reads", 0, readsInOrder},
		{"read-fence-write", 0, readFenceWrite},
		{"read-fence-atomic", 0, readFenceAtomic},
		{"atomics", 0, atomicsInOrder},
		{"lock", 3, lockHandsOver},
		{"words-whole", 3, wordsWhole},
		{"out-of-band", 0, outOfBand},
	}
}

const orderRounds = 20

// Completions arrive in posting order, whatever the kinds of the requests.
func completionsInOrder(t *T) {
	a, b := t.pair(verbs.QPConfig{MaxSendWR: 64})
	b.recv(verbs.RecvWR{SGL: b.list(512, 64)}, verbs.RecvWR{}, verbs.RecvWR{SGL: b.list(512, 64)})
	imm := a.write(0, 0, 32, b, 0)
	imm.Op = verbs.OpWriteImm
	kinds := []verbs.SendWR{a.read(0, 1024, 4096, b, 0), a.write(0, 0, 8, b, 0), a.add(0, 64, b, 8, 1), a.send(0, 0, 64), a.read(0, 128, 8, b, 0),
		imm, a.swap(0, 72, b, 8, 1, 2), a.write(0, 0, 3000, b, 64), a.send(0, 0, 0), a.read(0, 1024, 1, b, 0)}
	for i := range kinds {
		kinds[i].ID = uint64(i)
	}
	a.post(kinds...)
	for i, wr := range kinds {
		if wc := a.want(uint64(i), verbs.StatusSuccess); wc.Op != wr.Op.Completion() {
			t.errorf("completion %d is of a %v, want %v", i, wc.Op, wr.Op.Completion())
		}
	}
}

// A Read finds what an earlier Write of its queue pair wrote.
func writeThenRead(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	for i := range uint64(orderRounds) {
		a.setWord(0, i+1)
		a.post(a.write(1, 0, 8, b, 0), a.read(2, 8, 8, b, 0))
		a.want(1, verbs.StatusSuccess)
		a.want(2, verbs.StatusSuccess)
		if v, w := a.word(8), b.word(0); v != i+1 || w != i+1 {
			t.fatalf("round %d: the Read returned %d, but memory has %d", i, v, w)
		}
	}
}

// An Atomic finds what an earlier Write of its queue pair wrote.
func writeThenAtomic(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	for i := range uint64(orderRounds) {
		a.setWord(0, 10*i)
		a.post(a.write(1, 0, 8, b, 0), a.add(2, 8, b, 0, 1))
		a.want(1, verbs.StatusSuccess)
		a.want(2, verbs.StatusSuccess)
		if v := a.word(8); v != 10*i {
			t.fatalf("round %d: the Atomic found %d, want %d", i, v, 10*i)
		}
	}
}

// When a Send is received, earlier Writes of its queue pair are in memory.
func writeThenSend(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	for i := range uint64(orderRounds) {
		b.recv(verbs.RecvWR{ID: i, SGL: b.list(4096, 8)})
		a.setWord(0, i+1)
		a.setWord(2040, i+1)
		a.post(a.write(1, 0, 2048, b, 0), a.send(2, 0, 8))
		b.wantRecv(i, verbs.StatusSuccess)
		if v, w := b.word(0), b.word(2040); v != i+1 || w != i+1 {
			t.fatalf("round %d: the CPU finds %d and %d", i, v, w)
		}
		a.want(1, verbs.StatusSuccess)
		a.want(2, verbs.StatusSuccess)
	}
}

// When a Write with immediate is received, it and earlier Writes are in memory.
func writeThenImm(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	for i := range uint64(orderRounds) {
		b.recv(verbs.RecvWR{ID: i})
		a.setWord(0, i+1)
		imm := a.write(2, 0, 8, b, 8)
		imm.Op, imm.Imm = verbs.OpWriteImm, uint32(i)
		a.post(a.write(1, 0, 8, b, 0), imm)
		if wc := b.wantRecv(i, verbs.StatusSuccess); wc.Imm != uint32(i) {
			t.errorf("round %d has the immediate value %d", i, wc.Imm)
		}
		if v, w := b.word(0), b.word(8); v != i+1 || w != i+1 {
			t.fatalf("round %d: the CPU finds %d and %d", i, v, w)
		}
		a.want(1, verbs.StatusSuccess)
		a.want(2, verbs.StatusSuccess)
	}
}

// Reads of one queue pair are executed in order: a word that grows never shrinks.
func readsInOrder(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	const n = 64
	t.together(
		Task{b.host, func() {
			for i := range uint64(200) {
				b.mem.Store64(0, i)
			}
		}},
		Task{a.host, func() {
			for range n / 16 {
				for i := range 16 {
					a.post(a.read(uint64(i), 8+8*i, 8, b, 0))
				}
				for i := range uint64(16) {
					a.want(i, verbs.StatusSuccess)
				}
				for i := 1; i < 16; i++ {
					if v, w := a.mem.Load64(8*i), a.mem.Load64(8+8*i); v > w {
						t.fatalf("a Read finds %d, and the next one %d", v, w)
					}
				}
			}
		}})
}

// A fenced Write waits for the Read before it, which therefore finds the old value.
func readFenceWrite(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	for i := range uint64(orderRounds) {
		a.setWord(0, i+1)
		w := a.write(2, 0, 8, b, 0)
		w.Flags |= verbs.Fence
		a.post(a.read(1, 8, 8, b, 0), w, a.read(3, 16, 8, b, 0))
		for id := uint64(1); id <= 3; id++ {
			a.want(id, verbs.StatusSuccess)
		}
		if v, w := a.word(8), a.word(16); v != i || w != i+1 {
			t.fatalf("round %d: before the Write %d, after it %d", i, v, w)
		}
	}
}

// So does a fenced Atomic.
func readFenceAtomic(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	for i := range uint64(orderRounds) {
		x := a.add(2, 16, b, 0, 1)
		x.Flags |= verbs.Fence
		a.post(a.read(1, 8, 8, b, 0), x)
		a.want(1, verbs.StatusSuccess)
		a.want(2, verbs.StatusSuccess)
		if v := a.word(8); v != i {
			t.fatalf("round %d: before the Atomic %d", i, v)
		}
	}
}

// Atomics of one queue pair are executed in order, and a Read after them.
func atomicsInOrder(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	a.post(a.swap(1, 0, b, 0, 0, 5), a.add(2, 8, b, 0, 10), a.swap(3, 16, b, 0, 15, 20), a.add(4, 24, b, 0, 1), a.read(5, 32, 8, b, 0))
	for id := uint64(1); id <= 5; id++ {
		a.want(id, verbs.StatusSuccess)
	}
	for i, want := range []uint64{0, 5, 15, 20, 21} {
		if v := a.word(8 * i); v != want {
			t.errorf("request %d found %d, want %d", i+1, v, want)
		}
	}
}

// A lock of CompareSwaps protects adjacent memory: the next holder reads what the
// previous one wrote before it released the lock.
func lockHandsOver(t *T) {
	const rounds = 8
	a, m := t.link(0, 2, endConfig{})
	b, n := t.link(1, 2, endConfig{})
	_ = n // its memory is unused: both work on m's
	var key verbs.MR
	t.on(2, func() { key = must[verbs.MR](t)(n.pd.RegisterMR(m.mem, verbs.LocalWrite|allRemote)) })
	t.cleanup(2, func() error { return key.Dereg() })
	client := func(e *end, rkey uint32, me uint64) func() {
		at := func(wr verbs.SendWR) verbs.SendWR { wr.RKey = rkey; return wr }
		return func() {
			for range rounds {
				for took := false; !took; took = e.mem.Load64(0) == 0 {
					e.done(at(e.swap(1, 0, m, 0, 0, me)))
				}
				e.done(at(e.read(2, 8, 8, m, 8)))
				e.mem.Store64(8, e.mem.Load64(8)+1)
				e.post(at(e.write(3, 8, 8, m, 8)), at(e.swap(4, 16, m, 0, me, 0)))
				e.want(3, verbs.StatusSuccess)
				e.want(4, verbs.StatusSuccess)
				if v := e.mem.Load64(16); v != me {
					t.fatalf("the lock was %d's while %d held it", v, me)
				}
			}
		}
	}
	t.together(Task{0, client(a, m.mr.RKey(), 1)}, Task{1, client(b, key.RKey(), 2)})
	if v := m.word(8); v != 2*rounds {
		t.errorf("%d of %d increments are left", v, 2*rounds)
	}
}

// Eight aligned bytes are never torn.
func wordsWhole(t *T) {
	a, m := t.link(0, 2, endConfig{})
	b, n := t.link(1, 2, endConfig{})
	var key verbs.MR
	t.on(2, func() { key = must[verbs.MR](t)(n.pd.RegisterMR(m.mem, verbs.LocalWrite|allRemote)) })
	t.cleanup(2, func() error { return key.Dereg() })
	whole := func(v uint64) bool { return v == v>>56*0x0101010101010101 }
	t.together(
		Task{0, func() {
			for i := range uint64(50) {
				a.mem.Store64(0, i*0x0101010101010101)
				a.done(a.write(i, 0, 8, m, 8))
			}
		}},
		Task{1, func() {
			for i := range uint64(50) {
				wr := b.read(i, 0, 8, m, 8)
				wr.RKey = key.RKey()
				b.done(wr)
				if v := b.mem.Load64(0); !whole(v) {
					t.fatalf("a Read finds %#x", v)
				}
			}
		}},
		Task{2, func() {
			for range 100 {
				if v := m.mem.Load64(8); !whole(v) {
					t.fatalf("the CPU finds %#x", v)
				}
			}
		}})
}

// After a later Read has returned, the responder's CPU finds the Write, however it
// learns that it may look.
func outOfBand(t *T) {
	a, b := t.pair(verbs.QPConfig{})
	for i := range uint64(orderRounds) {
		a.setWord(0, i+1)
		a.post(a.write(1, 0, 8, b, 64), a.read(2, 8, 1, b, 4096))
		a.want(1, verbs.StatusSuccess)
		a.want(2, verbs.StatusSuccess)
		if v := b.word(64); v != i+1 {
			t.fatalf("round %d: the CPU finds %d", i, v)
		}
	}
}
