package device

import (
	"hash/fnv"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
)

// longest is the longest pause as a power of two of iterations of an empty loop: some
// tens of microseconds, about the latency of a small message.
const longest = 14

// pauses are the delays of one run, derived from the seed, the name of the test and the
// number of the run.
type pauses struct {
	rand  []*rand.Rand // by thread
	shift []int        // by thread: how slow it is in this run, as a power of two
}

func newPauses(seed uint64, test string, run, threads int) *pauses {
	h := fnv.New64a()
	_, _ = h.Write([]byte(test)) // it cannot fail
	p := &pauses{}
	for i := range threads {
		r := rand.New(rand.NewPCG(seed^h.Sum64(), uint64(run)<<8|uint64(i)))
		p.rand, p.shift = append(p.rand, r), append(p.shift, r.IntN(longest+1))
	}
	return p
}

// pause delays a thread: by nothing, by a random number of iterations, or by yielding
// its processor.
func (p *pauses) pause(thread int) {
	r := p.rand[thread]
	switch r.IntN(8) {
	case 0, 1:
		return
	case 2:
		runtime.Gosched()
		return
	}
	var turns atomic.Uint32 // atomic, so that no compiler removes the loop
	for n := r.Uint32N(1 << p.shift[thread]); turns.Add(1) < n; {
	}
}
