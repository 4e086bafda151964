package explore

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/verbatim-rdma/verbatim/verbs/sim"
)

// search is an exhaustive search by several workers that share a table of states and a
// stack of chains.
type search struct {
	states    states
	identity  renaming       // of the hosts
	symmetric []int          // the interchangeable hosts
	every     bool           // Options.EveryOrder
	noPrivate bool           // Options.NoPrivate
	backwards bool           // Options.Backwards
	edges     func(*Edge)    // Options.Edges
	tree      *atomic.Uint64 // Options.tree

	mu     sync.Mutex
	wake   *sync.Cond
	stack  []*chain
	left   int // known ways of the chains in the stack
	busy   int // workers that run
	idle   int // workers that wait
	runs   uint64
	tally  tally
	totals totals // of the earlier parts, and at the end of all
	limit  limits
	memory memory
	full   error // the limit of memory ended the search
	ranOut bool
	failed error
	bad    []move   // the path to the violation
	seek   []string // Options.Seek
	passed error    // the first violation that is not sought
	past   []move   // and the path to it
	broken error
}

// limits bound a search.
type limits struct {
	runs uint64
	end  time.Time
	stop func() bool
}

// limits returns the limits of a search that began at start.
func (o *Options) limits(start time.Time) limits {
	l := limits{runs: o.MaxRuns, stop: o.Stop}
	if o.MaxTime > 0 {
		l.end = start.Add(o.MaxTime)
	}
	return l
}

func (l *limits) hit(runs uint64) bool { return l.runs > 0 && runs >= l.runs || l.late() }

// late: the time limit has passed, whatever work remains.
func (l *limits) late() bool {
	return !l.end.IsZero() && !time.Now().Before(l.end) || l.stop != nil && l.stop()
}

func newSearch(c *Case, tree *atomic.Uint64) *search {
	s := &search{symmetric: c.w.Symmetric(), tree: tree, tally: tally{Steps: map[string]uint64{}}}
	s.states.init(tree != nil)
	s.wake = sync.NewCond(&s.mu)
	for i := range c.w.HostNames() {
		s.identity = append(s.identity, uint8(i))
	}
	return s
}

// push pushes a chain onto the stack, unless it is nil.
func (s *search) push(x *chain) {
	if x == nil {
		return
	}
	s.mu.Lock()
	s.stack = append(s.stack, x)
	s.left += x.ways()
	if s.idle > 0 {
		s.wake.Signal()
	}
	s.mu.Unlock()
}

// pop waits for a chain; nil: the search is over. The caller holds the lock.
func (s *search) pop() *chain {
	for len(s.stack) == 0 && s.busy > 0 && !s.over() {
		s.idle++
		s.wake.Wait()
		s.idle--
	}
	if len(s.stack) > 0 && s.limit.hit(s.runs) {
		s.ranOut = true
	}
	if len(s.stack) > 0 && !s.ranOut && s.memory.full() {
		s.ranOut, s.full = true, s.memory.err()
	}
	if s.over() || len(s.stack) == 0 {
		s.wake.Broadcast()
		return nil
	}
	x := s.stack[len(s.stack)-1]
	s.stack = s.stack[:len(s.stack)-1]
	s.left -= x.ways()
	return x
}

// work processes chains until none are left, a limit is reached or a run fails.
func (s *search) work(c *Case) {
	w := &walker{s: s, c: c, order: make([]uint8, len(s.symmetric)), tally: tally{Steps: map[string]uint64{}}}
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		x := s.pop()
		if x == nil {
			break
		}
		s.runs++
		s.busy++
		err := s.unlocked(func() { w.run(x) })
		s.busy--
		if err != nil {
			s.broken = err
		}
		if s.busy == 0 && s.idle > 0 {
			s.wake.Broadcast()
		}
	}
	s.tally.add(&w.tally)
}

// ErrExited: code of a scenario terminated its goroutine, as t.Fatal and runtime.Goexit do,
// and with it the worker that ran it.
var ErrExited = errors.New("explore: the code of the scenario ended its goroutine (t.Fatal, t.FailNow or runtime.Goexit): " +
	"call Case.Fail, or panic")

// unlocked makes a run without holding the lock.
func (s *search) unlocked(run func()) error {
	s.mu.Unlock()
	came := false
	defer func() {
		if s.mu.Lock(); !came {
			s.broken = ErrExited
			s.busy--
			s.wake.Broadcast()
		}
	}()
	err := guard(run)
	came = true
	return err
}

func (s *search) over() bool { return s.failed != nil || s.ranOut || s.broken != nil }

// fail stops the search with a violation, unless another class is sought.
func (s *search) fail(err error, path []move) (ended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !seeks(s.seek, err):
		if s.passed == nil {
			s.passed, s.past = err, path
		}
		return false
	case s.failed == nil:
		s.failed, s.bad = err, path
	}
	return true
}

// seeks reports whether a violation stops the search. One that is not about the code
// always does.
func seeks(classes []string, err error) bool {
	return len(classes) == 0 || slices.Contains(classes, ClassOf(err)) || undecided(err)
}

// runOut stops the search at a limit.
func (s *search) runOut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ranOut = true
}

// guard turns a divergence into an error.
func guard(f func()) (err error) {
	defer func() {
		r := recover()
		if err, _ = r.(error); r != nil && err != ErrNotDeterministic && !errors.Is(err, sim.ErrLimit) {
			panic(r)
		}
	}()
	f()
	return nil
}

// inParallel makes each case do its part of the work, and waits for all. It reports
// whether the scenario's code terminated none of them (ErrExited).
func inParallel(cases []*Case, work func(*Case)) (all bool) {
	var wg sync.WaitGroup
	var came atomic.Int64
	for _, c := range cases {
		wg.Go(func() { work(c); came.Add(1) })
	}
	wg.Wait()
	return came.Load() == int64(len(cases))
}
