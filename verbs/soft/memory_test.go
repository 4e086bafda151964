package soft

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
	"testing"
)

const rounds = 20000

// beside runs f many times. It returns a function that reports whether f still runs.
func beside(t *testing.T, f func()) (running func() bool) {
	var over atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for range rounds {
			f()
		}
		over.Store(true)
	})
	t.Cleanup(wg.Wait)
	return func() bool { return !over.Load() }
}

// Words are stored whole and at increasing addresses: who finds the last one new finds all new.
func TestWordsInOrder(t *testing.T) {
	const n = 64
	mem, src := newGuarded(t).Bytes()[:n*word], make([]byte, n*word)
	at := func(i int) *uint64 { return wordAt(mem[i*word:]) }
	v := uint64(0)
	running := beside(t, func() {
		v += 1<<32 | 1
		for i := range n {
			binary.NativeEndian.PutUint64(src[i*word:], v)
		}
		store(mem, src)
	})
	for running() {
		last := atomic.LoadUint64(at(n - 1))
		first := atomic.LoadUint64(at(0))
		if last>>32 != last&0xffffffff || first>>32 != first&0xffffffff {
			t.Fatalf("words are torn: %#x, %#x", first, last)
		}
		if first < last {
			t.Fatalf("the last word has %#x, and after that the first one %#x", last, first)
		}
	}
}

// Words are loaded whole.
func TestWordsLoadedWhole(t *testing.T) {
	mem, got := newGuarded(t).Bytes()[:word], make([]byte, word)
	v := uint64(0)
	running := beside(t, func() {
		for range 100 { // a store is short
			v = ^v
			atomic.StoreUint64(wordAt(mem), v)
		}
	})
	for running() {
		if load(got, mem); *wordAt(got) != 0 && *wordAt(got) != ^uint64(0) {
			t.Fatalf("a word is torn: %#x", got)
		}
	}
}

// No update is lost to another one.
func TestUpdatesAdd(t *testing.T) {
	mem := newGuarded(t).Bytes()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range rounds {
				update(mem[:word], func(v uint64) uint64 { return v + 1 })
			}
		})
	}
	wg.Wait()
	if got := update(mem[:word], func(v uint64) uint64 { return v }); got != 4*rounds {
		t.Errorf("%d of %d updates count", got, 4*rounds)
	}
}
